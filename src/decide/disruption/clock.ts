// Since when a node stands still and from when on it may go: the clocks of planned disruption. They start over with what
// is written in the claim, so that another process goes on where the last one stopped.

import { type Instant, type Millis, parseDurationOrNever, secondMs } from "../../api/time.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ClaimView } from "../../snapshot/views.ts";
import { conditionOf } from "../conditions.ts";
import { instantOf } from "../ledger.ts";

/** How long no pod may have come or gone before a node goes for want of use, whatever its pool says. */
export const standStillMs: Millis = 15 * secondMs;

/** Since when no pod came to the node or went from it: at the latest since it was initialized. Undefined: it is not. */
export function quietSince(
  claim: ClaimView,
  nodeName: string,
  picture: Pick<Picture, "podEventOn">,
): Instant | undefined {
  const since = initializedSince(claim);
  return since === undefined ? undefined : Math.max(since, writtenEvent(claim), picture.podEventOn(nodeName) ?? since);
}

export function initializedSince({ conditions, createdAt }: ClaimView): Instant | undefined {
  const initialized = conditionOf(conditions, "Initialized");
  return initialized?.status === "True" ? (initialized.since ?? createdAt) : undefined;
}

/** As the claim's status has it. */
export function writtenEvent({ status }: ClaimView): Instant {
  return instantOf(status.lastPodEventTime) ?? Number.NEGATIVE_INFINITY;
}

/** When `disruptAfter` has passed since then. Infinity: never. Undefined: nobody can read how long it is. */
export function passed(since: Instant, disruptAfter: string): Instant | undefined {
  const after = parseDurationOrNever(disruptAfter);
  if (!after.ok) return undefined;
  return after.value === "Never" ? Number.POSITIVE_INFINITY : since + after.value;
}
