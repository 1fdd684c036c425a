import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "./system-clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a timer runs once, after its delay and not before", () => {
  let runs = 0;
  systemClock.after(1000, () => runs++);
  vi.advanceTimersByTime(999);
  expect(runs).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(runs).toBe(1);
});

test("a wait longer than Node's timers can hold is not cut short", () => {
  const dayMs = 24 * 60 * 60 * 1000;
  let runs = 0;
  systemClock.after(60 * dayMs, () => runs++);
  vi.advanceTimersByTime(60 * dayMs - 1);
  expect(runs).toBe(0);
  vi.advanceTimersByTime(1);
  expect(runs).toBe(1);
});

test("a cancelled timer does not run, not even in its second part", () => {
  let runs = 0;
  const cancel = systemClock.after(2 ** 31 + 1000, () => runs++);
  vi.advanceTimersByTime(2 ** 31);
  cancel();
  vi.advanceTimersByTime(10_000);
  expect(runs).toBe(0);
});

test("the monotonic clock is not the wall clock", () => {
  const before = systemClock.monotonic();
  vi.setSystemTime(0);
  expect(systemClock.now()).toBe(0);
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
});
