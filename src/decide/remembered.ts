// What rules are told beyond the picture: what this process has seen of conditions over time, and how healthy each pool
// is. Only the words; who keeps it is repair-memory.ts.

import type { Instant } from "../api/time.ts";

/** A status and reason as we saw it, from then until the next one; no status: the condition was not there. */
export type Stretch = { readonly status: string; readonly reason: string; readonly from: Instant };

/** Of a condition that has changed under our eyes, or whose time could not be believed. */
export type ConditionHistory = {
  /** Oldest first; the last is the present one. */
  readonly stretches: readonly Stretch[];
  /** Since when it is as it is, says its reporter; our own time of seeing it where that lies in the future or is missing. */
  readonly since: Instant;
  /** Its reporter's time lay ahead of ours when we saw it: one of the two clocks is wrong. */
  readonly isAhead?: true;
};

/** Undefined means that nothing contradicts the condition's own time. */
export type Sight = { history(nodeUid: string, conditionType: string): ConditionHistory | undefined };

export type HealthCount = {
  /** Registered ones, also those that are going; not those that may still become Ready for the first time. */
  readonly nodes: number;
  /** Of them, those with a sick condition now, tolerated or not. */
  readonly unhealthy: number;
  /** Of the unhealthy, how many each policy matches, by its path. */
  readonly byPolicy: ReadonlyMap<string, number>;
  /** For budgets: initialized, and the instance not ending. */
  readonly initialized: number;
};

export type Health = {
  /** Undefined: of the whole cluster. */
  count(pool: string | undefined): HealthCount;
};

export type Remembered = { readonly sight: Sight; readonly health: Health };
