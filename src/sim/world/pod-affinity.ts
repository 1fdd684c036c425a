// Required affinity between pods: near which pods a pod must be and from which it must keep away, both ways, as
// kube-scheduler 1.36 filters by it.

import type { Placed, Room, Rooms } from "./node-room.ts";
import type { Pod } from "./objects.ts";
import { type NamespaceLabels, type PodTerm, podTerms } from "./pod-terms.ts";

export type AffinityCheck = (room: Room) => string | undefined;

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const notNear = "node(s) didn't match pod affinity rules";
const notFar = "node(s) didn't match pod anti-affinity rules";
const othersKeepAway = "node(s) didn't satisfy existing pods anti-affinity rules";

/** Looks at all pods once; what it returns costs a look-up per node. Undefined where no rule concerns the pod. */
export function affinityCheck(
  { pod, keepsAway: far }: Placed,
  rooms: Rooms,
  labelsOf: NamespaceLabels,
): AffinityCheck | undefined {
  const near = podTerms(pod.spec.affinity?.podAffinity?.[required], pod);
  const keptAway = keptAwayBy(pod, rooms, labelsOf);
  if (near.length + far.length + keptAway.size === 0) return undefined;
  const nearDomains = domainsOf(near, rooms, other => near.every(term => term.matchesPod(other, labelsOf)));
  const farDomains = far.map(term => domainsOf([term], rooms, other => term.matchesPod(other, labelsOf)));
  // The first of pods that want to be together may go anywhere.
  const isFirst = nearDomains.size === 0 && near.every(term => term.matchesPod(pod, labelsOf));
  return ({ node }) => {
    const domain = (key: string) => domainKey(key, node.metadata.labels?.[key]);
    if (near.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) return notNear;
    if (!isFirst && near.some(({ topologyKey }) => !nearDomains.has(domain(topologyKey)))) return notNear;
    if (far.some(({ topologyKey }, index) => farDomains[index]?.has(domain(topologyKey)))) return notFar;
    const labels = keptAway.size === 0 ? [] : Object.entries(node.metadata.labels ?? {});
    return labels.some(([key, value]) => keptAway.has(domainKey(key, value))) ? othersKeepAway : undefined;
  };
}

function domainKey(key: string, value: string | undefined): string {
  return value === undefined ? "" : `${key}=${value}`;
}

function domainsOf(terms: readonly PodTerm[], rooms: Rooms, counts: (pod: Pod) => boolean): Set<string> {
  const domains = new Set<string>();
  if (terms.length === 0) return domains;
  for (const { node, placedByKey } of rooms.roomByNode.values()) {
    for (const { pod } of placedByKey.values()) {
      if (!counts(pod)) continue;
      for (const { topologyKey } of terms) {
        const value = node.metadata.labels?.[topologyKey];
        if (value !== undefined) domains.add(domainKey(topologyKey, value));
      }
    }
  }
  return domains;
}

function keptAwayBy(pod: Pod, { antiAffine, roomByNode }: Rooms, labelsOf: NamespaceLabels): Set<string> {
  const domains = new Set<string>();
  for (const { placed, nodeName } of antiAffine.values()) {
    for (const { topologyKey, matchesPod } of placed.keepsAway) {
      const value = roomByNode.get(nodeName)?.node.metadata.labels?.[topologyKey];
      if (value !== undefined && matchesPod(pod, labelsOf)) domains.add(domainKey(topologyKey, value));
    }
  }
  return domains;
}
