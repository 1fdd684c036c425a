// How many more nodes of a pool may go by an action now: the budget that decides, what counts against it, and when that is
// otherwise. The arbiter's limits and the answer to whoever asks are made of the same count.

import { type BudgetedAction, budgetedActions } from "../api/budget.ts";
import type { PoolView } from "../snapshot/views.ts";
import { type Ceiling, ceilingOf, inForce, isPace, type Word, wordsOf } from "./budgets.ts";
import type { Limit } from "./caps.ts";
import { type Counted, numbersOf } from "./counted.ts";
import type { Context, Proposal } from "./decision.ts";
import { repairsUnderWay } from "./pace.ts";
import type { Health } from "./remembered.ts";
import { nextOf } from "./termination-step.ts";

export type Allowance = Ceiling & {
  /** How many more. */
  readonly left: number;
  readonly against: Counted;
};

/** `health` knows the sizes of pools. */
type At = Pick<Context, "picture" | "now"> & { readonly health: Health };

export function allowed(pool: PoolView, action: BudgetedAction, { picture, now, health }: At): Allowance {
  const { initialized } = health.count(pool.name);
  const ceiling = ceilingOf(pool.effective, action, { at: now, initialized });
  const isPaced = action === "Repair" && ceiling.path === "default";
  const { counted, frees, against } = numbersOf(countedIn(pool, isPaced, { picture, now }));
  const changesAt = nextOf(now, [ceiling.changesAt, frees[0]]);
  const change = changesAt === undefined ? {} : { changesAt };
  return { ...ceiling, ...change, left: Math.max(0, ceiling.allowed - counted), against };
}

/** A limit that more than those it holds add to: a budget counts nodes that go by any action. */
export type BudgetLimit = Limit & { readonly against: Counted; counts(proposal: Proposal): boolean };

/** Of the pools that are asked about. */
export function budgetLimits(pools: Iterable<PoolView>, at: At): readonly BudgetLimit[] {
  return [...pools].flatMap(pool => limitsOf(pool, at));
}

/** Nodes that go, whoever takes them away; where Repair has a pace that is repairs alone, with their successors. */
function countedIn(pool: PoolView, isPaced: boolean, context: Pick<Context, "picture" | "now">): Counted {
  return isPaced ? repairsUnderWay(pool, context) : { going: context.picture.departuresOf(pool.name), gone: [] };
}

/**
 * One for each budget that is in force for some action, so that actions which share it spend it together; and one for each
 * that will be: it holds nobody yet, and says when that changes.
 */
function limitsOf(pool: PoolView, { picture, now, health }: At): readonly BudgetLimit[] {
  const words = wordsOf(pool.effective, health.count(pool.name).initialized);
  const actionsByWord = new Map<Word, BudgetedAction[]>();
  for (const action of budgetedActions) {
    for (const word of inForce(words, action, now)) {
      actionsByWord.set(word, [...(actionsByWord.get(word) ?? []), action]);
    }
  }
  for (const word of words) {
    if (!actionsByWord.has(word) && word.edgeAfter(now) !== undefined) actionsByWord.set(word, []);
  }
  const isOfPool = ({ claim }: Proposal) => claim !== undefined && picture.claim(claim.name)?.pool === pool.name;
  return [...actionsByWord].map(([word, actions]) => {
    const changesAt = word.edgeAfter(now);
    return {
      role: "budget" as const,
      place: placeOf(pool, word),
      what: whatIs(pool, word),
      allowed: word.allowed,
      ...numbersOf(countedIn(pool, isPace(word), { picture, now })),
      ...(changesAt === undefined ? {} : { changesAt }),
      applies: proposal => (actions as readonly string[]).includes(proposal.action) && isOfPool(proposal),
      counts: proposal => isOfPool(proposal) && (!isPace(word) || proposal.action === "Repair"),
    };
  });
}

function whatIs({ name }: PoolView, word: Word): string {
  if (isPace(word)) return `under repair in NodePool ${name} or not yet followed by another`;
  const unread = word.doubt === undefined ? "" : `, for this cannot be read: ${word.doubt}`;
  return `going away in NodePool ${name}, whoever asked${unread}`;
}

function placeOf({ name, generation }: PoolView, { path }: Word): Limit["place"] {
  return path === "default"
    ? { kind: "Default", name, path: "spec.disruption.budgets" }
    : { kind: "NodePool", name, path, generation };
}
