// Which pods want a node, and which places are one: what can be told of a pod, an action or a claim alone.

import type { Placement } from "./placement.ts";
import type { ActionView, ClaimView, PodView } from "./views.ts";
import { waitsForReplacement } from "./waiting-action.ts";

/** As upstream: the scheduler found no place, or its node is going; not what belongs to its node, nor what ends. */
export function wantsNode(pod: PodView, going: ReadonlySet<string>): boolean {
  const isEnding = pod.deletionAt !== undefined || pod.phase === "Succeeded" || pod.phase === "Failed";
  if (isEnding || pod.isStatic || pod.ownerKind === "DaemonSet") return false;
  if (pod.nodeName !== undefined) return going.has(pod.nodeName);
  return pod.isUnschedulable === true;
}

/** The node whose name the scheduler has taken out: it has tried to put the pod there, and failed. */
export function turnedDownBy({ nominatedNode }: PodView, after: PodView): string | undefined {
  return after.nominatedNode === undefined && after.nodeName === undefined ? nominatedNode : undefined;
}

/** A reboot leaves the node its pods; so does a plan for them until it begins, since its own replacements come first. */
export function takesPods(action: ActionView): boolean {
  return action.spec.method !== "Reboot" && !waitsForReplacement(action);
}

/** Its node comes, or is there. */
export function isComing({ deletingSince, conditions }: ClaimView): boolean {
  return (
    deletingSince === undefined && !conditions.some(({ type, status }) => type === "Launched" && status === "False")
  );
}

/** Its node has been open to pods. */
export function isInitialized({ conditions }: ClaimView): boolean {
  return conditions.some(({ type, status }) => type === "Initialized" && status === "True");
}

export function isPlaced(placement: Placement | undefined): placement is Placement & { readonly on: "claim" | "node" } {
  return placement !== undefined && placement.on !== "nothing";
}

export function byName(a: PodView, b: PodView): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
