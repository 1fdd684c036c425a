// The gate of a check: with more nodes not healthy than it allows, none of its remediations starts. All or nothing: the
// failure may lie elsewhere, and what is gone is not back yet. It never stops what has begun.

import { type Amount, parseAmount, roundedDown, roundedUp } from "../../api/amount.ts";
import { dayMs, type Instant, type Millis, parseDuration } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ActionView, NodeView, PoolView } from "../../snapshot/views.ts";
import { isTrue } from "../conditions.ts";
import type { Context } from "../decision.ts";
import { finishedAt, instantOf } from "../ledger.ts";

export type Tally = {
  /** Selected nodes, and those that a remediation took away and nobody has followed yet. */
  readonly nodes: number;
  /** Of them: with an unhealthy condition for however long, with a remediation, or taken away. */
  readonly notHealthy: number;
  /** Of both: gone. */
  readonly taken: number;
};

export type Gate = Tally & {
  readonly isOpen: boolean;
  /** How many may be not healthy. */
  readonly allowed: number;
  /** The field and what it says. */
  readonly written: string;
  /** When it opens by itself, if nothing else changes. */
  readonly opensAt?: Instant;
  /** When it counts otherwise by time alone. */
  readonly changesAt?: Instant;
};

export function gateOf(check: CheckView, context: Context): Gate {
  const { taken, frees } = takenAway(check, context);
  const at = (left: number): Gate => judged(check, context, left);
  const now = at(taken);
  const opening = frees.findIndex((_, index) => at(taken - index - 1).isOpen);
  const opensAt = now.isOpen ? undefined : frees[opening];
  const [changesAt] = frees;
  return {
    ...now,
    ...(opensAt === undefined ? {} : { opensAt }),
    ...(changesAt === undefined ? {} : { changesAt }),
  };
}

function judged(check: CheckView, { picture: { checks } }: Context, taken: number): Gate {
  const nodes = checks.selectedCount(check) + taken;
  const notHealthy = checks.notHealthyCount(check) + taken;
  const { allowed, written } = allowedOf(check, nodes);
  return { nodes, notHealthy, taken, allowed, written, isOpen: notHealthy <= allowed };
}

/** What cannot be read allows none. */
export function allowedOf({ effective: { limit } }: CheckView, nodes: number): { allowed: number; written: string } {
  if ("minHealthy" in limit) {
    const amount = parseAmount(limit.minHealthy);
    const written = `spec.minHealthy: ${limit.minHealthy}`;
    // Below zero where more shall be healthy than there are: then nothing starts, and nothing need.
    return { allowed: amount.ok ? nodes - roundedUp(amount.value, nodes) : -1, written };
  }
  const amount = parseAmount(limit.maxUnhealthy);
  const written = `spec.maxUnhealthy: ${limit.maxUnhealthy}`;
  return { allowed: amount.ok ? atLeastOne(amount.value, nodes) : -1, written };
}

/** A share that is meant to allow something allows one node at least: 49% of three workers. 0% is meant so. */
function atLeastOne(amount: Amount, nodes: number): number {
  const allowed = roundedDown(amount, nodes);
  return "percent" in amount && amount.percent > 0 ? Math.max(1, allowed) : allowed;
}

/** How many were taken away without a successor; when those stop to count for which none may be meant to come. */
function takenAway(check: CheckView, context: Context): { taken: number; frees: readonly Instant[] } {
  const { picture, now } = context;
  const { checks } = picture;
  const gone = checks
    .ended(check)
    .filter(({ spec }) => picture.nodeByUid(spec.node.uid) === undefined)
    .filter(action => !isStillRemediated(action, check, context));
  const alone = gone.length === 0 ? [] : withoutSuccessor(gone, checks.selected(check), context);
  const ends = stillWanted(alone, picture).map(action => countedUntil(action, context));
  const counted = ends.filter(end => end > now);
  return {
    taken: counted.length + checks.remediatedAndGoneCount(check),
    frees: counted.filter(Number.isFinite).sort((a, b) => a - b),
  };
}

