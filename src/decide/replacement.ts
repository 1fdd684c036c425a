// What an action of a plan waits for before it starts, and when it is given up: its replacements are initialized, its
// node has stood still, and a fresh look says that every pod has a place. Nothing else waits meanwhile, and nothing is
// remembered: after a restart the claims and the ledger tell how far it is.

import { formatTime, type Instant, type Millis, minuteMs } from "../api/time.ts";
import { isSameTaint } from "../api/taint.ts";
import { disruptedTaint, replacementForKey } from "../api/well-known.ts";
import type { Move } from "../snapshot/moves.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { PlannedClaim } from "../snapshot/placement.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import type { Command, Context } from "./decision.ts";
import { isForMoney } from "./disruption/search-worth.ts";
import { placesSince } from "./gentle-repair.ts";
import { hasFailedToLaunch } from "./launch.ts";
import { instantOf, isDryRun, isOpen } from "./ledger.ts";
import { comesBy } from "./readiness.ts";
import { type Objection, policyHold } from "./safety.ts";

/** How long an action may wait for its start, from its decision or from when its replacements were there. */
const startMaxMs: Millis = 10 * minuteMs;

export type Wait = {
  readonly hold: Objection;
  /** All its claims are there. */
  readonly isMade: boolean;
  /** When it is given up. */
  readonly until: Instant;
  readonly commands: readonly Command[];
};
export type Failure = { readonly failure: string };

/** Undefined: it may start. `node`: the one that is to go. */
export function awaited(action: ActionView, node: NodeView, context: Context): Wait | Failure | undefined {
  const apart = leftAlone(action, context.picture);
  if (apart !== undefined) return { failure: apart };
  const states = (action.spec.replacements ?? []).map(({ name }) => stateOf(name, action, context));
  const missing = states.filter(state => state !== "there");
  const failed = missing.find(state => "failure" in state);
  if (failed !== undefined) return failed;
  const coming = missing.filter(state => "message" in state);
  const hold = coming.length > 0 ? onTheWay(coming, node) : notYet(action, context.picture);
  if (hold === undefined || "failure" in hold) return hold;
  const until = coming.length > 0 ? comingBy(coming, context) : startBy(action, context);
  if (until <= context.now) return { failure: late(until, coming, hold) };
  const isMade = coming.every(({ isMade: made }) => made);
  return { hold, until, isMade, commands: isMade ? closing(node) : [] };
}

function late(until: Instant, coming: readonly Coming[], { message }: Objection): string {
  if (coming.length === 0) return `until ${formatTime(until)} this held it: ${bare(message)}`;
  return `its replacements were not there by ${formatTime(until)}: ${coming.map(one => one.message).join("; ")}`;
}

/** Nothing is late by a clock that nobody can believe. */
function comingBy(coming: readonly Coming[], { picture }: Context): Instant {
  if (picture.clockAheadMs !== undefined) return Number.POSITIVE_INFINITY;
  return Math.min(...coming.map(one => one.until));
}

/** Until when it must have started. */
export function startBy(action: ActionView, context: Context): Instant {
  const { picture } = context;
  if (picture.clockAheadMs !== undefined) return Number.POSITIVE_INFINITY;
  const since = (action.spec.replacements ?? []).map(({ name }) => {
    const initialized = conditionOf(picture.claim(name)?.conditions ?? [], "Initialized");
    return initialized?.status === "True" ? (initialized.since ?? 0) : 0;
  });
  return Math.max(decidedAt(action), placesSince(action, context) ?? 0, ...since) + startMaxMs;
}

function onTheWay(coming: readonly Coming[], { name }: NodeView): Objection {
  const message = `Node ${name} stays until its replacements are there: ${coming.map(one => one.message).join("; ")}.`;
  const names = coming.map(one => one.name).join(", ");
  return { code: "replacement-not-ready", message, liftedBy: `the initialization of ${names}` };
}

type Coming = { readonly name: string; readonly message: string; readonly until: Instant; readonly isMade: boolean };
type State = Coming | Failure | "there";

function stateOf(name: string, action: ActionView, context: Context): State {
  const { picture } = context;
  const claim = picture.claim(name);
  const launchUntil = decidedAt(action) + startMaxMs;
  if (claim === undefined) {
    if (isLaunched(action)) return { failure: `its replacement ${name} has gone again` };
    const isOffered = plannedFor(action, picture).some(planned => planned.name === name);
    if (!isOffered) return { failure: `what was found for it stood no longer before its replacement ${name} was made` };
    const held = policyHold(action.spec, context);
    const why = held === undefined ? "" : ` (${bare(held.message)})`;
    return { name, message: `NodeClaim ${name} is to be made${why}`, until: launchUntil, isMade: false };
  }
  if (claim.annotations[replacementForKey] !== action.spec.batch) {
    return { failure: `NodeClaim ${name} was not made as its replacement` };
  }
  if (claim.isProvisional) {
    return { name, message: `NodeClaim ${name} is being made`, until: launchUntil, isMade: false };
  }
  if (claim.deletingSince !== undefined) return { failure: `its replacement ${name} is being deleted` };
  const drifted = conditionOf(claim.conditions, "Drifted");
  if (drifted?.status === "True") {
    return { failure: `its replacement ${name} has drifted already (${drifted.reason}): ${bare(drifted.message)}` };
  }
  const launch = conditionOf(claim.conditions, "Launched");
  if (hasFailedToLaunch(claim)) return { failure: `its replacement ${name} was not launched: ${launch?.message}` };
  if (isTrue(claim.conditions, "Initialized")) return "there";
  // Not looked at by its lifecycle yet: the time of its creation is the server's, and our clock may be ahead of that.
  const isSeen = conditionOf(claim.conditions, "Registered") !== undefined;
  if (!isSeen) return { name, message: stageOf(claim), until: launchUntil, isMade: true };
  const limit = comesBy(claim);
  if ("doubt" in limit) return { failure: limit.doubt };
  return { name, message: stageOf(claim), until: limit.dueAt, isMade: true };
}

