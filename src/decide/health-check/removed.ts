// How an entry ends whose objects are gone, of a node that is there: the node has recovered, or somebody has removed them.
// What is removed as soon as it is made would else be made again and again: a reboot every few seconds, and an entry in
// the ledger for each. That has failed, and what has failed is tried again later and later.

import { type Instant, minuteMs } from "../../api/time.ts";
import type { ActionView } from "../../snapshot/views.ts";
import { instantOf } from "../ledger.ts";

type End = { readonly outcome: string; readonly phase: "Done" | "Failed" };

export function endOfRemoved(nodeName: string, isWell: boolean, isHasty: boolean): End {
  if (isWell) return { outcome: `Node ${nodeName} is healthy again and its remediation is removed.`, phase: "Done" };
  const phase = isHasty ? "Failed" : "Done";
  return { outcome: `Node ${nodeName} is unhealthy, and its remediation is gone.`, phase };
}

/** Until when whoever removes it does so in haste. */
export function hasteEnds({ status: { startedAt } }: ActionView): Instant {
  return (instantOf(startedAt) ?? 0) + minuteMs;
}
