// Topology spread that must hold. Pods on a node whose place is not settled yet are counted wherever they may come to
// be, and at the emptiest place they are not.

import type { Pod, TopologySpreadConstraint } from "../../../src/api/pod.ts";
import type { LabelSelector } from "../../../src/api/selector.ts";
import { type Machine, namespaceOf, placesOf, type Shape, type Spot } from "./cluster.ts";
import type { Cluster, Count, Tally } from "./crowds.ts";
import { isEmpty, isWanted, repellingTaint, selects } from "./matching.ts";

export function skews(pod: Pod, { shape }: Spot, cluster: Cluster): string | undefined {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  for (const constraint of constraints) {
    const { topologyKey, maxSkew, minDomains = 1 } = constraint;
    const place = shape.labels[topologyKey];
    if (place === undefined) return `has no label ${topologyKey}`;
    const counts = countByPlace({ pod, constraint, keys: constraints.map(one => one.topologyKey) }, cluster);
    const least = leastOf(counts);
    const floor = counts.size < minDomains ? 0 : least;
    const self = selects(selectorFor(constraint, pod), pod.metadata.labels) ? 1 : 0;
    const skew = (counts.get(place)?.most ?? 0) + self - floor;
    if (skew > maxSkew) return `would make ${topologyKey} ${place} lead by ${skew}, more than ${maxSkew}`;
  }
  return undefined;
}

function leastOf(counts: Tally["countByPlace"]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) least = Math.min(least, count.least);
  return least;
}

type Question = { pod: Pod; constraint: TopologySpreadConstraint; keys: readonly string[] };

function countByPlace(question: Question, cluster: Cluster): Tally["countByPlace"] {
  const { pod, constraint, keys } = question;
  const { nodeSelector, affinity, tolerations } = pod.spec;
  const wanted = [nodeSelector, affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, tolerations];
  const signature = JSON.stringify([namespaceOf(pod), selectorFor(constraint, pod), constraint, keys, wanted]);
  const tally = cluster.tallies.get(signature) ?? tallyOf(question, cluster);
  cluster.tallies.set(signature, tally);
  return tally.countByPlace;
}

function tallyOf(question: Question, { machines }: Cluster): Tally {
  const counts = new Map<string, Count>();
  const selector = selectorFor(question.constraint, question.pod);
  const placesByMachine = new Map(
    machines.map(machine => [machine, new Set(placesOf(machine).map(shape => placeOf(shape, machine, question)))]),
  );
  const enter = (machine: Machine, pods: number) => {
    const places = placesByMachine.get(machine) ?? new Set();
    for (const place of places) {
      if (place === undefined) continue;
      const { least, most } = counts.get(place) ?? { least: 0, most: 0 };
      counts.set(place, { least: least + (places.size === 1 ? pods : 0), most: most + pods });
    }
  };
  const add = (other: Pod, machine: Machine) => {
    if (isCounted(other, question.pod, selector)) enter(machine, 1);
  };
  for (const machine of machines) {
    enter(machine, 0);
    for (const other of machine.pods) add(other, machine);
  }
  return { countByPlace: counts, add };
}

/** Undefined: the constraint does not look at such a node. */
function placeOf({ labels }: Shape, machine: Machine, { pod, constraint, keys }: Question): string | undefined {
  const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  if (keys.some(key => labels[key] === undefined)) return undefined;
  if (nodeAffinityPolicy === "Honor" && !isWanted(pod, { name: machine.name, labels })) return undefined;
  if (nodeTaintsPolicy === "Honor" && repellingTaint(pod, machine.taints) !== undefined) return undefined;
  return labels[constraint.topologyKey];
}

// An empty selector selects every pod, but kube-scheduler counts none for it.
function isCounted(other: Pod, pod: Pod, selector: LabelSelector | undefined): boolean {
  if (selector === undefined || isEmpty(selector)) return false;
  if (other.metadata.deletionTimestamp !== undefined || namespaceOf(other) !== namespaceOf(pod)) return false;
  return selects(selector, other.metadata.labels);
}

function selectorFor(constraint: TopologySpreadConstraint, { metadata }: Pod): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [] } = constraint;
  if (labelSelector === undefined) return undefined;
  const own = matchLabelKeys.flatMap(key => {
    const value = metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator: "In" as const, values: [value] }];
  });
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...own] };
}
