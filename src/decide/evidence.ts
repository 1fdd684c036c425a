// Whether what an action was opened for is still so, by what can be seen now. What cannot be confirmed does not hold: a
// kind of evidence that nobody here can look at never does.

import type { Evidence } from "../api/node-action.ts";
import { formatTime, parseDuration, parseDurationOrNever, secondMs } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, ConditionView, InstanceView, NodeView } from "../snapshot/views.ts";
import type { Instant } from "../api/time.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import type { Context } from "./decision.ts";
import { isEmpty } from "./disruption/reschedulable.ts";
import { instantOf } from "./ledger.ts";

/** The node, its lease and its claim as just read; what is absent was not found or not asked for. */
export type Live = {
  readonly node?: NodeView;
  readonly claim?: ClaimView;
  readonly leaseRenewedAt?: Instant;
  /** The lease has said so since this look at it, by our own clock. */
  readonly leaseSeenAt?: Instant;
  readonly instance?: InstanceView;
};

type Look = { readonly evidence: Evidence; readonly live: Live; readonly context: Context };

/** Why it does not hold; undefined: it does. */
type Confirm = (look: Look) => string | undefined;

/** A kubelet renews its lease every 10 s; node lifecycle waits 40 s before it calls a node Unknown. */
const leaseFreshMs = 40 * secondMs;

const confirmByKind: Partial<Record<Evidence["kind"], Confirm>> = {
  Condition: sick,
  Flapping: look => stillBad(look) ?? alive(look),
  NeverReady: neverReady,
  Age: expired,
  Drift: ({ live }) => (live.claim && isTrue(live.claim.conditions, "Drifted") ? undefined : "it is not drifted now"),
  Empty: ({ live: { node }, context: { picture } }) =>
    node && isEmpty(node.name, picture) ? undefined : "pods run there now",
  // Where its pods go is looked at again before every start (replacement.ts); the node itself says nothing of it.
  Cheaper: () => undefined,
  DeletionTimestamp: ({ live }) => (isDeleting(live) ? undefined : "neither the node nor its claim is being deleted"),
  InstanceGone: instanceGone,
  SurplusReplica: surplus,
  RemediationObject: ({ live: { node }, context: { picture } }) => noRemediation(node?.name ?? "", picture),
};

/** Undefined: one of ours stands and has its time yet. */
export function noRemediation(nodeName: string, { checks }: Pick<Picture, "checks">): string | undefined {
  const isAsked = checks
    .ownRemediations(nodeName)
    .some(({ deletingSince, timedOut }) => deletingSince === undefined && timedOut === undefined);
  return isAsked ? undefined : "no remediation asks for it any more";
}

/** Why nothing of the evidence holds; undefined: something does. */
export function contradiction(evidence: readonly Evidence[], live: Live, context: Context): string | undefined {
  const whys = evidence.map(one => {
    const confirm = confirmByKind[one.kind];
    return confirm ? confirm({ evidence: one, live, context }) : `evidence ${one.kind} cannot be confirmed here`;
  });
  if (whys.includes(undefined)) return undefined;
  return whys.length === 0 ? "no evidence is given" : whys.join("; ");
}

function expired({ live: { claim }, context }: Look): string | undefined {
  const after = claim && parseDurationOrNever(claim.spec.expireAfter);
  if (claim === undefined || !after?.ok || after.value === "Never") return "no claim has an age at which it goes";
  const at = claim.createdAt + after.value;
  return at <= context.now ? undefined : `NodeClaim ${claim.name} comes of age at ${formatTime(at)}`;
}

function isDeleting({ node, claim }: Live): boolean {
  return node?.deletingSince !== undefined || claim?.deletingSince !== undefined;
}

function sick(look: Look): string | undefined {
  return stillBad(look) ?? alive(look) ?? younger(look);
}

function stillBad({ evidence, live }: Look): string | undefined {
  const { conditionType = "", conditionStatus } = evidence;
  const found = live.node && conditionOf(live.node.conditions, conditionType);
  if (found === undefined) return `condition ${conditionType} is not there now`;
  return found.status === conditionStatus ? undefined : `condition ${conditionType} is ${found.status} now`;
}

/**
 * Ready=Unknown says that the kubelet is silent; if its lease moves, somebody else says so. Lately, or clearly after the
 * sickness began: the lease is by the node's own clock, which may be a little ahead.
 */
