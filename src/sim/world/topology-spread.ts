// Topology spread constraints that must hold (DoNotSchedule), as kube-scheduler 1.36 filters by them.

import type { TopologySpreadConstraint } from "../../api/pod.ts";
import { matches, selectorOf } from "../../api/selector.ts";
import type { Room, Rooms } from "./node-room.ts";
import { nodeMatcher, toleratesAll } from "./node-fit.ts";
import { isDeleting, type Node, type Pod } from "./objects.ts";
import { withKeys } from "./pod-terms.ts";

export type SpreadCheck = (room: Room) => string | undefined;

const skewed = "node(s) didn't match pod topology spread constraints";
const unlabelled = `${skewed} (missing required label)`;

/** Counts once; what it returns costs a look-up per node. Undefined where nothing must hold. */
export function spreadCheck(pod: Pod, rooms: Rooms): SpreadCheck | undefined {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  if (constraints.length === 0) return undefined;
  const keys = constraints.map(({ topologyKey }) => topologyKey);
  const counted = constraints.map(constraint => countDomains(constraint, { pod, rooms, keys }));
  return ({ node }) => {
    for (const { constraint, countByDomain, leastCount, isSelf } of counted) {
      const domain = node.metadata.labels?.[constraint.topologyKey];
      if (domain === undefined) return unlabelled;
      const skew = (countByDomain.get(domain) ?? 0) + (isSelf ? 1 : 0) - leastCount;
      if (skew > constraint.maxSkew) return skewed;
    }
    return undefined;
  };
}

type Counting = { pod: Pod; rooms: Rooms; keys: readonly string[] };

function countDomains(constraint: TopologySpreadConstraint, { pod, rooms, keys }: Counting) {
  const { topologyKey, minDomains = 1 } = constraint;
  const found = selectorOf(withKeys(constraint, pod) ?? {});
  const selector = constraint.labelSelector && found.ok ? found.value : undefined;
  const countByDomain = new Map<string, number>();
  const isEligible = eligibility(constraint, pod);
  for (const { node, placedByKey } of rooms.roomByNode.values()) {
    const domain = node.metadata.labels?.[topologyKey];
    // A node counts only if it has all the labels that the constraints speak of.
    if (domain === undefined || keys.some(key => node.metadata.labels?.[key] === undefined)) continue;
    if (!isEligible(node)) continue;
    let count = countByDomain.get(domain) ?? 0;
    for (const { pod: other } of placedByKey.values()) {
      if (selector === undefined || other.metadata.namespace !== pod.metadata.namespace || isDeleting(other)) continue;
      if (matches(selector, other.metadata.labels)) count++;
    }
    countByDomain.set(domain, count);
  }
  const isSelf = selector !== undefined && matches(selector, pod.metadata.labels);
  const leastCount = countByDomain.size < minDomains ? 0 : Math.min(...countByDomain.values());
  return { constraint, countByDomain, leastCount: Number.isFinite(leastCount) ? leastCount : 0, isSelf };
}

function eligibility(constraint: TopologySpreadConstraint, { spec }: Pod): (node: Node) => boolean {
  const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  const isWanted = nodeMatcher(spec);
  return node =>
    (nodeAffinityPolicy === "Ignore" || isWanted(node)) &&
    (nodeTaintsPolicy === "Ignore" || toleratesAll(node.spec.taints ?? [], spec.tolerations ?? []));
}
