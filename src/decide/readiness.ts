// How long a node may take to become Ready: readinessTTL, from its registration, or from the claim's creation where none
// registered. Ends claims on which nothing ever ran, or whose Node object vanished and did not come back in that time; a registered node that was never Ready is left to repair.

import { formatTime, type Instant, parseDuration } from "../api/time.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import { type Context, type Decision, type Notice, nothing, type Rule } from "./decision.ts";
import { claimShownOnly } from "./dry-run.ts";
import { hasFailedToLaunch } from "./launch.ts";
import { servedClass } from "./node-class.ts";
import { nodelessSince } from "./registration.ts";
import { ofNode, repairHold } from "./repair-hold.ts";
import { type Objection, standstill } from "./safety.ts";
import { isTooMany } from "./stray-instances.ts";

/** Of many only some are named. */
const namesMax = 5;

/** Whether the TTL has nothing more to say. Only what stands on the claim, and what the node says now. */
export function hasBeenReady({ status, conditions }: ClaimView, node: NodeView): boolean {
  const isRecorded = status.firstReadyTime !== undefined || isTrue(conditions, "Initialized");
  return isRecorded || isTrue(node.conditions, "Ready");
}

export type ReadinessLimit = { readonly since: Instant; readonly ttl: string; readonly dueAt: Instant };
export type Unreadable = { readonly doubt: string };

/** From registration; undefined: it has not registered. */
export function readyBy(claim: ClaimView): ReadinessLimit | Unreadable | undefined {
  const registered = conditionOf(claim.conditions, "Registered");
  return registered?.status === "True" ? limitFrom(registered.since ?? claim.createdAt, claim) : undefined;
}

/** By when a claim must have come up, wherever it is on its way. */
export function comesBy(claim: ClaimView): ReadinessLimit | Unreadable {
  return readyBy(claim) ?? limitFrom(waitedForSince(claim) ?? claim.createdAt, claim);
}

/**
 * From its creation, but no earlier than when our own clock saw it first, as the condition says that we wrote then: with
 * a clock that is ahead of the server's each claim would be too old at birth, and be made and ended without end.
 */
function waitedForSince({ conditions, createdAt }: ClaimView): Instant | undefined {
  const seenAt = conditionOf(conditions, "Registered")?.since;
  return seenAt === undefined ? undefined : Math.max(createdAt, seenAt);
}

function limitFrom(since: Instant, { name, spec }: ClaimView): ReadinessLimit | Unreadable {
  const ttl = parseDuration(spec.readinessTTL);
  if (!ttl.ok) return { doubt: `readinessTTL of claim ${name} cannot be read: ${ttl.error}` };
  return { since, ttl: spec.readinessTTL, dueAt: since + ttl.value };
}

export const readiness: Rule = { name: "readiness", controller: "lifecycle", kind: "claim", decide: decideReadiness };

/** Judges one claim. No brake: nothing runs on what never registered. */
export function decideReadiness(name: string, context: Context): Decision {
  const { picture, now } = context;
  const claim = picture.claim(name);
  if (claim === undefined || claim.isProvisional || claim.deletingSince !== undefined) return nothing;
  if (servedClass(claim.spec.nodeClassRef, picture.provider) === undefined) return nothing;
  const vanishedAt = nodelessSince(claim);
  // One that is back is seen by the claim's lifecycle, which says so.
  if (vanishedAt !== undefined && picture.nodesOf(claim).length > 0) return nothing;
  if (vanishedAt !== undefined) return vanished(claim, limitFrom(vanishedAt, claim), context);
  const registered = readyBy(claim);
  const since = waitedForSince(claim);
  // Not seen by its lifecycle yet; what that writes asks again.
  if (since === undefined) return nothing;
  const limit = registered ?? limitFrom(since, claim);
  if ("doubt" in limit) return unreadable(claim, limit);
  const judge = registered === undefined ? unregistered : uninitialized;
  return now < limit.dueAt ? { ...nothing, wakeAt: limit.dueAt } : judge(claim, limit, context);
}

const byHand = { liftedBy: "a person deleting the claim" };

function unreadable(claim: ClaimView, { doubt }: Unreadable): Decision {
  return refused(claim, { code: "readiness-ttl-unreadable", message: `${doubt}.`, ...byHand });
}

/**
 * Its Node object is gone, though nobody deleted it through us: a kubelet that runs makes it anew, and has as long for
 * that as for the first time.
 */
