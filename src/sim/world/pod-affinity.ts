// Required affinity between pods: near which pods a pod must be and from which it must keep away, both ways, as
// kube-scheduler 1.36 filters by it.

import type { KubeObject } from "../../api/meta.ts";
import type { PodAffinityTerm } from "../../api/pod.ts";
import { type LabelSelector, matches, type Selector, selectorOf } from "../../api/selector.ts";
import type { Placed, Room, Rooms } from "./node-room.ts";
import { isDeleting, type Pod } from "./objects.ts";

export type AffinityCheck = (room: Room) => string | undefined;

const required = "requiredDuringSchedulingIgnoredDuringExecution";

type Term = { topologyKey: string; matchesPod: (pod: Pod) => boolean };

/** Looks at all pods once; what it returns costs a look-up per node. Undefined where no rule concerns the pod. */
export function affinityCheck(pod: Pod, rooms: Rooms, namespaces: Iterable<KubeObject>): AffinityCheck | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const labelsByNamespace = new Map([...namespaces].map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const ready = (terms: readonly PodAffinityTerm[] | undefined, owner: Pod) =>
    (terms ?? []).map(term => termOf(term, owner, labelsByNamespace));
  const near = ready(podAffinity?.[required], pod);
  const far = ready(podAntiAffinity?.[required], pod);
  const keptAway = keptAwayBy(pod, rooms, ready);
  if (near.length + far.length + keptAway.size === 0) return undefined;
  const nearDomains = domainsOf(near, rooms, placed => near.every(term => term.matchesPod(placed.pod)));
  const farDomains = far.map(term => domainsOf([term], rooms, placed => term.matchesPod(placed.pod)));
  // The first of pods that want to be together may go anywhere.
  const isFirst = nearDomains.size === 0 && near.every(term => term.matchesPod(pod));
  return ({ node }) => {
    const domain = (key: string) => domainKey(key, node.metadata.labels?.[key]);
    if (near.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) return notNear;
    if (!isFirst && near.some(({ topologyKey }) => !nearDomains.has(domain(topologyKey)))) return notNear;
    if (far.some(({ topologyKey }, index) => farDomains[index]?.has(domain(topologyKey)))) return notFar;
    const labels = Object.entries(node.metadata.labels ?? {});
    return keptAway.size > 0 && labels.some(([key, value]) => keptAway.has(domainKey(key, value)))
      ? othersKeepAway
      : undefined;
  };
}

const notNear = "node(s) didn't match pod affinity rules";
const notFar = "node(s) didn't match pod anti-affinity rules";
const othersKeepAway = "node(s) didn't satisfy existing pods anti-affinity rules";

function domainKey(key: string, value: string | undefined): string {
  return value === undefined ? "" : `${key}=${value}`;
}

function domainsOf(terms: readonly Term[], rooms: Rooms, counts: (placed: Placed) => boolean): Set<string> {
  const domains = new Set<string>();
  if (terms.length === 0) return domains;
  for (const { node, placedByKey } of rooms.roomByNode.values()) {
    for (const placed of placedByKey.values()) {
      if (!counts(placed)) continue;
      for (const { topologyKey } of terms) {
        const value = node.metadata.labels?.[topologyKey];
        if (value !== undefined) domains.add(domainKey(topologyKey, value));
      }
    }
  }
  return domains;
}

type Ready = (terms: readonly PodAffinityTerm[] | undefined, owner: Pod) => Term[];

function keptAwayBy(pod: Pod, { antiAffine, roomByNode }: Rooms, ready: Ready): Set<string> {
  const domains = new Set<string>();
  for (const { placed, nodeName } of antiAffine.values()) {
    const terms = ready(placed.pod.spec.affinity?.podAntiAffinity?.[required], placed.pod);
    for (const { topologyKey, matchesPod } of terms) {
      const value = roomByNode.get(nodeName)?.node.metadata.labels?.[topologyKey];
      if (value !== undefined && matchesPod(pod)) domains.add(domainKey(topologyKey, value));
    }
  }
  return domains;
}

type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

function termOf(term: PodAffinityTerm, owner: Pod, labelsByNamespace: NamespaceLabels): Term {
  const { topologyKey, namespaces = [], namespaceSelector } = term;
  const selector = parsed(withKeys(term, owner));
  const selected = namespaceSelector && parsed(namespaceSelector);
  const own = owner.metadata.namespace ?? "";
  const isIn = (namespace: string) => {
    if (namespaces.length === 0 && selected === undefined) return namespace === own;
    if (namespaces.includes(namespace)) return true;
    return selected !== undefined && matches(selected, labelsByNamespace.get(namespace));
  };
  return {
    topologyKey,
    matchesPod: pod =>
      selector !== undefined && isIn(pod.metadata.namespace ?? "") && matches(selector, pod.metadata.labels),
  };
}

/** Keys whose value is taken from the pod itself: its own revision, or every other one. */
export function withKeys(
  term: { labelSelector?: LabelSelector; matchLabelKeys?: readonly string[]; mismatchLabelKeys?: readonly string[] },
  { metadata }: Pod,
): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return undefined;
  const extra = (keys: readonly string[], operator: "In" | "NotIn") =>
    keys.flatMap(key => {
      const value = metadata.labels?.[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const expressions = [...extra(matchLabelKeys, "In"), ...extra(mismatchLabelKeys, "NotIn")];
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] };
}

function parsed(selector: LabelSelector | undefined): Selector | undefined {
  const found = selector && selectorOf(selector);
  return found?.ok ? found.value : undefined;
}

/** Pods that count for where another may go. */
export function countsForSpread(pod: Pod, namespace: string | undefined): boolean {
  return pod.metadata.namespace === namespace && !isDeleting(pod);
}
