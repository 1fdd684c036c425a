// A claim becomes a node: finalizer, launch, registration, initialization, one after the other. Only claims whose class
// our provider serves; those that are being deleted are termination's. No step has a time-out of its own.

import type { NodeClaimStatus } from "../api/node-claim.ts";
import { formatTime, type Instant, type Millis, secondMs } from "../api/time.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { NodeClassRef, ProviderView } from "../snapshot/picture.ts";
import { shortageReasons } from "../snapshot/shortages.ts";
import type { ClaimView, NodeView, PoolView } from "../snapshot/views.ts";
import {
  claimParts,
  conditionOf,
  isTrue,
  sameConditions,
  withAwaiting,
  withCondition,
  withReady,
} from "./conditions.ts";
import {
  type Command,
  type ConditionChange,
  type Context,
  type Decision,
  type Notice,
  nothing,
  type Rule,
  type StatusChange,
  type Target,
} from "./decision.ts";
import { laneOf } from "./lane.ts";
import { firstReadyTime, initialization, type Step } from "./initialization.ts";
import { type Hold, hasFailedToLaunch, launchHold } from "./launch.ts";
import { isRecorded } from "./launch-record.ts";
import { nodeClassLabel, servedClass } from "./node-class.ts";
import { notRegistered, registration } from "./registration.ts";

/** So long the status of a claim that was launched waits for that of its node: then it says both in one. */
const joinsSoonMs: Millis = 5 * secondMs;

export const lifecycle: Rule = {
  name: "lifecycle",
  controller: "lifecycle",
  kind: "claim",
  decide(name, context) {
    const claim = context.picture.claim(name);
    return claim === undefined || claim.isProvisional || claim.deletingSince !== undefined
      ? nothing
      : decideLifecycle(claim, context);
  },
};

function decideLifecycle(claim: ClaimView, context: Context): Decision {
  const nodeClass = servedClass(claim.spec.nodeClassRef, context.picture.provider);
  if (nodeClass === undefined) return claim.spec.nodeClassRef ? nothing : withoutClass(claim, context);
  if (!claim.finalizers.includes(terminationFinalizer)) return begin(claim, nodeClass);
  return claim.providerID === undefined ? launch(claim, nodeClass, context) : arrive(claim, context);
}

function withoutClass(claim: ClaimView, { picture }: Context): Decision {
  return refused(claim, {
    code: "no-node-class",
    message: `Claim ${claim.name} names no node class, and the provider ${picture.provider.name} has no default.`,
    liftedBy: "a claim with a nodeClassRef",
  });
}

// Before anything else: once an instance may exist, the claim must not go without it.
function begin(claim: ClaimView, nodeClass: NodeClassRef): Decision {
  const labels = nodeClassLabel(nodeClass);
  const isLabelled = Object.keys(labels).every(key => claim.labels[key] !== undefined);
  const metadata = { addFinalizers: [terminationFinalizer], ...(isLabelled ? {} : { labels }) };
  const conditions = withReady(withAwaiting(claim.conditions, claimParts), claimParts);
  const why = `Claim ${claim.name} may not go before its instance.`;
  const status = sameConditions(claim.conditions, conditions) ? {} : { status: { conditions } };
  const { resourceVersion } = claim;
  return decided({
    commands: [{ kind: "update-claim", claim: targetOf(claim), resourceVersion, metadata, ...status, why }],
  });
}

function launch(claim: ClaimView, nodeClass: NodeClassRef, { picture, now }: Context): Decision {
  const pool = claim.pool === undefined ? undefined : picture.pool(claim.pool);
  if (hasFailedToLaunch(claim)) return giveUp(claim, recorder(pool, picture.provider));
  const hold = launchHold({ pool, nodeClass, provider: picture.provider }, now);
  if (hold !== undefined) return held(claim, hold);
  const why = `Claim ${claim.name} has no instance.`;
  const command: Command = { kind: "launch-instance", claim: targetOf(claim), why };
  const failure = picture.failure(laneOf(command));
  if (failure === undefined || failure.retryAt <= now) return decided({ commands: [command] });
  const refusal = refused(claim, {
    code: "launch-failed",
    message: `The last try for claim ${claim.name} failed (${failure.reason || "no answer"}): ${failure.message}; the next is at ${formatTime(failure.retryAt)}.`,
    until: failure.retryAt,
    liftedBy: "the next try",
  });
  return { ...refusal, wakeAt: failure.retryAt };
}

/** The pool that keeps account of its launches; one that goes, or is another's, does not. */
function recorder(pool: PoolView | undefined, provider: ProviderView): PoolView | undefined {
  if (pool === undefined || pool.deletingSince !== undefined) return undefined;
  return servedClass(pool.effective.template.nodeClassRef, provider) && pool;
}

