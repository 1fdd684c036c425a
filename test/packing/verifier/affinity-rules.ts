// Required affinity and anti-affinity between pods, both ways. Where a node's place is not settled yet, anti-affinity
// takes it to be everywhere it may be, and affinity nowhere.

import type { Pod, PodAffinityTerm } from "../../../src/api/pod.ts";
import type { LabelSelectorRequirement } from "../../../src/api/selector.ts";
import { type Cluster, type Machine, namespaceOf, type Spot, valuesOf } from "./cluster.ts";
import { selects } from "./matching.ts";

export function repels(pod: Pod, spot: Spot, cluster: Cluster): string | undefined {
  for (const term of antiTerms(pod)) {
    for (const machine of cluster.machines) {
      if (!mayShare(term.topologyKey, spot, machine)) continue;
      const other = machine.pods.find(one => termSelects(term, pod, { other: one, cluster }));
      if (other) return `shares ${term.topologyKey} with ${other.metadata.name}, which it keeps away from`;
    }
  }
  return undefined;
}

export function isRepelled(pod: Pod, spot: Spot, cluster: Cluster): string | undefined {
  for (const machine of cluster.machines) {
    for (const other of machine.pods) {
      const term = antiTerms(other).find(
        one => mayShare(one.topologyKey, spot, machine) && termSelects(one, other, { other: pod, cluster }),
      );
      if (term) return `shares ${term.topologyKey} with ${other.metadata.name}, which keeps away from it`;
    }
  }
  return undefined;
}

export function isLonely(pod: Pod, spot: Spot, cluster: Cluster): string | undefined {
  const terms = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return undefined;
  const isFriend = (other: Pod) => terms.every(term => termSelects(term, pod, { other, cluster }));
  const withFriends = cluster.machines.filter(machine => machine.pods.some(isFriend));
  const keys = terms.map(({ topologyKey }) => topologyKey);
  const missing = keys.find(key => spot.shape.labels[key] === undefined);
  if (missing !== undefined) return `has no label ${missing}`;
  // The first of a group that wants to be together may go anywhere: nobody whom it could follow is at any place.
  const isPlaced = (machine: Machine) =>
    keys.some(key => [...valuesOf(machine, key)].some(value => value !== undefined));
  if (!withFriends.some(isPlaced) && isFriend(pod)) return undefined;
  const lonely = keys.find(key => !withFriends.some(machine => surelyShares(key, spot, machine)));
  return lonely === undefined ? undefined : `shares ${lonely} with none of the pods it wants to be with`;
}

function antiTerms({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function mayShare(key: string, { machine, shape }: Spot, other: Machine): boolean {
  const value = shape.labels[key];
  return value !== undefined && (other === machine || valuesOf(other, key).has(value));
}

function surelyShares(key: string, { machine, shape }: Spot, other: Machine): boolean {
  const value = shape.labels[key];
  if (value === undefined) return false;
  const values = valuesOf(other, key);
  return other === machine || (values.size === 1 && values.has(value));
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