function vanished(claim: ClaimView, limit: ReadinessLimit | Unreadable, context: Context): Decision {
  if ("doubt" in limit) return unreadable(claim, limit);
  if (context.now < limit.dueAt) return { ...nothing, wakeAt: limit.dueAt };
  const node = claim.status.nodeName ?? "its node";
  const why = `Claim ${claim.name} lost ${node} at ${formatTime(limit.since)}, and it has not come back within the readinessTTL of ${limit.ttl}, until ${formatTime(limit.dueAt)}.`;
  return ended(claim, { held: notAlone(claim, context), why }, context);
}

/** Machines fail one by one; Node objects of several are lost by whoever deletes objects, and their machines run. */
function notAlone({ name, pool }: ClaimView, { picture }: Context): Objection | undefined {
  const everywhere = picture.nodelessClaims();
  const ofPool = everywhere.filter(claim => claim.pool === pool);
  if (ofPool.length <= 1 && !isTooMany(everywhere.length, picture.claimCount)) return undefined;
  const lost = ofPool.length > 1 ? ofPool : everywhere;
  const whose = ofPool.length > 1 ? ` of ${pool === undefined ? "no pool" : `pool ${pool}`}` : "";
  const names = lost.slice(0, namesMax).map(claim => claim.name);
  const more = lost.length > namesMax ? ` and ${lost.length - namesMax} more` : "";
  return {
    code: "nodes-vanished",
    message: `Claim ${name} is not the only one${whose} whose node has vanished (${names.join(", ")}${more}): that looks like lost Node objects, not like lost machines, so none of them goes.`,
    liftedBy: "their nodes coming back, or a person deleting the claims",
  };
}

function unregistered(claim: ClaimView, { ttl, dueAt }: ReadinessLimit, context: Context): Decision {
  // It goes already, for another reason.
  if (hasFailedToLaunch(claim)) return nothing;
  const stage = claim.providerID === undefined ? "was not launched" : "brought no node";
  const why = `Claim ${claim.name} ${stage} within its readinessTTL of ${ttl}, until ${formatTime(dueAt)}.`;
  return ended(claim, { held: present(claim, context), why }, context);
}

type End = { readonly held: Objection | undefined; readonly why: string };

function ended(claim: ClaimView, { held, why }: End, context: Context): Decision {
  const hold = held ?? onHold(claim, context) ?? standstill(context) ?? claimShownOnly(claim, why, context);
  if (hold !== undefined) return refused(claim, hold);
  const { name, uid, resourceVersion } = claim;
  return {
    ...nothing,
    commands: [{ kind: "delete-claim", claim: { name, uid }, resourceVersion, why }],
    notices: [warning(claim, "ReadinessTTLExceeded", why)],
  };
}

/** A node that is there may only wait for our own write, and in any case something may run on it. */
function present(claim: ClaimView, { picture }: Context): Objection | undefined {
  const names = picture.nodesOf(claim).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return {
    code: "node-not-registered",
    message: `Claim ${claim.name} has not registered within its readinessTTL, but is not without a node: ${names.join(", ")}.`,
    liftedBy: "its registration; see what holds that up",
  };
}

function onHold(claim: ClaimView, { picture, now }: Context): Objection | undefined {
  const pool = claim.pool === undefined ? undefined : picture.pool(claim.pool);
  return repairHold(ofNode({ claim, pool }), now);
}

/** Ready, and yet not initialized: something else is amiss than the node, so it is told and the node stays. */
function uninitialized(claim: ClaimView, { ttl, dueAt }: ReadinessLimit, { picture }: Context): Decision {
  const [node] = picture.nodesOf(claim);
  const initialized = conditionOf(claim.conditions, "Initialized");
  // Not Ready is no news here: it has just become so and is about to be looked at, or it is sick.
  if (initialized?.status === "True" || initialized?.reason === "NodeNotReady") return nothing;
  if (node === undefined || !hasBeenReady(claim, node)) return nothing;
  const wanting = initialized?.message || "nothing is said of why";
  const message = `Node ${node.name} has been Ready, but claim ${claim.name} was not initialized within ${ttl} of its registration, until ${formatTime(dueAt)}: ${wanting}`;
  const liftedBy = "what its initialization waits for";
  return {
    ...refused(claim, { code: "not-initialized", message, liftedBy }),
    notices: [warning(claim, "NotInitialized", message)],
  };
}

function refused({ name }: ClaimView, objection: Objection): Decision {
  return { ...nothing, refusals: [{ subject: `claim/${name}`, ...objection }], wakeAt: objection.until };
}

function warning({ name, uid }: ClaimView, reason: string, message: string): Notice {
  return { about: { kind: "NodeClaim", name, uid }, type: "Warning", reason, message };
}
