import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FencedError } from "./errors.ts";
import { assertFits, writeTimeoutMs } from "./fence.ts";

describe("the time-out of a leader's write", () => {
  test.each([
    ["a fresh lease of 15 s", 15_000, 60_000, 10_000],
    ["what the caller asked, if shorter", 15_000, 2_000, 2_000],
    ["three quarters of what is left less the margin", 4_500, 60_000, 3_000],
    ["the shortest that makes sense", 834, 60_000, 250],
    ["a caller's own shorter one", 15_000, 100, 100],
  ])("%s", (_, leftMs, askedMs, expected) => expect(writeTimeoutMs(leftMs, askedMs)).toBe(expected));

  test.each([833, 500, 1, 0, -60_000])("with %i ms left nothing is sent", leftMs => {
    expect(() => writeTimeoutMs(leftMs, 60_000)).toThrow(FencedError);
  });

  test("always ends inside the lease, margin included", () => {
    fc.assert(
      fc.property(fc.integer({ min: 834, max: 120_000 }), fc.integer({ min: 1, max: 120_000 }), (leftMs, askedMs) => {
        const timeoutMs = writeTimeoutMs(leftMs, askedMs);
        expect(timeoutMs).toBeLessThanOrEqual(leftMs - 500);
        expect(timeoutMs).toBeLessThanOrEqual(askedMs);
      }),
    );
  });
});

describe("at the socket", () => {
  const fence = (leftMs: number, epoch: number | undefined = 7) => ({
    epoch,
    remainingMs: () => leftMs,
    enter: () => () => {},
  });
  const write = { epoch: 7, timeoutMs: 3_000 };

  test("a write that still fits goes", () => expect(() => assertFits(fence(3_500), write)).not.toThrow());

  test("one millisecond less is too late", () => {
    expect(() => assertFits(fence(3_499), write)).toThrow("only 3499 ms of the leader's lease are left");
  });

  test("a lost lease is called lost", () => {
    expect(() => assertFits(fence(0, undefined), write)).toThrow("this process does not hold the leader's lease");
  });

  test("a term that we lost and won again is not the one it was decided in", () => {
    expect(() => assertFits(fence(15_000, 8), write)).toThrow("decided in an earlier term");
  });
});
