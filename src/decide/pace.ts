// How many repairs of a pool are under way: a repair lasts until its node is gone and a successor is initialized, but no
// longer than one readinessTTL after the node went. Read off the ledger and the claims; nothing is remembered.

import { type Instant, parseDuration } from "../api/time.ts";
import type { ActionView, ClaimView, PoolView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import { type Counted, soonestFirst } from "./counted.ts";
import type { Context } from "./decision.ts";
import { finishedAt, instantOf } from "./ledger.ts";

/** One that only waits for a successor counts until it has waited for one readinessTTL. */
export function repairsUnderWay(pool: PoolView, { picture, now }: Pick<Context, "picture" | "now">): Counted {
  const going = picture.departuresOf(pool.name).filter(({ action }) => action?.spec.action === "Repair");
  const ttl = parseDuration(pool.effective.template.readinessTTL);
  // One that cannot be read never ends.
  const ttlMs = ttl.ok ? ttl.value : Number.POSITIVE_INFINITY;
  const taken = [...picture.finishedSince(now - ttlMs)].filter(action => hasTakenFrom(pool, action));
  if (taken.length === 0) return { going, gone: [] };
  const gone = withoutSuccessor(taken, picture.claimsOfPool(pool.name))
    .map(action => ({ action, until: (finishedAt(action) ?? action.createdAt) + ttlMs }))
    .filter(({ until }) => until > now);
  return { going, gone: soonestFirst(gone) };
}

/** A reboot leaves the node; one that was given up before its start took nothing; replacements came before. */
export function hasTakenFrom({ name }: PoolView, { spec, status }: ActionView): boolean {
  if (spec.action !== "Repair" || spec.method !== "Terminate" || spec.nodePool !== name) return false;
  return (status.phase !== "Abandoned" || status.startedAt !== undefined) && !spec.replacements?.length;
}

/**
 * Which claim follows which node is written nowhere: to each repair, in order, the first claim that was made since it was
 * decided, in the same second at the earliest. One that came for another reason may stand in: there is room again.
 */
function withoutSuccessor(gone: readonly ActionView[], claims: Iterable<ClaimView>): readonly ActionView[] {
  const inOrder = [...gone].sort((a, b) => decidedAt(a) - decidedAt(b));
  const [first] = inOrder;
  const successors = [...claims]
    .filter(claim => first !== undefined && claim.createdAt >= decidedAt(first) && isInService(claim))
    .map(({ createdAt }) => createdAt)
    .sort((a, b) => a - b);
  let next = 0;
  return inOrder.filter(action => {
    while (next < successors.length && (successors[next] ?? 0) < decidedAt(action)) next++;
    return next++ >= successors.length;
  });
}

function isInService({ deletingSince, conditions }: ClaimView): boolean {
  return deletingSince === undefined && isTrue(conditions, "Initialized");
}

function decidedAt({ spec, createdAt }: ActionView): Instant {
  return instantOf(spec.decidedAt) ?? createdAt;
}
