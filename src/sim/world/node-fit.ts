// Whether a pod may run on a node, by what the two say of themselves: in kube-scheduler's order, with its reasons.

import { matchesTerms, readyTerms } from "../../api/node-selector.ts";
import { type Taint, type Toleration, untoleratedTaint } from "../../api/taint.ts";
import type { HostPort, Placed, Room } from "./node-room.ts";
import type { Node, PodSpec } from "./objects.ts";

export const unschedulableTaint: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Reads the pod once. The answer: why not, every reason of the first rule that refuses; empty: it may. */
export function fitCheck({ pod, requests, ports }: Placed): (room: Room) => string[] {
  const tolerations = pod.spec.tolerations ?? [];
  const isWanted = nodeMatcher(pod.spec);
  return room => {
    const { spec } = room.node;
    if (spec.unschedulable === true && !toleratesAll([unschedulableTaint], tolerations)) {
      return ["node(s) were unschedulable"];
    }
    if (room.taints.length > 0 && !toleratesAll(room.taints, tolerations)) return ["node(s) had untolerated taint(s)"];
    if (!isWanted(room.node)) return ["node(s) didn't match Pod's node affinity/selector"];
    if (ports.length > 0 && arePortsTaken(ports, room)) {
      return ["node(s) didn't have free ports for the requested pod ports"];
    }
    return missing(requests, room);
  };
}

/** Taints that only advise keep nobody away. */
export function toleratesAll(taints: readonly Taint[], tolerations: readonly Toleration[]): boolean {
  const counts = ({ effect }: Taint) => effect === "NoSchedule" || effect === "NoExecute";
  return untoleratedTaint(taints, tolerations, { counts }) === undefined;
}

/** Node selector and required node affinity, read once. */
export function nodeMatcher({ nodeSelector = {}, affinity }: PodSpec): (node: Node) => boolean {
  const wanted = Object.entries(nodeSelector);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required && readyTerms(required);
  return ({ metadata: { name, labels } }) => {
    for (const [key, value] of wanted) if (labels?.[key] !== value) return false;
    return terms === undefined || matchesTerms(terms, { name, ...(labels && { labels }) });
  };
}

function missing(requests: Placed["requests"], { allocatable, taken }: Room): string[] {
  const reasons: string[] = [];
  for (const [name, amount] of requests) {
    if (amount === 0 || (taken.get(name) ?? 0) + amount <= (allocatable.get(name) ?? 0)) continue;
    reasons.push(name === "pods" ? "Too many pods" : `Insufficient ${name}`);
  }
  return reasons;
}

function arePortsTaken(ports: readonly HostPort[], { placedByKey }: Room): boolean {
  const clash = (a: HostPort, b: HostPort) =>
    a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0");
  return [...placedByKey.values()].some(other => other.ports.some(taken => ports.some(port => clash(port, taken))));
}
