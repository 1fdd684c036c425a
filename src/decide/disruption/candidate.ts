// Why a node may go by our own choice, since when, and from when on: one answer for each of the four actions. Whether
// something holds it is blocks.ts; whether it may go now, with budgets and windows, is the arbiter's to say.

import type { PlannedAction } from "../../api/budget.ts";
import type { Evidence } from "../../api/node-action.ts";
import { formatTime, type Instant, parseDurationOrNever } from "../../api/time.ts";
import type { ClaimView, NodeView, PoolView } from "../../snapshot/views.ts";
import { closureOf } from "../budgets.ts";
import { conditionOf } from "../conditions.ts";
import type { Context, Proposal } from "../decision.ts";
import { servedClass } from "../node-class.ts";
import { isOwnNode } from "../own-node.ts";
import type { Objection } from "../safety.ts";
import { nextOf } from "../termination-step.ts";
import { blockOf } from "./blocks.ts";
import { passed, quietSince, stillAt } from "./clock.ts";
import { isEmpty } from "./reschedulable.ts";

export type Reason = {
  readonly action: PlannedAction;
  /** Since when the node is a candidate. */
  readonly since: Instant;
  /** From when on it may go. Infinity: never, or nobody can read when. */
  readonly dueAt: Instant;
  readonly message: string;
  readonly policy: NonNullable<Proposal["policy"]>;
  readonly evidence: Omit<Evidence, "seenAt">;
};

export type Candidate = {
  readonly node: NodeView;
  readonly claim: ClaimView;
  readonly pool: PoolView;
  /** None of its pods must run elsewhere. */
  readonly isEmpty: boolean;
  /** The highest first; those whose time has begun. */
  readonly reasons: readonly Reason[];
  /** When another begins or is due. */
  readonly changesAt: Instant | undefined;
};

/** A node of ours with a claim and a pool that nobody is taking away. Undefined: it is none. */
export function candidateOf(node: NodeView, context: Context): Candidate | undefined {
  const { picture, now } = context;
  const claim = ownClaim(node, context);
  const pool = claim?.pool === undefined ? undefined : picture.pool(claim.pool);
  if (claim === undefined || pool === undefined || isGoing(node, claim, context)) return undefined;
  const subject = { node, claim, pool, isEmpty: isEmpty(node.name, picture) };
  const all = [expired(subject), drifted(subject), ...unused(subject, context)].flatMap(reason => reason ?? []);
  const changesAt = nextOf(
    now,
    all.flatMap(({ since, dueAt }) => [since, dueAt]),
  );
  return { reasons: all.filter(({ since }) => since <= now), changesAt, ...subject };
}

/** What would take the node now, and what keeps it all the same. */
export type Due = {
  readonly candidate: Candidate;
  /** The highest by which its pool lets any go now; where there is none, the highest. */
  readonly reason: Reason;
  readonly block?: Objection;
  /** Lower ones by which it may go as well: they may have room where the first has none. */
  readonly others: readonly Reason[];
  /** Higher ones, and what of the pool closes them. */
  readonly closed: readonly { readonly reason: Reason; readonly objection: Objection }[];
  /** When one of its budgets or windows opens or closes. */
  readonly changesAt?: Instant | undefined;
};

/** Undefined: nothing would. */
export function dueOf(candidate: Candidate, context: Context): Due | undefined {
  const { now } = context;
  const due = candidate.reasons.filter(({ dueAt }) => dueAt <= now);
  const [highest, ...lower] = due;
  if (highest === undefined) return undefined;
  // One alone is the arbiter's to hold.
  const doors =
    lower.length === 0 ? [] : due.map(reason => ({ reason, ...closureOf(candidate.pool, reason.action, now) }));
  const open = doors.filter(({ closed }) => closed === undefined).map(({ reason }) => reason);
  const [reason = highest, ...others] = open;
  const block = blockOf(candidate, reason.action, context);
  return {
    candidate,
    reason,
    ...(block ? { block } : {}),
    others,
    closed: doors
      .slice(0, due.indexOf(reason))
      .flatMap(door => (door.closed ? { reason: door.reason, objection: door.closed } : [])),
    changesAt: nextOf(
      now,
      doors.map(({ changesAt }) => changesAt),
    ),
  };
}

/** Somebody must find out first where its pods go, or make the one that a pool with `replicas` will miss. */
export function needsMove({ isEmpty: nothingRuns, pool }: Candidate): boolean {
  return !nothingRuns || pool.effective.replicas !== undefined;
}

