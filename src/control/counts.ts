// What the shell has done, in plain numbers: for metrics, benches and tests.

import type { CommandKind, Outcome } from "../decide/decision.ts";

export type Counts = {
  turns: number;
  /** Subjects asked, each with every rule of its kind. */
  asked: number;
  /** Subjects judged from scratch, to compare what stands with. */
  compared: number;
  /** By the monotonic clock, in milliseconds. */
  turnMs: { last: number; max: number; total: number };
  readonly commands: Map<`${CommandKind} ${Outcome["result"]}`, number>;
  /** Withheld and decided anew later: the lane was busy, backing off, or there was no room. */
  withheld: number;
  /** Since the start, by code, each time one newly stood in the way. */
  readonly refusals: Map<string, number>;
  readonly events: { written: number; repeated: number; dropped: number; failed: number };
  ruleFailures: number;
};

export function zeroCounts(): Counts {
  return {
    turns: 0,
    asked: 0,
    compared: 0,
    turnMs: { last: 0, max: 0, total: 0 },
    commands: new Map(),
    withheld: 0,
    refusals: new Map(),
    events: { written: 0, repeated: 0, dropped: 0, failed: 0 },
    ruleFailures: 0,
  };
}

export function increment<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export function countTurn(counts: Counts, lastMs: number): void {
  const { max, total } = counts.turnMs;
  counts.turns++;
  counts.turnMs = { last: lastMs, max: Math.max(max, lastMs), total: total + lastMs };
}
