// Topology spread that must hold. Pods on a node whose place is not settled yet are counted wherever they may come to
// be, and at the emptiest place they are not.

import type { Pod, TopologySpreadConstraint } from "../../../src/api/pod.ts";
import type { LabelSelector } from "../../../src/api/selector.ts";
import { type Cluster, type Machine, namespaceOf, placesOf, type Shape, type Spot } from "./cluster.ts";
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
    const least = Math.min(...[...counts.values()].map(count => count.least));
    const floor = counts.size < minDomains ? 0 : least;
    const self = selects(selectorFor(constraint, pod), pod.metadata.labels) ? 1 : 0;
    const skew = (counts.get(place)?.most ?? 0) + self - floor;
    if (skew > maxSkew) return `would make ${topologyKey} ${place} lead by ${skew}, more than ${maxSkew}`;
  }
  return undefined;
}

type Question = { pod: Pod; constraint: TopologySpreadConstraint; keys: readonly string[] };

type Count = { least: number; most: number };

function countByPlace(question: Question, { machines }: Cluster): Map<string, Count> {
  const counts = new Map<string, Count>();
  const selector = selectorFor(question.constraint, question.pod);
  for (const machine of machines) {
    const places = placesOf(machine).map(shape => placeOf(shape, machine, question));
    const isSettled = new Set(places).size === 1;
    const pods = machine.pods.filter(other => isCounted(other, question.pod, selector)).length;
    for (const place of new Set(places)) {
      if (place === undefined) continue;
      const { least, most } = counts.get(place) ?? { least: 0, most: 0 };
      counts.set(place, { least: least + (isSettled ? pods : 0), most: most + pods });
    }
  }
  return counts;
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