/** When the claim comes of age. Infinity: never. */
export function expiryOf({ createdAt, spec }: ClaimView): Instant {
  const after = parseDurationOrNever(spec.expireAfter);
  return !after.ok || after.value === "Never" ? Number.POSITIVE_INFINITY : createdAt + after.value;
}

/** Its own and served by our provider: what another controller made is not ours to disrupt. */
export function ownClaim(node: NodeView, { picture }: Context): ClaimView | undefined {
  const claim = picture.claimOf(node);
  if (claim === undefined || claim.isProvisional || !isOwnNode(node, claim)) return undefined;
  return servedClass(claim.spec.nodeClassRef, picture.provider) && claim;
}

export function isGoing(node: NodeView, claim: ClaimView, { picture }: Context): boolean {
  if (node.deletingSince !== undefined || claim.deletingSince !== undefined) return true;
  return picture.openActionOn(node.uid) !== undefined;
}

type Subject = Pick<Candidate, "node" | "claim" | "pool" | "isEmpty">;

function expired({ node, claim, pool }: Subject): Reason | undefined {
  const since = expiryOf(claim);
  if (!Number.isFinite(since)) return undefined;
  const { expireAfter } = claim.spec;
  const message = `Node ${node.name} came of age at ${formatTime(since)} (expireAfter ${expireAfter}).`;
  return {
    action: "Expiration",
    since,
    dueAt: dueAt(pool, "Expiration", since),
    message,
    policy: { kind: "NodeClaim", name: claim.name, path: "spec.expireAfter", generation: claim.generation },
    evidence: { kind: "Age", message, since: formatTime(since), clock: "Creation" },
  };
}

function drifted({ node, claim, pool }: Subject): Reason | undefined {
  const condition = conditionOf(claim.conditions, "Drifted");
  // Not stamped yet: it begins when the write is there.
  if (condition?.status !== "True" || condition.since === undefined) return undefined;
  const { since, reason } = condition;
  const message = `Node ${node.name} has drifted since ${formatTime(since)} (${reason}): ${condition.message}`;
  return {
    action: "Drift",
    since,
    dueAt: dueAt(pool, "Drift", since),
    message,
    policy: ofPool(pool, "spec.template"),
    evidence: { kind: "Drift", conditionType: "Drifted", conditionReason: reason, message, since: formatTime(since) },
  };
}

/** Of emptiness and consolidation at most one, and neither for a pool that has its number of nodes from `replicas`. */
function unused(subject: Subject, { picture }: Context): readonly Reason[] {
  const { node, claim, pool } = subject;
  const { consolidationPolicy } = pool.effective.disruption;
  const since = quietSince(claim, node.name, picture);
  if (since === undefined || pool.effective.replicas !== undefined) return [];
  if (!subject.isEmpty && consolidationPolicy === "WhenEmpty") return [];
  const reason = subject.isEmpty ? empty(subject, since) : underutilized(subject, since);
  return [{ ...reason, dueAt: Math.max(dueAt(pool, reason.action, since), stillAt(since, picture)) }];
}

function empty({ node, pool }: Subject, since: Instant): Omit<Reason, "dueAt"> {
  const message = `Nothing that could run elsewhere has been on node ${node.name} since ${formatTime(since)}.`;
  return {
    action: "Emptiness",
    since,
    message,
    policy: ofPool(pool, "spec.disruption.consolidateAfter"),
    evidence: { kind: "Empty", message, since: formatTime(since), clock: "Observer" },
  };
}

function underutilized({ node, pool }: Subject, since: Instant): Omit<Reason, "dueAt"> {
  const message = `No pod has come to node ${node.name} or gone from it since ${formatTime(since)}.`;
  return {
    action: "Consolidation",
    since,
    message,
    policy: ofPool(pool, "spec.disruption.consolidationPolicy"),
    evidence: { kind: "Cheaper", message, since: formatTime(since), clock: "Observer" },
  };
}

// What cannot be read never comes: the pool is invalid by it, and says so.
function dueAt({ effective }: PoolView, action: PlannedAction, since: Instant): Instant {
  return passed(since, effective.disruption.disruptAfter[action]) ?? Number.POSITIVE_INFINITY;
}

function ofPool({ name, generation }: PoolView, path: string): Reason["policy"] {
  return { kind: "NodePool", name, path, generation };
}