/** Its remediation is still there, and counts by itself. */
function isStillRemediated({ spec }: ActionView, check: CheckView, { picture: { checks } }: Context): boolean {
  return checks.remediationsOf(check, spec.node.name).length > 0;
}

/** Of pools with a fixed number no more than they lack: one that was scaled down, or deleted, wants no successor. */
function stillWanted(alone: readonly ActionView[], picture: Picture): readonly ActionView[] {
  const lackingByPool = new Map<string, number>();
  return alone.filter(({ spec: { nodePool } }) => {
    if (nodePool === undefined) return true;
    const lacking = lackingByPool.get(nodePool) ?? lackingOf(picture.pool(nodePool), picture);
    lackingByPool.set(nodePool, lacking - 1);
    return lacking > 0;
  });
}

function lackingOf(pool: PoolView | undefined, picture: Picture): number {
  if (pool === undefined || pool.deletingSince !== undefined) return 0;
  const { replicas } = pool.effective;
  if (replicas === undefined) return Number.POSITIVE_INFINITY;
  // Those that have come up, also if they are sick by now: for them no other is made.
  const up = [...picture.claimsOfPool(pool.name)].filter(
    ({ deletingSince, conditions }) => deletingSince === undefined && isTrue(conditions, "Initialized"),
  );
  return replicas - up.length;
}

/** For a node that somebody else provisions: whether another is meant to come, nobody can ask. */
export const followedWithinMs: Millis = dayMs;

/**
 * A pool with a fixed number has another made, and it is waited for as long as it lacks one. A pool that follows its pods
 * may want none: there it is waited for as long as a node may take to get Ready, as repair does.
 */
function countedUntil(action: ActionView, { picture }: Context): Instant {
  const endedAt = finishedAt(action) ?? action.createdAt;
  const pool = action.spec.nodePool === undefined ? undefined : picture.pool(action.spec.nodePool);
  if (pool === undefined) return endedAt + followedWithinMs;
  if (pool.effective.replicas !== undefined) return Number.POSITIVE_INFINITY;
  const ttl = parseDuration(pool.effective.template.readinessTTL);
  return ttl.ok ? endedAt + ttl.value : Number.POSITIVE_INFINITY;
}

/**
 * Which node follows which is written nowhere: to each that went, in order, the first Ready one that came since its end
 * was decided.
 */
export function withoutSuccessor(
  gone: readonly ActionView[],
  nodes: readonly NodeView[],
  context: Context,
): readonly ActionView[] {
  const inOrder = [...gone].sort((a, b) => decidedAt(a) - decidedAt(b));
  const first = inOrder[0] === undefined ? 0 : decidedAt(inOrder[0]);
  const arrivals = nodes
    .filter(node => node.createdAt >= first && hasBeenReady(node, context))
    .map(({ createdAt }) => createdAt)
    .sort((a, b) => a - b);
  let next = 0;
  return inOrder.filter(action => {
    while (next < arrivals.length && (arrivals[next] ?? 0) < decidedAt(action)) next++;
    return next++ >= arrivals.length;
  });
}

/** One that has failed since has followed all the same, and counts by itself: both would count one lack twice. */
function hasBeenReady({ uid, conditions }: NodeView, { remembered }: Context): boolean {
  const seen = remembered?.sight.history(uid, "Ready")?.stretches ?? [];
  return isTrue(conditions, "Ready") || seen.some(({ status }) => status === "True");
}

export function decidedAt({ spec, createdAt }: ActionView): Instant {
  return instantOf(spec.decidedAt) ?? createdAt;
}

/** "4 of 7 nodes of NodeHealthCheck x are not healthy, more than 3 (spec.maxUnhealthy: 49%)." */
export function gateSentence({ name }: CheckView, gate: Gate): string {
  const { nodes, notHealthy, taken, allowed, written } = gate;
  const gone = taken === 0 ? "" : `, ${taken} of them taken away and not followed by a Ready node yet`;
  const bound = allowed < 0 ? `and ${written} allows none` : `more than ${allowed} (${written})`;
  return `${notHealthy} of ${nodes} nodes of NodeHealthCheck ${name} are not healthy${gone}, ${bound}.`;
}
