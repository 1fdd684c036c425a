// What the budgets of a pool say: how many of its nodes may be going away, by which action, at an instant, and whose word
// that is. Of all that are active for an action the smallest counts; what cannot be read allows none. What counts against
// them is budget-limits.ts.

import { parseAmount, roundedUp } from "../api/amount.ts";
import { type BudgetedAction, plannedActions } from "../api/budget.ts";
import type { EffectiveBudget, EffectiveNodePool, EffectiveWindow } from "../api/effective-node-pool.ts";
import type { Instant } from "../api/time.ts";
import { isOpen, nextEdge, parseWindow } from "../api/window.ts";
import type { PoolView } from "../snapshot/views.ts";
import type { Objection } from "./safety.ts";
import { nextOf } from "./termination-step.ts";

export type Ceiling = {
  /** Infinity: nothing holds the action. */
  readonly allowed: number;
  /** Whose word that is; absent: nobody's. */
  readonly path?: string;
  /** Why it allows none although it does not say so. */
  readonly doubt?: string;
  /** When the answer is another one by time alone. */
  readonly changesAt?: Instant;
};

type Moment = {
  readonly at: Instant;
  /** How many initialized nodes the pool has. */
  readonly initialized: number;
};

export function ceilingOf(pool: EffectiveNodePool, action: BudgetedAction, { at, initialized }: Moment): Ceiling {
  const words = wordsOf(pool, initialized);
  const changesAt = nextChange(words, action, at);
  const word = smallest(words, action, at);
  return { ...saidBy(word), ...(changesAt === undefined ? {} : { changesAt }) };
}

/** What one budget says, read once. */
export type Word = {
  readonly path: string;
  readonly actions: readonly BudgetedAction[];
  /** For some actions by name; with ActionOverridesAll those for all give way to it while it is active. */
  readonly isOwn: boolean;
  readonly givesWay: boolean;
  readonly allowed: number;
  readonly doubt?: string;
  isActive(at: Instant): boolean;
  /** When that changes; undefined: never, or nobody knows. */
  edgeAfter(at: Instant): Instant | undefined;
};

const always = { isActive: () => true, edgeAfter: () => undefined };

export function wordsOf({ disruption }: EffectiveNodePool, initialized: number): readonly Word[] {
  const { budgets, budgetPrecedence, windows } = disruption;
  return [
    ...budgets.map(budget => ({
      ...readBudget(budget, initialized),
      path: budget.path,
      actions: budget.actions,
      isOwn: !budget.forAll,
      givesWay: budget.forAll && budgetPrecedence === "ActionOverridesAll",
    })),
    ...(windows.length === 0 ? [] : [outside(windows)]),
  ];
}

type Reading = Pick<Word, "allowed" | "doubt" | "isActive" | "edgeAfter">;

function readBudget(budget: EffectiveBudget, initialized: number): Reading {
  const { nodes, window: written } = budget;
  const amount = parseAmount(nodes);
  if (!amount.ok) return { allowed: 0, doubt: amount.error, ...always };
  const count = Math.max(roundedUp(amount.value, initialized), isPace(budget) ? 1 : 0);
  if (written === undefined) return { allowed: count, ...always };
  const window = parseWindow(written);
  if (!window.ok) return { allowed: 0, doubt: window.error, ...always };
  return { allowed: count, isActive: at => isOpen(window.value, at), edgeAfter: at => nextEdge(window.value, at) };
}

/** Where a pool has windows, planned disruption happens only inside one of them; one that cannot be read never opens. */
function outside(written: readonly EffectiveWindow[]): Word {
  const read = written.map(parseWindow);
  const windows = read.flatMap(window => (window.ok ? [window.value] : []));
  const doubt = read.find(window => !window.ok);
  return {
    path: "spec.disruption.windows",
    actions: plannedActions,
    isOwn: false,
    givesWay: false,
    allowed: 0,
    ...(doubt?.ok === false ? { doubt: doubt.error } : {}),
    isActive: at => !windows.some(window => isOpen(window, at)),
    edgeAfter: at =>
      nextOf(
        at,
        windows.map(window => nextEdge(window, at)),
      ),
  };
}

/** Those that hold the action now. */
export function inForce(words: readonly Word[], action: BudgetedAction, at: Instant): readonly Word[] {
  const active = words.filter(word => word.actions.includes(action) && word.isActive(at));
  return active.some(({ isOwn }) => isOwn) ? active.filter(({ givesWay }) => !givesWay) : active;
}

/** Which budgets hold an action at an instant, as one text. */
export function budgetsInForce(pool: EffectiveNodePool, action: BudgetedAction, at: Instant): string {
  const words = inForce(wordsOf(pool, 0), action, at);
  return words.map(({ path }) => path).join();
}

function smallest(words: readonly Word[], action: BudgetedAction, at: Instant): Word | undefined {
  return inForce(words, action, at).reduce<Word | undefined>(
    (least, one) => (least === undefined || one.allowed < least.allowed ? one : least),
    undefined,
  );
}

function saidBy(word: Word | undefined): Ceiling {
  if (word === undefined) return { allowed: Number.POSITIVE_INFINITY };
  const { allowed: count, path, doubt } = word;
  return { allowed: count, path, ...(doubt === undefined ? {} : { doubt }) };
}

/** An edge may change nothing; after so many that do not, the next is as good an instant to look again as any. */
const edgesMax = 64;

function nextChange(words: readonly Word[], action: BudgetedAction, at: Instant): Instant | undefined {
  const held = words.filter(word => word.actions.includes(action));
  const now = smallest(held, action, at);
  const deciding = now === undefined ? held : rivalsOf(now, held);
  let edge = at;
  for (let edges = 0; edges < edgesMax; edges++) {
    const last = edge;
    const next = nextOf(
      last,
      deciding.map(word => word.edgeAfter(last)),
    );
    if (next === undefined || smallest(held, action, next) !== now) return next;
    edge = next;
  }
  return edge;
}

/** Itself and those that could take its place while it is in force: where none gives way, only smaller ones. */
function rivalsOf(word: Word, held: readonly Word[]): readonly Word[] {
  if (held.some(({ givesWay }) => givesWay)) return held;
  const place = held.indexOf(word);
  return held.filter((one, index) => one.allowed < word.allowed || (one.allowed === word.allowed && index <= place));
}

/** Whether a pool lets any node at all go by an action now, and when that may be otherwise by time alone. */
type Closure = { readonly closed?: Objection; readonly changesAt?: Instant };

export function closureOf({ name, effective }: PoolView, action: BudgetedAction, now: Instant): Closure {
  // Of how many nodes makes no difference to whether it is any at all.
  const { allowed: most, path, doubt, changesAt } = ceilingOf(effective, action, { at: now, initialized: 1 });
  const change = changesAt === undefined ? {} : { changesAt };
  if (most > 0) return change;
  const unread = doubt === undefined ? "" : `, for this cannot be read: ${doubt}`;
  const closed = {
    code: "budget-closed",
    message: `NodePool ${name} lets no node go by ${action} now (${path}${unread}).`,
    ...(changesAt === undefined ? {} : { until: changesAt }),
    liftedBy: `time, or another ${path} of NodePool ${name}`,
  };
  return { closed, ...change };
}

/** Where nobody wrote a budget for Repair it has a pace: at least one, and counted otherwise. */
export function isPace({ path, actions }: Pick<EffectiveBudget, "path" | "actions">): boolean {
  return path === "default" && actions.includes("Repair");
}
