// What may hold back one proposal, whatever else is asked for: a picture that is too old, a node or claim that is not the
// one meant or not ours, a freeze, a node never to touch. A person's own delete has begun: only doubt holds that.

import { matches, selectorOf } from "../api/selector.ts";
import { formatDuration, formatTime, type Millis, minuteMs } from "../api/time.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { Context, Proposal, Refusal, Veto } from "./decision.ts";
import { instantOf, joinLane } from "./ledger.ts";
import { servedClass } from "./node-class.ts";
import { classOf } from "./precedence.ts";

export type Objection = Omit<Refusal, "subject" | "check">;

export function objection(proposal: Proposal, context: Context): Objection | undefined {
  const doubt = stale(context) ?? absent(proposal, context) ?? notOurs(proposal, context);
  if (doubt !== undefined || isPersonsDelete(proposal, context)) return doubt;
  return notDue(proposal, context) ?? notConfirmed(proposal, context) ?? policyHold(proposal, context);
}

/** The first that objects. */
export function vetoed(proposal: Proposal, vetoes: readonly Veto[] = [], context: Context): Objection | undefined {
  for (const veto of vetoes) {
    const found = veto(proposal, context);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the SafetyPolicy says against a start: of an action that is asked for, and again of one that is written down. */
export function policyHold(
  start: Pick<Proposal, "action"> & Partial<Pick<Proposal, "node">>,
  context: Context,
): Objection | undefined {
  return (
    invalid(context) ?? clockOff(context) ?? frozen(start, context) ?? (start.node && untouchable(start.node, context))
  );
}

/** What holds whatever is not proposed, since no node goes by it: an instance or a claim that is left over. */
export function standstill(context: Context): Objection | undefined {
  return stale(context) ?? invalid(context) ?? clockOff(context) ?? frozen({ action: "GarbageCollection" }, context);
}

/** A delete that stands on the node or its claim already: it holds itself to no cap, freeze or selector. */
export function isPersonsDelete(
  { action, askedBy, node, claim }: Pick<Proposal, "action" | "askedBy" | "node" | "claim">,
  { picture }: Context,
): boolean {
  if (action !== "Deletion" || askedBy.kind !== "Person") return false;
  const isDeleting = picture.nodeByUid(node.uid)?.deletingSince !== undefined;
  return isDeleting || (claim !== undefined && picture.claim(claim.name)?.deletingSince !== undefined);
}

function stale({ picture: { staleness } }: Context): Objection | undefined {
  if (staleness === undefined) return undefined;
  return {
    code: "picture-stale",
    message: `The picture of ${staleness.resource} is too old to act on: ${staleness.message}`,
    liftedBy: "the watch catching up",
  };
}

function absent({ node, claim }: Proposal, { picture }: Context): Objection | undefined {
  if (picture.nodeByUid(node.uid)?.name !== node.name) {
    const other = picture.node(node.name);
    const now = other ? `; the node of that name is another one, ${other.uid}` : "";
    return gone(`Node ${node.name} (${node.uid}) is gone${now}.`);
  }
  if (claim !== undefined && picture.claim(claim.name)?.uid !== claim.uid) {
    return gone(`NodeClaim ${claim.name} (${claim.uid}) of node ${node.name} is gone.`);
  }
  return undefined;
}

function gone(message: string): Objection {
  return { code: "node-gone", message, liftedBy: "a new look at what is there now" };
}

function notDue({ action, dueAt }: Proposal, { now }: Context): Objection | undefined {
  if (dueAt <= now) return undefined;
  const message = `${action} is due at ${formatTime(dueAt)}.`;
  return { code: "not-due", message, until: dueAt, liftedBy: "time" };
}

/** The same reason was to join what is open already, and a live look did not bear it out. */
function notConfirmed({ action, node }: Proposal, { picture, now }: Context): Objection | undefined {
  const open = picture.openActionOn(node.uid);
  const failure = open && picture.failure(joinLane(open.name));
  if (failure === undefined || failure.reason !== action || failure.retryAt <= now) return undefined;
  const message = `${action} did not join NodeAction ${open?.name}: ${failure.message}; not tried again before ${formatTime(failure.retryAt)}.`;
  return { code: "tried-before", message, until: failure.retryAt, liftedBy: "time" };
}

/** Only what our provider serves is terminated; foreign claims only by repair, and only where that was chosen. */
function notOurs({ action, method, node, claim, machine }: Proposal, context: Context): Objection | undefined {
  // A Machine is ended by its own controller, and only where a remediation asks for it.
  if (method !== "Terminate" || (machine !== undefined && action === "Remediation")) return undefined;
  const view = claim && context.picture.claim(claim.name);
  if (view === undefined) {
    const message = `Node ${node.name} has no NodeClaim: nobody provisioned it through us, so it is not ours to end.`;
    return { code: "no-claim", message, liftedBy: "a remediation of a NodeHealthCheck, or a person" };
  }
  const { provider } = context.picture;
  if (servedClass(view.spec.nodeClassRef, provider) !== undefined) return undefined;
  if (classOf(action) === "repair" && context.settings.foreignClaims === "repair") return undefined;
  const kind = view.spec.nodeClassRef?.kind ?? "no class";
  const message = `NodeClaim ${view.name} (${kind}) belongs to another controller: provider ${provider.name} does not serve it.`;
  return { code: "foreign-claim", message, liftedBy: "that controller; for repair, --foreign-claims=repair" };
}

function invalid({ picture: { safety } }: Context): Objection | undefined {
  if (safety.invalid === undefined) return undefined;
  const message = `The SafetyPolicy cannot be understood, so nothing starts: ${safety.invalid}`;
  return { code: "policy-invalid", message, liftedBy: "mending SafetyPolicy default" };
}

/** What is due by our clock is not due by those that wrote the times. In whole minutes, which each process finds alike. */
function clockOff({ picture: { clockAheadMs } }: Context): Objection | undefined {
  if (clockAheadMs === undefined) return undefined;
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  const message = `Our clock is about ${formatDuration(wholeMinutes(Math.abs(clockAheadMs)))} ${side} the API server's, so nobody knows what is due.`;
  return { code: "clock-off", message, liftedBy: "setting the clock right, on this machine or the API server's" };
}

function wholeMinutes(ms: Millis): Millis {
  return Math.round(ms / minuteMs) * minuteMs;
}

function frozen({ action }: Pick<Proposal, "action">, { picture, now }: Context): Objection | undefined {
  const { freeze } = picture.safety.policy;
  if (freeze === undefined || (freeze.scope === "Disruption" && classOf(action) !== "disruption")) return undefined;
  // An end that cannot be read is no end.
  const until = instantOf(freeze.until);
  if (until !== undefined && until <= now) return undefined;
  const end = until === undefined ? "" : ` until ${formatTime(until)}`;
  const message = `SafetyPolicy default freezes ${freeze.scope.toLowerCase()}${end}: ${freeze.reason}`;
  const liftedBy = "taking spec.freeze out of SafetyPolicy default";
  return { code: "frozen", message, liftedBy, ...(until === undefined ? {} : { until }) };
}

function untouchable(node: Proposal["node"], { picture }: Context): Objection | undefined {
  const view = picture.nodeByUid(node.uid);
  if (view === undefined || !isUntouchable(view, { picture })) return undefined;
  const message = `Node ${node.name} is one that SafetyPolicy default never lets anybody touch (spec.untouchable).`;
  return { code: "untouchable", message, liftedBy: "other labels on the node, or another spec.untouchable" };
}

/** A selector that cannot be read might mean any node. */
function isUntouchable(node: NodeView, { picture }: Pick<Context, "picture">): boolean {
  const { untouchable: written } = picture.safety.policy;
  if (written === undefined) return false;
  const selector = selectorOf(written);
  return !selector.ok || matches(selector.value, node.labels);
}