function stageOf({ name, conditions }: ClaimView): string {
  const open = ["Launched", "Registered", "Initialized"].find(type => !isTrue(conditions, type)) ?? "Initialized";
  const { reason = "", message = "" } = conditionOf(conditions, open) ?? {};
  const why = message || reason;
  return `NodeClaim ${name} is not ${open.toLowerCase()}${why === "" ? "" : ` (${bare(why)})`}`;
}

/** As a part of another sentence. */
function bare(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** Its claims were made: from then on one that is not there has gone. */
export function isLaunched({ status }: ActionView): boolean {
  return status.phase === "WaitingForReplacement";
}

/** The claims that are to be made for it, as long as what they were found by stands. */
export function plannedFor({ spec }: ActionView, picture: Picture): readonly PlannedClaim[] {
  const move = picture.moveOf(spec.node.uid);
  const names = new Set(spec.replacements?.map(({ name }) => name));
  return move?.batch === spec.batch ? (move?.claims.filter(({ name }) => names.has(name)) ?? []) : [];
}

/**
 * Nodes that are consolidated together pay together: when one is given up before it began, the others are. One that goes
 * for another reason leaves them what they had.
 */
function leftAlone({ spec }: ActionView, picture: Picture): string | undefined {
  if (spec.action !== "Consolidation" || spec.batch === undefined) return undefined;
  const apart = picture.actionsOfBatch(spec.batch).find(other => isGivenUp(other, picture));
  if (apart === undefined) return undefined;
  const { outcome } = apart.status;
  const why = outcome === undefined ? "" : `: ${bare(outcome)}`;
  return `node ${apart.spec.node.name}, with which it was to go, stays (NodeAction ${apart.name})${why}`;
}

/** Before it began, and its node is still there. */
export function isGivenUp(action: ActionView, picture: Picture): boolean {
  const node = picture.nodeByUid(action.spec.node.uid);
  if (isOpen(action) || isDryRun(action) || action.status.startedAt !== undefined || node === undefined) return false;
  return node.deletingSince === undefined && picture.claimOf(node)?.deletingSince === undefined;
}

function notYet(action: ActionView, picture: Picture): Objection | Failure | undefined {
  const { nodePool } = action.spec;
  // One for one: what is taken away is there already, whoever is to run on it.
  const isStatic = nodePool !== undefined && picture.pool(nodePool)?.effective.replicas !== undefined;
  if (isStatic) return unready(action, picture);
  return withoutPlace(action, picture.moveOf(action.spec.node.uid));
}

function unready({ spec }: ActionView, picture: Picture): Objection | undefined {
  for (const { name } of spec.replacements ?? []) {
    const claim = picture.claim(name);
    const nodes = claim ? picture.nodesOf(claim) : [];
    if (nodes.some(({ conditions }) => isTrue(conditions, "Ready"))) continue;
    const message = `Node ${spec.node.name} stays: the node of its replacement ${name} is not Ready.`;
    return { code: "replacement-not-ready", message, liftedBy: `the recovery of the node of NodeClaim ${name}` };
  }
  return undefined;
}

/** By a look that knows the replacements as nodes. */
function withoutPlace(action: ActionView, move: Move | undefined): Objection | Failure | undefined {
  const { spec } = action;
  const { name } = spec.node;
  if (move === undefined || move.batch !== spec.batch) {
    const message = `Node ${name} is looked at once more: where its pods go is not known for what runs now.`;
    return { code: "not-judged-again", message, liftedBy: "the search for places" };
  }
  if (move.unpaid !== undefined) return { failure: `it does not pay any more: ${move.unpaid}` };
  const [stuck] = move.stuck;
  if (stuck !== undefined) {
    // Somebody has taken what was launched for it, and keeps it: what goes for money does not wait for that.
    if (isForMoney(action)) return { failure: `pod ${stuck.pod} would have no place: ${bare(stuck.short)}` };
    const message = `Node ${name} stays: pod ${stuck.pod} would have no place: ${stuck.short}`;
    return { code: "pods-without-place", message, liftedBy: `room for pod ${stuck.pod}` };
  }
  if (move.claims.length === 0) return undefined;
  const message = `Node ${name} stays: its pods would need ${move.claims.length} more than what was launched for them.`;
  return { code: "room-taken", message, liftedBy: "room on nodes that are there" };
}

/** As upstream: nothing new comes onto a node whose replacements are on their way. Its end lifts it (untaintRule). */
function closing({ name, uid, taints }: NodeView): readonly Command[] {
  if (taints.some(taint => isSameTaint(taint, disruptedTaint))) return [];
  const why = `Nothing new is to start on node ${name} while its replacements come.`;
  return [{ kind: "update-node", node: { name, uid }, change: { addTaints: [disruptedTaint] }, why }];
}

/** All nodes of a batch are in the ledger: before that nothing is launched for any of them. */
export function isComplete(move: Move, picture: Picture): boolean {
  return move.nodes.every(({ uid }) => {
    const action = picture.openActionOn(uid);
    return action?.spec.batch === move.batch && action.isProvisional !== true && isOpen(action);
  });
}

function decidedAt({ spec, createdAt }: ActionView): Instant {
  return instantOf(spec.decidedAt) ?? createdAt;
}
