import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { accepted, certain, type Parsed } from "./parsed.ts";
import {
  formatDuration,
  formatMicroTime,
  formatNanoseconds,
  formatTime,
  parseBudgetDuration,
  parseDuration,
  parseDurationOrNever,
  parseMicroTime,
  parseNanoseconds,
  parseTime,
} from "./time.ts";

const go = vectors("durations") as { cases: [text: string, nanoseconds?: string, shown?: string][] };
const kubernetes = vectors("times") as { cases: [text: string, time: number | null, microTime: number | null][] };

const errorOf = (parsed: Parsed<unknown>) => (parsed.ok ? "" : parsed.error);
const valueOf = <T>(parsed: Parsed<T>) => (parsed.ok ? parsed.value : null);

describe("durations", () => {
  test("agree with Go to the nanosecond: verdict, value and text", () => {
    expect(go.cases.length).toBeGreaterThan(1500);
    const wrong = differences(go.cases, ([text, ...theirs]) => {
      const nanos = parseNanoseconds(text);
      return { ours: nanos.ok ? [nanos.value.toString(), formatNanoseconds(nanos.value)] : [], theirs };
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    ["1h30m", 5_400_000],
    ["144h0m0s", 518_400_000],
    ["300s", 300_000],
    ["0", 0],
    ["-1.5s", -1500],
    ["1ns", 1],
    ["-1ns", -1],
    ["1000001ns", 2],
    ["999999us", 1000],
  ])("%s is %d ms: what is finer is rounded away from zero", (text, millis) => {
    expect(parseDuration(text)).toEqual(accepted(millis));
  });

  test.each([
    [5_400_000, "1h30m0s"],
    [300_000, "5m0s"],
    [1_500, "1.5s"],
    [1, "1ms"],
    [0.25, "250µs"],
    [0, "0s"],
    [-60_000, "-1m0s"],
  ])("%d ms is written %s", (millis, text) => {
    expect(formatDuration(millis)).toBe(text);
  });

  test("of whole milliseconds read back as written", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_223_372_036_854, max: 9_223_372_036_854 }), millis => {
        expect(parseDuration(formatDuration(millis))).toEqual(accepted(millis));
      }),
    );
  });

  test("in whole hours, minutes and seconds mean the same as in nanoseconds", () => {
    const part = (unit: string) =>
      fc.option(fc.nat(99_999), { nil: undefined }).map(n => (n === undefined ? "" : `${n}${unit}`));
    fc.assert(
      fc.property(part("h"), part("m"), part("s"), (hours, minutes, seconds) => {
        const text = hours + minutes + seconds;
        const nanos = parseNanoseconds(text);
        expect(parseDuration(text)).toEqual(nanos.ok ? accepted(Number(nanos.value / 1_000_000n)) : nanos);
      }),
    );
  });

  test("that cannot be read are refused with what to write", () => {
    expect(errorOf(parseDuration("2 days"))).toBe('"2 days" is not a duration: write one such as 90s, 15m or 1h30m');
  });

  test("may be Never, exactly so written", () => {
    expect(parseDurationOrNever("Never")).toEqual(accepted("Never"));
    expect(parseDurationOrNever("10m")).toEqual(accepted(600_000));
    expect(errorOf(parseDurationOrNever("never"))).toMatch(/, or Never$/);
  });
});

describe("a budget's duration", () => {
  test.each([
    ["1m", 1],
    ["60s", 1],
    ["1m59.999s", 1],
    ["119s", 1],
    ["1h30m45s", 90],
    ["8h", 480],
  ])("%s is %d minutes: seconds are dropped", (text, minutes) => {
    expect(parseBudgetDuration(text)).toEqual(accepted(minutes * 60_000));
  });

  test.each([["59s"], ["59.999s"], ["0s"], ["-1h"]])("%s is shorter than a minute and refused", text => {
    expect(errorOf(parseBudgetDuration(text))).toMatch(/shorter than a minute: write at least 1m/);
  });

  test("that is no duration is refused as such", () => {
    expect(errorOf(parseBudgetDuration("Never"))).toMatch(/is not a duration/);
  });
});

describe("times", () => {
  test("agree with metav1.Time and MicroTime to the millisecond", () => {
    expect(kubernetes.cases.length).toBeGreaterThan(400);
    const wrong = differences(kubernetes.cases, ([text, ...theirs]) => ({
      ours: [valueOf(parseTime(text)), valueOf(parseMicroTime(text))],
      theirs,
    }));
    expect(wrong).toEqual([]);
  });

  test.each([
    [1_769_848_200_000, "2026-01-31T08:30:00Z", "2026-01-31T08:30:00.000000Z"],
    [1_769_848_200_999, "2026-01-31T08:30:00Z", "2026-01-31T08:30:00.999000Z"],
    [-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999000Z"],
  ])("%d is written in whole seconds, or in microseconds", (instant, time, microTime) => {
    expect([formatTime(instant), formatMicroTime(instant)]).toEqual([time, microTime]);
  });

  test("read back as written", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), instant => {
        expect(certain(parseMicroTime(formatMicroTime(instant)))).toBe(instant);
        expect(certain(parseTime(formatTime(instant)))).toBe(Math.floor(instant / 1000) * 1000);
      }),
    );
  });

  test("that cannot be read are refused with what to write", () => {
    expect(errorOf(parseTime("tomorrow"))).toBe('"tomorrow" is not a time: write one such as 2026-01-31T08:30:00Z');
    expect(errorOf(parseMicroTime("2026-01-31T08:30:00Z"))).toMatch(/in microseconds: write one such as .*\.000000Z/);
    expect(errorOf(parseMicroTime("2026-02-30T08:30:00.000000Z"))).toMatch(/is not a time/);
  });
});
