// Required affinity and anti-affinity between pods, both ways. Where a node's place is not settled yet, anti-affinity
// takes it to be everywhere it may be, and affinity nowhere.

import type { Pod, PodAffinityTerm } from "../../../src/api/pod.ts";
import type { LabelSelectorRequirement } from "../../../src/api/selector.ts";
import { namespaceOf, type Shape, type Spot } from "./cluster.ts";
import type { Cluster, Crowd } from "./crowds.ts";
import { selects } from "./matching.ts";

export function repels(pod: Pod, { shape }: Spot, cluster: Cluster): string | undefined {
  for (const term of antiTerms(pod)) {
    const other = cluster
      .crowds()
      .find(
        crowd => mayShare(term.topologyKey, shape, crowd) && termSelects(term, pod, { other: crowd.sample, cluster }),
      );
    if (other) return `shares ${term.topologyKey} with ${other.sample.metadata.name}, which it keeps away from`;
  }
  return undefined;
}

export function isRepelled(pod: Pod, { shape }: Spot, cluster: Cluster): string | undefined {
  for (const crowd of cluster.crowds()) {
    const term = antiTerms(crowd.sample).find(
      one => mayShare(one.topologyKey, shape, crowd) && termSelects(one, crowd.sample, { other: pod, cluster }),
    );
    if (term) return `shares ${term.topologyKey} with ${crowd.sample.metadata.name}, which keeps away from it`;
  }
  return undefined;
}

export function isLonely(pod: Pod, { machine, shape }: Spot, cluster: Cluster): string | undefined {
  const terms = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return undefined;
  const isFriend = (other: Pod) => terms.every(term => termSelects(term, pod, { other, cluster }));
  const friends = cluster.crowds().filter(({ sample }) => isFriend(sample));
  const keys = terms.map(({ topologyKey }) => topologyKey);
  const missing = keys.find(key => shape.labels[key] === undefined);
  if (missing !== undefined) return `has no label ${missing}`;
  // The first of a group that wants to be together may go anywhere: nobody whom it could follow is at any place.
  const isPlaced = (crowd: Crowd) =>
    keys.some(key => [...crowd.presence(key).keys()].some(value => value !== undefined));
  if (!friends.some(isPlaced) && isFriend(pod)) return undefined;
  const isWith = (key: string, crowd: Crowd) =>
    crowd.countByMachine.has(machine) || (crowd.presence(key).get(shape.labels[key])?.surely ?? 0) > 0;
  const lonely = keys.find(key => !friends.some(crowd => isWith(key, crowd)));
  return lonely === undefined ? undefined : `shares ${lonely} with none of the pods it wants to be with`;
}

function antiTerms({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function mayShare(key: string, { labels }: Shape, crowd: Crowd): boolean {
  return labels[key] !== undefined && (crowd.presence(key).get(labels[key])?.may ?? 0) > 0;
}

type Candidate = { other: Pod; cluster: Cluster };

function termSelects(term: PodAffinityTerm, owner: Pod, { other, cluster }: Candidate): boolean {
  if (!reaches(term, owner, { other, cluster }) || term.labelSelector === undefined) return false;
  const labels = owner.metadata.labels ?? {};
  const fromKeys = (keys: readonly string[] = [], operator: "In" | "NotIn"): LabelSelectorRequirement[] =>
    keys.flatMap(key => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]));
  const all = [...fromKeys(term.matchLabelKeys, "In"), ...fromKeys(term.mismatchLabelKeys, "NotIn")];
  return (
    selects(term.labelSelector, other.metadata.labels) && selects({ matchExpressions: all }, other.metadata.labels)
  );
}

function reaches(term: PodAffinityTerm, owner: Pod, { other, cluster }: Candidate): boolean {
  const { namespaces = [], namespaceSelector } = term;
  const namespace = namespaceOf(other);
  if (namespaces.length === 0 && namespaceSelector === undefined) return namespace === namespaceOf(owner);
  const labels = cluster.problem.namespaces.find(({ metadata }) => metadata.name === namespace)?.metadata.labels;
  return namespaces.includes(namespace) || selects(namespaceSelector, labels);
}