// Nothing runs for it, and a new claim may be luckier. The pool must know first, or it would try again at once.
function giveUp(claim: ClaimView, pool: PoolView | undefined): Decision {
  const launched = conditionOf(claim.conditions, "Launched");
  if (pool !== undefined && !isRecorded(claim, pool)) {
    const message = `Claim ${claim.name} goes once pool ${pool.name} has noted that it could not be launched.`;
    return refused(claim, { code: "failure-not-recorded", message, liftedBy: `the note on pool ${pool.name}` });
  }
  const message = `Claim ${claim.name} could not be launched: ${launched?.message}`;
  const { resourceVersion } = claim;
  return decided({
    commands: [{ kind: "delete-claim", claim: targetOf(claim), resourceVersion, why: message }],
    notices: shortageReasons.includes(launched?.reason ?? "")
      ? [notice(claim, "InsufficientCapacityError", message)]
      : [],
  });
}

function held(claim: ClaimView, { reason, ...hold }: Hold): Decision {
  const launched = { type: "Launched", status: "Unknown", reason, message: hold.message };
  const conditions = withReady(withCondition(claim.conditions, launched), claimParts);
  const commands = update(claim, { conditions }, `Claim ${claim.name} is not launched yet.`);
  return { ...refused(claim, hold), commands, wakeAt: hold.until };
}

// The node is written first; the claim says what the node shows. As long as a write of the node is expected to succeed the
// claim waits for it, and says both in one.
function arrive(claim: ClaimView, context: Context): Decision {
  const { picture, now } = context;
  const { node, doubt, wakeAt, ...registered } = registration(claim, context);
  const steps: readonly Step[] = node
    ? [registered, initialization(claim, node)]
    : [registered, initializedLater(claim)];
  const launched = { type: "Launched", status: "True", reason: "Launched", message: "" };
  const found = steps.flatMap(({ condition }) => condition ?? []);
  const conditions = [launched, ...found].reduce(withCondition, withAwaiting(claim.conditions, claimParts));
  const status = { ...(node ? seenOf(claim, node) : {}), conditions: withReady(conditions, claimParts, doubt) };
  const why = `Claim ${claim.name} says how far its node is.`;
  const first = steps.flatMap(({ commands }) => commands);
  const mayWait = first.length > 0 && first.every(command => picture.failure(laneOf(command)) === undefined);
  const writeAt = node === undefined ? launchWriteAt(claim) : undefined;
  const isSoon = writeAt !== undefined && now < writeAt;
  return {
    ...nothing,
    commands: mayWait || isSoon ? first : [...first, ...update(claim, status, why)],
    refusals: steps.flatMap(({ refusals }) => refusals),
    notices: [...steps.flatMap(({ notices }) => notices), ...reached(claim, found)],
    wakeAt: isSoon ? Math.min(writeAt, wakeAt ?? writeAt) : wakeAt,
  };
}

// A launch that nobody has written down is found by the claim's uid when it is asked for again: nothing is lost meanwhile.
function launchWriteAt({ unwritten }: ClaimView): Instant | undefined {
  return unwritten && unwritten.since + joinsSoonMs;
}

function initializedLater(claim: ClaimView): Step {
  const condition = { type: "Initialized", status: "Unknown", reason: "NodeNotFound", message: notRegistered };
  return {
    ...(isTrue(claim.conditions, "Initialized") ? {} : { condition }),
    commands: [],
    refusals: [],
    notices: [],
  };
}

function seenOf(claim: ClaimView, node: NodeView): Pick<NodeClaimStatus, "nodeName" | "firstReadyTime"> {
  const ready = firstReadyTime(claim, node);
  return {
    ...(claim.status.nodeName === node.name ? {} : { nodeName: node.name }),
    ...(ready === undefined ? {} : { firstReadyTime: ready }),
  };
}

function reached(claim: ClaimView, found: readonly ConditionChange[]): Notice[] {
  return found
    .filter(({ type, status }) => status === "True" && !isTrue(claim.conditions, type))
    .map(({ type }) => notice(claim, type, `Claim ${claim.name} is ${type.toLowerCase()}.`));
}

function update(claim: ClaimView, change: StatusChange<NodeClaimStatus>, why: string): readonly Command[] {
  const { conditions = [], ...fields } = { ...claim.unwritten?.status, ...change };
  if (sameConditions(claim.conditions, conditions) && Object.keys(fields).length === 0) return [];
  const status = { ...fields, conditions };
  return [{ kind: "update-claim", claim: targetOf(claim), resourceVersion: claim.resourceVersion, status, why }];
}

function refused(claim: ClaimView, hold: Omit<Hold, "reason">): Decision {
  return { ...nothing, refusals: [{ subject: `claim/${claim.name}`, ...hold }] };
}

function notice(claim: ClaimView, reason: string, message: string): Notice {
  const type = reason === "InsufficientCapacityError" ? "Warning" : "Normal";
  return { about: { kind: "NodeClaim", ...targetOf(claim) }, type, reason, message };
}

function decided(parts: Partial<Decision>): Decision {
  return { ...nothing, ...parts };
}

function targetOf({ name, uid }: ClaimView): Target {
  return { name, uid };
}
