// Carries an action of the ledger from its entry to its end: adopts what an older leader left, starts what is pending,
// closes what is over. The way in between is the termination's or the reboot's; whether an action may begin was the arbiter's.

import type { MachineName } from "../api/cluster-api.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { ownRemediationKinds } from "../api/remediation.ts";
import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import { endedStep } from "../snapshot/ended-remediations.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { waitsForReplacement } from "../snapshot/waiting-action.ts";
import { reasonOf } from "./conditions.ts";
import { type ActionProgress, type Command, type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { dryRunCode, dryRunOfAll } from "./dry-run.ts";
import { lapsed } from "./disruption/lapsed.ts";
import { replacementsAwaited } from "./disruption-reason.ts";
import { contradiction, type Live, noRemediation } from "./evidence.ts";
import { awaitedPlaces, goesWithout } from "./gentle-repair.ts";
import { excluded } from "./health-check/ask.ts";
import { heldFromRepair } from "./health-check/left-to-repair.ts";
import { sightOf } from "./health-check/templates.ts";
import { instantOf, isDryRun, isOpen, reasonsOf } from "./ledger.ts";
import { servedClass } from "./node-class.ts";
import { noLongerAsked } from "./repair-again.ts";
import { ofNode, repairHold } from "./repair-hold.ts";
import { awaited, startBy, type Wait } from "./replacement.ts";
import { retire } from "./retention.ts";
import type { Objection } from "./safety.ts";
import { hasStarted, sayWait, startHold, unwritten } from "./start-hold.ts";

/** How long an action that others carry out may wait for them. */
const takenUpMaxMs = 10 * minuteMs;
/** Claims and nodes are watched apart: so long may one be seen after the other has gone. */
const remainsMaxMs = 5 * minuteMs;

export const ledgerRule: Rule = { name: "ledger", controller: "ledger", kind: "action", decide: decideAction };

export type Holding = { readonly holds: true } | { readonly holds: false; readonly why: string };

/** Whether the action is still about this node and still has a reason. Asked before its first destructive call. */
export function stillHolds(spec: NodeActionSpec, live: Live, context: Context): Holding {
  const { node, claim } = live;
  if (spec.claim !== undefined && claim?.uid !== spec.claim.uid) {
    return no(`NodeClaim ${spec.claim.name} (${spec.claim.uid}) is gone`);
  }
  // What has begun goes on, whoever began it.
  if (spec.claim !== undefined && claim?.deletingSince !== undefined) return { holds: true };
  if (node?.uid !== spec.node.uid) return no(`node ${spec.node.name} (${spec.node.uid}) is gone`);
  if (spec.method === "Terminate" && spec.claim === undefined && spec.machine === undefined) {
    return no("the node has no NodeClaim to delete");
  }
  const [first, ...joined] = reasonsOf(spec).map(reason => doubtOf(reason, live, context));
  const whys = [first ?? withdrawn(spec, context) ?? keptBack(spec, live, context), ...joined];
  return whys.includes(undefined) ? { holds: true } : no(whys.join("; "));
}

/** What our own remediators were asked for by an object that is gone, whoever took it away. */
function withdrawn({ action, policy, node }: NodeActionSpec, { picture }: Context): string | undefined {
  const kind = action === "Remediation" ? ownRemediationKinds.find(one => one.kind === policy?.kind) : undefined;
  // One that is not listed yet may be there.
  if (kind === undefined || picture.checks.kind(kind).state !== "Served") return undefined;
  const why = noRemediation(node.name, picture);
  return why === undefined ? undefined : `${action}: ${why}`;
}

/** Who keeps the node from remediation may have said so a moment ago: the watch may be late. */
function keptBack({ action, method }: NodeActionSpec, { node }: Live, context: Context): string | undefined {
  if (action !== "Remediation" || node === undefined) return undefined;
  const held = excluded({ node }) ?? (method === "Remediate" ? undefined : heldFromRepair(node, context));
  return held && `${action}: ${held.message.replace(/\.$/, "")}`;
}

/** Why one reason of an action does not hold now. Asked before it joins what has begun, too: it may turn it into force. */
export function doubtOf(
  reason: Pick<NodeActionSpec, "action" | "askedBy" | "evidence" | "termination">,
  live: Live,
  context: Context,
): string | undefined {
  const { action, evidence } = reason;
  const isForced = reason.termination === "Forceful";
  const { node, claim } = live;
  const pool = claim?.pool === undefined ? undefined : context.picture.pool(claim.pool);
  const isHeld = action === "Repair" && node !== undefined;
  const held = isHeld ? repairHold(ofNode({ node, claim, pool }), context.now) : undefined;
  const unasked = isHeld && claim ? noLongerAsked(evidence, { node, claim, isForced }, context.picture) : undefined;
  const unplanned = node && claim ? lapsed(reason, { node, claim }, context) : undefined;
  // Several of them are put together into one sentence.
  const why = held?.message.replace(/\.$/, "") ?? contradiction(evidence, live, context) ?? unasked ?? unplanned;
  return why === undefined ? undefined : `${action}: ${why}`;
}

function no(why: string): Holding {
  return { holds: false, why };
}

function decideAction(name: string, context: Context): Decision {
  const action = context.picture.action(name);
  if (action === undefined || action.isProvisional) return nothing;
  if (!isOpen(action)) return retire(action, context);
  if (isDryRun(action)) return dryRunOf(action);
  if (action.spec.epoch > context.epoch) return ofNewerLeader(action, context);
  const word = dryRunOfAll(context);
  if (word !== undefined) return standsStill(action, word, context);
  const { staleness } = context.picture;
  if (staleness !== undefined) {
    const message = `The picture of ${staleness.resource} is too old to go on: ${staleness.message}`;
    return held(action, { code: "picture-stale", message, liftedBy: "the watch catching up" });
  }
  return decideOpen(action, context);
}

/** Those that were there when our term began are older: it began above them all. This one came since. */
function ofNewerLeader(action: ActionView, { epoch }: Context): Decision {
  const message = `NodeAction ${action.name} says that a newer leader has it (epoch ${action.spec.epoch}); this one's is ${epoch}.`;
  const liftedBy = `that leader; if there is none, a restart of the controller, or deleting NodeAction ${action.name}`;
  return waitsFor(action, { code: "newer-leader", message, liftedBy });
}

/** What is real and has been written down stays as it is while everything is only shown. */
function standsStill(action: ActionView, word: string, { picture, settings }: Context): Decision {
  const message = `NodeAction ${action.name} stands still, because ${word}.`;
  const hold = { code: dryRunCode, message, liftedBy: "ending the dry run" };
  // On the object it is said only where the cluster itself asks for the dry run: by a flag, or beside another
  // controller, nothing that is real is touched.
  const mayBeSaid = !settings.dryRun && picture.rival === undefined;
  return mayBeSaid ? waitsFor(action, hold) : held(action, hold);
}

/** The entry was written, and its phase was not. */
function dryRunOf(action: ActionView): Decision {
  return action.status.phase === "DryRun" ? nothing : update(action, { phase: "DryRun" }, "It is only shown.");
}

type Scene = { readonly node: NodeView | undefined; readonly claim: ClaimView | undefined };

function decideOpen(action: ActionView, context: Context): Decision {
  const { spec } = action;
  const node = context.picture.nodeByUid(spec.node.uid);
  const named = spec.claim && context.picture.claim(spec.claim.name);
  const claim = named?.uid === spec.claim?.uid ? named : undefined;
  if (node === undefined && claim === undefined) return gone(action);
  if (claim === undefined && spec.claim !== undefined) return remains(action, context);
  if (spec.epoch < context.epoch) return adopt(action, { node, claim }, context);
  if (claim?.deletingSince !== undefined) return underWay(action, claim, context);
  if (node === undefined) return withoutNode(action);
  if (spec.method === "Remediate") return otherMeans(action, context);
  // From there it is the reboot rule's.
  if (spec.method === "Reboot" && hasStarted(action)) return nothing;
  if (spec.machine !== undefined && hasStarted(action)) return leftToMachine(action, spec.machine);
  const scene = { node, claim };
  return waitFirst(action, scene, context) ?? start(action, context, goesWithout(action, node, context));
}

function gone(action: ActionView): Decision {
  const { node, claim } = action.spec;
  const outcome = claim ? `Node ${node.name} and its NodeClaim ${claim.name} are gone.` : `Node ${node.name} is gone.`;
  return update(action, { phase: "Done", waitingFor: null, outcome }, outcome);
}

/** The claim has gone and the node is still seen: it follows, or somebody took the claim's finalizer away. */
function remains(action: ActionView, { now }: Context): Decision {
  const { node, claim } = action.spec;
  const message = `NodeClaim ${claim?.name} is gone, and node ${node.name} is still there.`;
  const { waitingFor } = action.status;
  const since = waitingFor?.reason === "NodeRemains" ? instantOf(waitingFor.since) : undefined;
  if (since === undefined) {
    return update(action, { phase: "Running", waitingFor: { reason: "NodeRemains", message } }, message);
  }
  if (now < since + remainsMaxMs) {
    const until = since + remainsMaxMs;
    return held(action, { code: "node-remains", message, until, liftedBy: `the end of node ${node.name}` });
  }
  const error = `${message} Its machine may still run: see to it by hand.`;
  return update(action, { phase: "Failed", waitingFor: null, error, outcome: message }, error);
}

/** What an older leader began is ours now; what it only meant to begin must still have its reason. */
function adopt(action: ActionView, { node, claim }: Scene, context: Context): Decision {
  const live = { ...(node ? { node } : {}), ...(claim ? { claim } : {}) };
  const holding = stillHolds(action.spec, live, context);
  if (!hasStarted(action) && !isRemediated(action, context) && !holding.holds) {
    return giveUp(
      action,
      `Not begun by the leader of epoch ${action.spec.epoch}, and without a reason now: ${holding.why}.`,
    );
  }
  const { name, uid, resourceVersion } = action;
  const why = `Adopted from the leader of epoch ${action.spec.epoch}.`;
  const spec = { epoch: context.epoch };
  return { ...nothing, commands: [{ kind: "update-action", why, action: { name, uid }, resourceVersion, spec }] };
}

/** What was made for it is there, or may be, though nobody came to write that down: it has begun. */
function isRemediated({ spec }: ActionView, context: Context): boolean {
  const { checks } = context.picture;
  const check = spec.method === "Remediate" ? checks.check(spec.askedBy.name) : undefined;
  if (check === undefined || check.uid !== spec.askedBy.uid) return false;
  return sightOf(check, context) !== "Whole" || checks.remediationsOf(check, spec.node.name).length > 0;
}

/** The termination rule carries our own claims; another controller its own. */
function underWay(action: ActionView, claim: ClaimView, { picture }: Context): Decision {
  if (servedClass(claim.spec.nodeClassRef, picture.provider) !== undefined) return nothing;
  const message = `NodeClaim ${claim.name} is deleted; its own controller takes the node away.`;
  const { phase, waitingFor } = action.status;
  if (phase !== "Running" || waitingFor?.message !== message) {
    return update(action, { phase: "Running", waitingFor: { reason: "ForeignController", message } }, message);
  }
  return held(action, { code: "left-to-owner", message, liftedBy: "the controller of the claim's class" });
}

/** Cluster API drains the node and ends its instance. */
function leftToMachine(action: ActionView, { namespace, name }: MachineName): Decision {
  const message = `Machine ${namespace}/${name} is deleted; Cluster API takes node ${action.spec.node.name} away.`;
  const hold = { code: "left-to-owner", message, liftedBy: `the end of Machine ${namespace}/${name}` };
  return waitsFor(action, hold);
}

function withoutNode(action: ActionView): Decision {
  const { name, uid } = action.spec.node;
  return giveUp(action, `Node ${name} (${uid}) went before anything was ${hasStarted(action) ? "over" : "done"}.`);
}

/** Remediations are carried out by the rule that asks for them. One that nobody takes up ends. */
function otherMeans(action: ActionView, context: Context): Decision {
  if (hasStarted(action)) return context.settings.checks === false ? handedOver(action) : nothing;
  const { method, node } = action.spec;
  const message = `${method} of node ${node.name} has not been taken up.`;
  const until = startBefore(action, takenUpMaxMs);
  if (until <= context.now) return tooLate(action, context);
  return held(action, { code: "not-begun", message, until, liftedBy: `whoever carries out ${method}` });
}

/** Nobody here would ever end it, and until then it kept its place and the node from everybody else. */
function handedOver(action: ActionView): Decision {
  const { node, askedBy } = action.spec;
  const steps = [...(action.status.steps ?? []), { name: endedStep }].map(({ name }) => ({ name, isFinished: true }));
  const outcome = `The remediation of node ${node.name} is left to whoever looks after NodeHealthCheck ${askedBy.name} now: health-checks is not among --controllers.`;
  return update(action, { phase: "Done", waitingFor: null, steps, outcome }, outcome);
}

/** What it waits for beside leave to start; undefined: nothing. Whoever deletes the node waits for nobody. */
function waitFirst(
  action: ActionView,
  { node, claim }: Scene & { readonly node: NodeView },
  context: Context,
): Decision | undefined {
  const places = awaitedPlaces(action, node, context);
  if (places !== undefined) return waitsFor(action, places.hold, places.until);
  if (!waitsForReplacement(action) || node.deletingSince !== undefined) return undefined;
  const holding = stillHolds(action.spec, { node, ...(claim ? { claim } : {}) }, context);
  if (!holding.holds) return giveUp(action, `Given up before it began: ${holding.why}.`);
  const found = awaited(action, node, context);
  if (found === undefined) return undefined;
  if ("failure" in found) return giveUp(action, `Given up before it began: ${found.failure}.`);
  const { hold, until, isMade, commands } = found;
  const told = tellWait(action, { hold, isMade });
  return {
    ...held(action, hold),
    commands: [...told, ...commands],
    notices: replacementsAwaited(action, context.picture),
    wakeAt: nextLook(until, hold),
  };
}

/** How far each replacement is, is said of the claims; here once, that they are waited for. */
function tellWait(action: ActionView, { hold, isMade }: Pick<Wait, "hold" | "isMade">): readonly Command[] {
  const { phase, waitingFor } = action.status;
  const replacements = action.spec.replacements ?? [];
  const isForClaims = hold.code === "replacement-not-ready";
  const names = replacements.map(({ name }) => name).join(", ");
  const message = isForClaims ? `Its replacements must be initialized first: ${names}.` : hold.message;
  const isNext = isMade && replacements.length > 0 && phase !== "WaitingForReplacement";
  const isSaid = waitingFor?.message === message || unwritten.has(hold.code) || (isForClaims && !isMade);
  if (isSaid && !isNext) return [];
  const waits = { waitingFor: { reason: reasonOf(hold.code), message } };
  const progress = { ...(isNext ? { phase: "WaitingForReplacement" as const } : {}), ...waits };
  return update(action, progress, message).commands;
}

function start(action: ActionView, context: Context, without?: string): Decision {
  const { name, uid, spec } = action;
  const until = startBy(action, context);
  if (until <= context.now && !hasStarted(action)) return tooLate(action, context);
  const hold = startHold(action, context);
  if (hold !== undefined) return waitsFor(action, hold, until);
  const why = without === undefined ? spec.message : `${spec.message} ${without}`;
  const commands: readonly Command[] = [{ kind: "start-action", why, action: { name, uid } }];
  const end = hasStarted(action) || !Number.isFinite(until) ? undefined : until;
  const failure = context.picture.failure(`action/${name}`);
  if (failure === undefined) return { ...nothing, commands, wakeAt: end };
  const message = `NodeAction ${name} could not be started: ${failure.message}`;
  const { retryAt } = failure;
  const refused = held(action, { code: "start-failed", message, until: retryAt, liftedBy: "an answer of the server" });
  if (retryAt <= context.now) return { ...refused, commands, wakeAt: end };
  return { ...refused, wakeAt: Math.min(retryAt, end ?? retryAt) };
}

/** What an action that has not begun waits for, or why it does no longer, as one text. */
export function waitOf(action: ActionView, context: Context): string {
  const node = context.picture.nodeByUid(action.spec.node.uid);
  const named = action.spec.claim && context.picture.claim(action.spec.claim.name);
  const claim = named?.uid === action.spec.claim?.uid ? named : undefined;
  const first = node && waitFirst(action, { node, claim }, context);
  const { code = "", until = "", message = "" } = (first ? first.refusals[0] : startHold(action, context)) ?? {};
  return [code, until, message, ...(first?.commands.map(({ why }) => why) ?? [])].join(" ");
}

function waitsFor(action: ActionView, hold: Objection, giveUpAt = Number.POSITIVE_INFINITY): Decision {
  return { ...held(action, hold), commands: sayWait(action, hold), wakeAt: nextLook(giveUpAt, hold) };
}

function nextLook(giveUpAt: Instant, { until }: Objection): Instant | undefined {
  const wakeAt = Math.min(giveUpAt, until ?? giveUpAt);
  return Number.isFinite(wakeAt) ? wakeAt : undefined;
}

function startBefore({ spec, createdAt }: ActionView, maxMs: Millis): Instant {
  return (instantOf(spec.decidedAt) ?? createdAt) + maxMs;
}

function tooLate(action: ActionView, { picture }: Context): Decision {
  const cause =
    picture.failure(`action/${action.name}`)?.message ?? action.status.waitingFor?.message ?? "no reason is known";
  return giveUp(action, `It was not begun in time, and its reason is asked for anew: ${cause}`);
}

function giveUp(action: ActionView, outcome: string): Decision {
  return update(action, { phase: "Abandoned", waitingFor: null, outcome }, outcome);
}

function update({ name, uid, resourceVersion }: ActionView, progress: ActionProgress, why: string): Decision {
  const command: Command = { kind: "update-action", why, action: { name, uid }, resourceVersion, progress };
  return { ...nothing, commands: [command] };
}

function held({ name }: ActionView, reason: Objection): Decision {
  return { ...nothing, refusals: [{ subject: `action/${name}`, ...reason }], wakeAt: reason.until };
}
