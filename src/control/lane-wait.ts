// How long a lane waits before its next command: longer after each failure, a little before the very same command is
// sent again although it succeeded, since then its effect is only not seen yet, and between statuses that change with
// every node. Pure; times are those of one clock, whichever it is.

import { isEqual } from "../api/schema/correlate.ts";
import type { Millis } from "../api/time.ts";
import type { Command, CommandKind, Outcome } from "../decide/decision.ts";

const failureMs = { first: 1_000, max: 60_000 };
// A budget frees a place when a pod is ready elsewhere: seconds, not minutes.
const evictionMs = { first: 1_000, max: 10_000 };
// The watch usually brings the newer state within milliseconds.
const staleMs = { first: 250, max: 60_000 };
const repeatMs = { first: 1_000, max: 60_000 };
/** What may change with every node of a large cluster is told at most so often: whoever waits then tells the latest. */
const pauseMs: Partial<Record<CommandKind, Millis>> = { "update-check": 1_000 };

/** What a lane remembers of its last command. */
export type LastEnd = {
  readonly kind: CommandKind;
  readonly result: Outcome["result"];
  readonly at: Millis;
  /** Failures in a row. */
  readonly failureCount: number;
  /** A command of this kind is not started before. */
  readonly retryAt: Millis;
  /** Only if it succeeded: to know the same command again. */
  readonly command?: Command;
  /** How often in a row it was sent again as soon as it might. */
  readonly repeatCount: number;
};

type Run = {
  readonly command: Command;
  readonly outcome: Outcome;
  readonly startedAt: Millis;
  readonly now: Millis;
  /** About 1: processes that failed together do not come back together. */
  readonly jitter: number;
};

export function afterEnd(last: LastEnd | undefined, { command, outcome, startedAt, now, jitter }: Run): LastEnd {
  const { kind } = command;
  const end = { kind, result: outcome.result, at: now };
  if (outcome.result === "done" || outcome.result === "already-so") {
    return { failureCount: 0, retryAt: now, command, repeatCount: repeatCountOf(last, command, startedAt), ...end };
  }
  const failureCount = last?.kind === kind ? last.failureCount + 1 : 1;
  const afterMs = outcome.result === "retry" ? (outcome.afterMs ?? 0) : 0;
  const waitMs = growing(boundsOf(kind, outcome), failureCount) * jitter;
  return { failureCount, retryAt: now + Math.max(afterMs, waitMs), repeatCount: 0, ...end };
}

function repeatCountOf(last: LastEnd | undefined, command: Command, startedAt: Millis): number {
  if (last === undefined || !isRepeated(last, command)) return 0;
  // Much later it is no repetition but a question asked from time to time.
  const wasWaitedFor = startedAt - last.at < 2 * growing(repeatMs, last.repeatCount + 1);
  return wasWaitedFor ? last.repeatCount + 1 : 0;
}

/** When the command may start after what was last done. */
export function startsAt(last: LastEnd | undefined, command: Command): Millis {
  if (last === undefined || last.kind !== command.kind) return Number.NEGATIVE_INFINITY;
  if (last.failureCount > 0) return last.retryAt;
  const pause = pauseMs[command.kind];
  const afterPause = pause === undefined ? Number.NEGATIVE_INFINITY : last.at + pause;
  if (!isRepeated(last, command)) return afterPause;
  return Math.max(afterPause, last.at + growing(repeatMs, last.repeatCount + 1));
}

function isRepeated({ command: before, kind }: LastEnd, command: Command): boolean {
  return before !== undefined && kind === command.kind && isEqual(before, command);
}

function boundsOf(kind: CommandKind, outcome: Outcome): { first: Millis; max: Millis } {
  if (outcome.result === "stale") return staleMs;
  const isBudget = kind === "evict-pod" && outcome.result === "retry" && outcome.reason === "TooManyRequests";
  return isBudget ? evictionMs : failureMs;
}

function growing({ first, max }: { first: Millis; max: Millis }, count: number): Millis {
  // Past 2^16 the bound has long been reached.
  return Math.min(max, first * 2 ** Math.min(count - 1, 16));
}
