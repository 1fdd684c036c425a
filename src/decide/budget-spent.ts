// Tells on a pool that nodes of it are due and its budgets let no more go: once for each action, as the peer does. Which node
// that is and what counts is said by the refusals.

import { plannedActions } from "../api/budget.ts";
import type { BudgetLimit } from "./budget-limits.ts";
import { type Context, type Decision, nothing, type Notice, type Proposal } from "./decision.ts";

/** `asked`: whatever is proposed; `budgets`: of the pools that it is proposed for. */
export function decideSpent(
  asked: readonly Proposal[],
  budgets: readonly BudgetLimit[],
  { picture }: Pick<Context, "picture">,
): Decision {
  const wishes = new Map<string, Proposal>();
  for (const proposal of asked) {
    const { action, claim, dryRun } = proposal;
    if (dryRun || !(plannedActions as readonly string[]).includes(action)) continue;
    wishes.set(`${picture.claim(claim?.name ?? "")?.pool}\n${action}`, proposal);
  }
  const spent = budgets.filter(({ counted, allowed }) => counted >= allowed);
  const notices = [...wishes.values()].flatMap(wish => {
    const holding = spent.filter(budget => budget.applies(wish));
    const [least] = [...holding].sort((a, b) => a.allowed - b.allowed);
    const pool = picture.pool(least?.place.name ?? "");
    return least === undefined || pool === undefined ? [] : [blocked(pool, wish, least)];
  });
  return { ...nothing, notices };
}

/** Without how many are going, which changes by the minute. */
function blocked(
  { name, uid }: { readonly name: string; readonly uid: string },
  { action }: Proposal,
  { allowed, place }: BudgetLimit,
): Notice {
  const word = place.kind === "Default" ? "the budget by default" : place.path;
  const message = `No more of its nodes may go by ${action} now: at most ${allowed} may be going at once (${word}).`;
  return { about: { kind: "NodePool", name, uid }, type: "Normal", reason: "DisruptionBlocked", message };
}
