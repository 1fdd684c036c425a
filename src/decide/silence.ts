// Whether an action was asked for because the kubelet is silent, and for nothing else: only then has a live look at node and
// lease borne that out, and its pods need not be waited for, however gently it goes.

import type { Evidence, NodeActionSpec } from "../api/node-action.ts";
import { reasonsOf } from "./ledger.ts";

type Seen = Pick<Evidence, "kind" | "conditionType" | "conditionStatus">;

/** One of its reasons stands on nothing else. */
export function saysSilent(spec: NodeActionSpec): boolean {
  return reasonsOf(spec).some(({ action, evidence }) => action === "Repair" && isOfSilence(evidence));
}

/** Something of it is the kubelet's silence, which its lease may contradict; of anything else a lease says nothing. */
export function isToldByLease(spec: NodeActionSpec): boolean {
  return reasonsOf(spec).some(({ evidence }) => evidence.some(isSilence));
}

/** It would tell an action that goes gently what that does not know yet. */
export function tellsSilence(evidence: readonly Seen[], spec: NodeActionSpec): boolean {
  return spec.termination !== "Forceful" && isOfSilence(evidence) && !saysSilent(spec);
}

function isOfSilence(evidence: readonly Seen[]): boolean {
  return evidence.length > 0 && evidence.every(isSilence);
}

function isSilence({ kind, conditionType, conditionStatus }: Seen): boolean {
  const isSeen = kind === "Condition" || kind === "Flapping";
  return isSeen && conditionType === "Ready" && conditionStatus === "Unknown";
}
