// Since when a node stands still and from when on it may go: the clocks of planned disruption. What is written in the claim
// is for whoever comes after us: nothing here waits for it, and who reads it is never sooner than the truth.

import { type Instant, type Millis, minuteMs, parseDurationOrNever, secondMs } from "../../api/time.ts";
import type { Picture, PodEventsView } from "../../snapshot/picture.ts";
import type { ClaimView, NodeView, PoolView } from "../../snapshot/views.ts";
import { conditionOf, isTrue } from "../conditions.ts";
import { instantOf } from "../ledger.ts";
import { isEmpty } from "./reschedulable.ts";

/** How long no pod may have come or gone before a node goes for want of use, whatever its pool says. */
export const standStillMs: Millis = 15 * secondMs;

/** While pods come and go that is written down so often at most. */
export const eventEveryMs: Millis = 5 * minuteMs;

type Seen = Pick<Picture, "podEvents">;

/** Since when no pod came to the node or went from it: at the latest since it was initialized. Undefined: it is not. */
export function quietSince(claim: ClaimView, nodeName: string, { podEvents }: Seen): Instant | undefined {
  const known = knownEvent(claim);
  if (known === undefined) return undefined;
  return Math.max(known, unknownUntil(claim, known, podEvents), podEvents.on(nodeName) ?? known);
}

/** The last one that the claim tells of. */
export function knownEvent(claim: ClaimView): Instant | undefined {
  const since = initializedSince(claim);
  return since === undefined ? undefined : Math.max(since, instantOf(claim.status.lastPodEventTime) ?? since);
}

/**
 * Until when pods may have gone that nobody tells of: who was there right before us wrote down those of later, and that the
 * claim was Consolidatable no more. So a restart makes a node wait longer, but for use within the gap of a minute that is
 * let pass; and where nobody was there, all of the time until now may have been one of use.
 */
function unknownUntil({ conditions }: ClaimView, known: Instant, { since, isSeamless }: PodEventsView): Instant {
  if (!isSeamless) return since;
  return isTrue(conditions, "Consolidatable") ? known : Math.min(since, known + eventEveryMs);
}

export function initializedSince({ conditions, createdAt }: ClaimView): Instant | undefined {
  const initialized = conditionOf(conditions, "Initialized");
  return initialized?.status === "True" ? (initialized.since ?? createdAt) : undefined;
}

/** From when on a node that is quiet since then stands still; whoever has only just come has not seen it do so. */
export function stillAt(since: Instant, { podEvents }: Seen): Instant {
  return Math.max(since, podEvents.since) + standStillMs;
}

type Kept = { readonly claim: ClaimView; readonly node: NodeView; readonly pool: PoolView };

/** From when on the node is idle, as the peer has it. Undefined: never, or nobody can tell. */
export function idleAt({ claim, node, pool }: Kept, picture: Picture): Instant | undefined {
  const since = quietSince(claim, node.name, picture);
  if (since === undefined || pool.effective.replicas !== undefined) return undefined;
  const { Emptiness, Consolidation } = pool.effective.disruption.disruptAfter;
  const at = passed(since, isEmpty(node.name, picture) ? Emptiness : Consolidation);
  return at !== undefined && Number.isFinite(at) ? at : undefined;
}

/** When `disruptAfter` has passed since then. Infinity: never. Undefined: nobody can read how long it is. */
export function passed(since: Instant, disruptAfter: string): Instant | undefined {
  const after = parseDurationOrNever(disruptAfter);
  if (!after.ok) return undefined;
  return after.value === "Never" ? Number.POSITIVE_INFINITY : since + after.value;
}
