// What holds back the start of an action that is written down, whoever carries it: all that could have held it when it
// was asked for and may have changed since, and others that wait as well. What has begun goes on.

import type { NodeActionSpec } from "../api/node-action.ts";
import type { ActionView } from "../snapshot/views.ts";
import { closedCap } from "./caps.ts";
import { reasonOf } from "./conditions.ts";
import type { Command, Context, Proposal } from "./decision.ts";
import { dryRunCode, dryRunWord } from "./dry-run.ts";
import { instantOf } from "./ledger.ts";
import { budgetHold, plannedHold } from "./planned-start.ts";
import { outranks } from "./precedence.ts";
import { isPersonsDelete, type Objection, policyHold, vetoed } from "./safety.ts";

export function hasStarted({ status }: ActionView): boolean {
  return status.phase === "Running" || status.startedAt !== undefined;
}

/** Undefined: it may begin, or it has. */
export function startHold(action: ActionView, context: Context): Objection | undefined {
  const proposal = proposalOf(action, context);
  if (hasStarted(action) || isPersonsDelete(proposal, context)) return undefined;
  return (
    shownOnly(action, proposal, context) ??
    policyHold(proposal, context) ??
    closedCap(proposal, context) ??
    budgetHold(action.spec, proposal.action, context) ??
    plannedHold({ ...action.spec, action: proposal.action }, context) ??
    vetoed(proposal, context.vetoes, context) ??
    context.waiting?.overBudget(action, proposal) ??
    context.waiting?.heldWith(action)
  );
}

/** As it would be asked for now. */
export function proposalOf({ spec, createdAt }: ActionView, { picture: { checks } }: Context): Proposal {
  const { deadline: _deadline, dryRun: _dryRun, ...asked } = spec;
  const { action, askedBy, message, evidence } = highestReason(spec);
  const check = askedBy.kind === "NodeHealthCheck" ? checks.check(askedBy.name) : undefined;
  const isShown = check !== undefined && check.uid === askedBy.uid && check.effective.dryRun;
  const dueAt = instantOf(spec.decidedAt) ?? createdAt;
  return { ...asked, action, askedBy, message, evidence, dueAt, ...(isShown ? { dryRun: true } : {}) };
}

type Reason = Pick<NodeActionSpec, "action" | "askedBy" | "message" | "evidence">;

/** What joined it may go where its own reason would be held. */
function highestReason(spec: NodeActionSpec): Reason {
  const reasons: readonly Reason[] = [spec, ...(spec.joined ?? [])];
  return reasons.reduce((highest, reason) => (outranks(reason.action, highest.action) ? reason : highest));
}

function shownOnly({ name }: ActionView, proposal: Proposal, context: Context): Objection | undefined {
  const word = dryRunWord(proposal, context);
  if (word === undefined) return undefined;
  return {
    code: dryRunCode,
    message: `NodeAction ${name} does not begin, because ${word}.`,
    liftedBy: "ending the dry run",
  };
}

/** What passes by itself in seconds is not worth a write. */
export const unwritten: ReadonlySet<string> = new Set([
  "batch-incomplete",
  "not-still",
  "not-judged-again",
  "places-not-ready",
]);

/** That it waits, and for what, unless it says so already. */
export function sayWait(action: ActionView, { code, message, until }: Objection): readonly Command[] {
  const { name, uid, resourceVersion, status } = action;
  if (status.waitingFor?.message === message || unwritten.has(code)) return [];
  const waitingFor = { reason: reasonOf(code), message, ...(until === undefined ? {} : { until }) };
  const progress = { waitingFor };
  return [{ kind: "update-action", why: message, action: { name, uid }, resourceVersion, progress }];
}