function alive({ evidence, live, context }: Look): string | undefined {
  const { leaseRenewedAt } = live;
  if (evidence.conditionType !== "Ready" || evidence.conditionStatus !== "Unknown") return undefined;
  const silentSince = Math.min(context.now - leaseFreshMs, (instantOf(evidence.since) ?? context.now) + leaseFreshMs);
  if (leaseRenewedAt === undefined || leaseRenewedAt <= silentSince || isStill({ evidence, live, context })) {
    return undefined;
  }
  return `the kubelet is alive: it renewed its lease at ${formatTime(leaseRenewedAt)}`;
}

/**
 * A clock that runs ahead leaves a lease that looks fresh for long, or for ever: what does not move from look to look is
 * not renewed. Where it lay in our future it said nothing by itself; else the kubelet was alive lately, and its silence
 * since the first look is borne as any other.
 */
function isStill({ evidence: { toleration }, live, context }: Look): boolean {
  const { leaseRenewedAt = 0, leaseSeenAt } = live;
  if (leaseSeenAt === undefined) return false;
  const tolerated = parseDuration(toleration ?? "0s");
  const borneMs = tolerated.ok ? Math.max(leaseFreshMs, tolerated.value) : Number.POSITIVE_INFINITY;
  return leaseSeenAt + (leaseRenewedAt > leaseSeenAt ? leaseFreshMs : borneMs) <= context.now;
}

/**
 * A condition that began after what was seen went away in between and has its whole toleration before it. A reporter's
 * time that was not believed when the evidence was written says nothing new as long as it stands.
 */
function younger({ evidence, live }: Look): string | undefined {
  const since = sinceOf(evidence, live);
  const latest = instantOf(evidence.since) ?? dueSince(evidence);
  if (since === undefined || formatTime(since) === evidence.reportedSince) return undefined;
  if (latest === undefined) return `nothing says since when condition ${evidence.conditionType} was seen`;
  // Times in the evidence are whole seconds, rounded down.
  if (since < latest + secondMs) return undefined;
  return `condition ${evidence.conditionType} began anew at ${formatTime(since)}`;
}

function sinceOf({ conditionType = "" }: Evidence, { node }: Live): Instant | undefined {
  const condition: ConditionView | undefined = node && conditionOf(node.conditions, conditionType);
  return condition?.since;
}

function dueSince({ dueAt, toleration }: Evidence): Instant | undefined {
  const due = instantOf(dueAt);
  const tolerated = parseDuration(toleration ?? "0s");
  return due === undefined || !tolerated.ok ? undefined : due - tolerated.value;
}

function neverReady({ live: { node, claim } }: Look): string | undefined {
  if (claim?.status.firstReadyTime !== undefined) return `it was first Ready at ${claim.status.firstReadyTime}`;
  return node && isTrue(node.conditions, "Ready") ? "it is Ready now" : undefined;
}

function instanceGone({ live: { node, claim, instance }, context }: Look): string | undefined {
  const seen = instance ?? (claim?.providerID === undefined ? undefined : context.picture.instance(claim.providerID));
  if (seen?.state !== "gone") return `the provider says that the instance is ${seen?.state ?? "not looked up"}`;
  return node && isTrue(node.conditions, "Ready") ? "the node is Ready, so something runs it" : undefined;
}

/** Several may be about to start on one picture: each leaves to those before it what is theirs. */
function surplus({ live: { claim }, context: { picture } }: Look): string | undefined {
  const pool = claim?.pool === undefined ? undefined : picture.pool(claim.pool);
  const replicas = pool?.effective.replicas;
  if (claim === undefined || pool === undefined || replicas === undefined) {
    return "its claim is of no pool with replicas now";
  }
  const { staying } = picture.totalsOfPool(pool.name);
  const before = goingBefore(claim, picture);
  if (staying - before > replicas) return undefined;
  const others = before > 0 ? `, ${before} of them about to go` : "";
  return `NodePool ${pool.name} has ${staying} claims${others} for ${replicas} replicas now`;
}

/** Claims of its pool that still stay and that another open action is to end: any for another reason, else by name. */
function goingBefore({ name, pool }: ClaimView, picture: Picture): number {
  const going = new Set<string>();
  for (const { spec } of picture.openActions()) {
    const other = spec.claim && picture.claim(spec.claim.name);
    if (spec.method !== "Terminate" || other?.pool !== pool || other?.uid !== spec.claim?.uid) continue;
    if (other === undefined || other.name === name || other.deletingSince !== undefined) continue;
    if (spec.action !== "ScaleDown" || other.name < name) going.add(other.name);
  }
  return going.size;
}
