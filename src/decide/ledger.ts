// NodeActions as the core writes and reads them: names, what stands in a new one, which ones count. What must carry the
// present time is left `unstamped`: a decision does not depend on the instant it is made, the executor fills it in.

import { finalPhases, type NodeActionSpec, type NodeActionStatus, type Phase } from "../api/node-action.ts";
import { formatTime, type Instant, type Millis, minuteMs, parseTime } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import type { Context, Proposal } from "./decision.ts";
import type { LedgerAction } from "./precedence.ts";

/** In place of a time (decidedAt, seenAt, joined[].at) that the executor writes. No API server would take it. */
export const unstamped = "";

type Entry = { readonly spec: NodeActionSpec; readonly status: NodeActionStatus };

export function actionName(action: LedgerAction, nodeUid: string): string {
  return `${action.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}-${nodeUid}`;
}

export function isOpen({ status }: Entry): boolean {
  return !(finalPhases as readonly (Phase | undefined)[]).includes(status.phase);
}

/** Budgets and caps count it: from the moment it is written until it is over. */
export function isCounted(action: Entry): boolean {
  return isOpen(action) && !isDryRun(action);
}

export function isDryRun({ spec, status }: Entry): boolean {
  return spec.dryRun === true || status.phase === "DryRun";
}

export type Permission = Pick<NodeActionSpec, "budget" | "caps"> & { readonly dryRun?: boolean };

/** The entry to be written for a proposal: who asks, what was seen, and what allowed it. */
export function actionSpec(proposal: Proposal, context: Context, permission: Permission = {}): NodeActionSpec {
  const { picture, epoch } = context;
  const { evidence, dueAt: _due, priority: _priority, dryRun: _wish, deadline: _deadline, ...asked } = proposal;
  const node = picture.nodeByUid(proposal.node.uid);
  const claim = proposal.claim && picture.claim(proposal.claim.name);
  const zone = (node && picture.zoneOf(node)) ?? claim?.zone;
  const deadline = deadlineOf(proposal);
  return {
    ...asked,
    evidence: evidence.map(seen => ({ ...seen, seenAt: unstamped })),
    ...(claim?.pool === undefined ? {} : { nodePool: claim.pool }),
    ...(zone === undefined ? {} : { zone }),
    ...(deadline === undefined ? {} : { deadline: formatTime(deadline) }),
    ...(permission.budget ? { budget: permission.budget } : {}),
    ...(permission.caps && permission.caps.length > 0 ? { caps: permission.caps } : {}),
    ...(permission.dryRun ? { dryRun: true } : {}),
    decidedAt: unstamped,
    epoch,
  };
}

/** By force means: what is left goes from the moment the action was due. */
export function deadlineOf({
  deadline,
  termination,
  dueAt,
}: Pick<Proposal, "deadline" | "termination" | "dueAt">): Instant | undefined {
  if (termination !== "Forceful") return deadline;
  return Math.min(dueAt, deadline ?? dueAt);
}

/** The reasons of an action: its own, and those that joined it. */
export function reasonsOf(
  spec: NodeActionSpec,
): readonly Pick<NodeActionSpec, "action" | "askedBy" | "evidence" | "termination">[] {
  return [spec, ...(spec.joined ?? [])];
}

export function finishedAt({ status }: Entry): Instant | undefined {
  return instantOf(status.finishedAt);
}

/** Undefined: absent, or no time that can be read. */
export function instantOf(text: string | undefined): Instant | undefined {
  const parsed = text === undefined ? undefined : parseTime(text);
  return parsed?.ok ? parsed.value : undefined;
}

/** The next entry for the same action on the same node: its name, and before when it is not tried again. */
export function nextAttempt(
  picture: Picture,
  proposal: Proposal,
  { dryRun }: { dryRun: boolean },
): { name: string; last?: ActionView; notBefore?: Instant } {
  const base = `${actionName(proposal.action, proposal.node.uid)}${dryRun ? "-dry-run" : ""}`;
  let last: ActionView | undefined;
  for (let attempt = 1; ; attempt++) {
    const name = attempt === 1 ? base : `${base}-${attempt}`;
    const earlier = picture.action(name);
    if (earlier === undefined) return { name, ...(last ? { last, ...retry(last, attempt - 1, proposal) } : {}) };
    last = earlier;
  }
}

/** Where it is remembered that a reason could not be confirmed and did not join an action. */
export function joinLane(action: string): string {
  return `join/${action}`;
}

/** 1, 2, 4 … 32 minutes: what cannot be confirmed is not asked for ever again at once. */
export function retryMs(attempts: number): Millis {
  return minuteMs * 2 ** Math.min(attempts - 1, 5);
}

/** After it was given up. What is to be done by other means has waited already, for the end of the first. */
function retry(last: ActionView, attempts: number, { method }: Proposal): { notBefore?: Instant } {
  if (isOpen(last) || last.status.phase === "Done" || last.spec.method !== method) return {};
  const over = finishedAt(last) ?? last.createdAt;
  return { notBefore: over + retryMs(attempts) };
}

/** Times are whole seconds; of those of one second the one with the higher number is the later. */
export function olderFirst(a: ActionView, b: ActionView): number {
  return a.createdAt - b.createdAt || a.name.length - b.name.length || (a.name < b.name ? -1 : 1);
}
