import { describe, expect, test } from "vitest";
import type { Command, Outcome } from "../decide/decision.ts";
import { afterEnd, type LastEnd, startsAt } from "./lane-wait.ts";

const pod = { name: "p", namespace: "default", uid: "u" };
const evict: Command = { kind: "evict-pod", pod, why: "" };
const force: Command = { kind: "delete-pod", pod, deadline: 0, why: "" };
const poll: Command = { kind: "look-up-instance", providerID: "x", why: "" };

const done: Outcome = { result: "done" };
const failed: Outcome = { result: "retry", reason: "InternalError", message: "" };
const budget: Outcome = { result: "retry", reason: "TooManyRequests", message: "" };
const stale: Outcome = { result: "stale" };

/** How long the lane waits after each of a row of ends, each command started as soon as it might be. */
function waits(command: Command, outcomes: readonly Outcome[], jitter = 1): number[] {
  let last: LastEnd | undefined;
  let now = 0;
  return outcomes.map(outcome => {
    const startedAt = Math.max(now, startsAt(last, command));
    last = afterEnd(last, { command, outcome, startedAt, now: startedAt, jitter });
    now = startedAt;
    return startsAt(last, command) - now;
  });
}

describe("a lane", () => {
  test("waits twice as long after each failure, from a second to a minute", () => {
    const many = waits(
      poll,
      Array.from({ length: 8 }, () => failed),
    );
    expect(many).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map(seconds => seconds * 1000));
  });

  test("waits at most ten seconds for a disruption budget", () => {
    expect(waits(evict, [budget, budget, budget, budget, budget, budget])).toEqual([
      1000, 2000, 4000, 8000, 10000, 10000,
    ]);
  });

  test("comes back soon after a conflict: the watch will have brought the newer state", () => {
    expect(waits(poll, [stale, stale, stale])).toEqual([250, 500, 1000]);
  });

  test("heeds what the server asks for, also where it is more than a minute", () => {
    expect(waits(poll, [{ ...failed, afterMs: 300_000 }])).toEqual([300_000]);
    expect(waits(poll, [{ ...failed, afterMs: 10 }])).toEqual([1000]);
    expect(waits(poll, [{ ...failed, afterMs: 2000 }], 0.75)).toEqual([2000]);
  });

  test("starts afresh after a success", () => {
    expect(waits(force, [failed, failed, done, failed])).toEqual([1000, 2000, 1000, 1000]);
  });

  test("holds back only commands of the kind that failed", () => {
    const last = afterEnd(undefined, { command: evict, outcome: budget, startedAt: 0, now: 0, jitter: 1 });
    expect(startsAt(last, evict)).toBe(1000);
    expect(startsAt(last, force)).toBe(Number.NEGATIVE_INFINITY);
  });

  test("sends the very same command again only after a while, and ever more rarely, though it succeeded", () => {
    expect(waits(evict, [done, done, done, done])).toEqual([1000, 2000, 4000, 8000]);
  });

  test("sends another command at once after a success", () => {
    const last = afterEnd(undefined, { command: force, outcome: done, startedAt: 0, now: 0, jitter: 1 });
    expect(startsAt(last, { ...force, deadline: 1 })).toBe(Number.NEGATIVE_INFINITY);
  });

  test("tells what may change with every node at most once a second", () => {
    const tell = (healthyNodes: number): Command => ({
      kind: "update-check",
      check: { name: "web", uid: "u" },
      status: { healthyNodes },
      why: "",
    });
    const last = afterEnd(undefined, { command: tell(3), outcome: done, startedAt: 0, now: 0, jitter: 1 });
    expect(startsAt(last, tell(2))).toBe(1000);
    expect(startsAt(undefined, tell(2))).toBe(Number.NEGATIVE_INFINITY);
  });

  test("takes a question that is asked from time to time for no repetition", () => {
    let last: LastEnd | undefined;
    for (const now of [0, 5000, 10_000, 15_000]) {
      last = afterEnd(last, { command: poll, outcome: done, startedAt: now, now, jitter: 1 });
      expect(startsAt(last, poll)).toBe(now + 1000);
    }
  });
});
