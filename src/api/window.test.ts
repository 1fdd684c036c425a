import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { certain } from "./parsed.ts";
import { parseSchedule } from "./schedule.ts";
import { dayMs, minuteMs } from "./time.ts";
import { timeZone, utc } from "./time-zone.ts";
import { isOpen, nextEdge, openPeriod, parseWindow, type Window, windowOf } from "./window.ts";

type Case = [schedule: string, minutes: number, atSeconds: number, active: 0 | 1];
const karpenter = vectors("windows") as { cases: Case[] };

const at = (text: string) => Date.parse(text);
const window = (schedule: string, duration: string, timeZone = "") =>
  certain(parseWindow({ schedule, duration, timeZone }));

test("a window is open when Karpenter's budget is active: at its hit, and not at hit + duration", () => {
  expect(karpenter.cases.length).toBeGreaterThanOrEqual(1200);
  const wrong = differences(karpenter.cases, ([text, minutes, atSeconds, theirs]) => {
    const schedule = certain(parseSchedule(text));
    const one = windowOf({ schedule, durationMs: minutes * minuteMs, zone: utc });
    return { ours: isOpen(one, atSeconds * 1000) ? 1 : 0, theirs };
  });
  expect(wrong).toEqual([]);
});

describe("office hours in New York", () => {
  const office = window("0 9 * * mon-fri", "8h", "America/New_York");
  const opens = at("2024-07-01T13:00:00Z");
  const closes = at("2024-07-01T21:00:00Z");

  test.each([
    [opens - 1, false, opens],
    [opens, true, closes],
    [closes - 1, true, closes],
    [closes, false, at("2024-07-02T13:00:00Z")],
  ])("at %d", (instant, open, edge) => {
    expect(isOpen(office, instant)).toBe(open);
    expect(openPeriod(office, instant)).toEqual(open ? { since: opens, until: closes } : undefined);
    expect(nextEdge(office, instant)).toBe(edge);
  });
});

describe("hits that overlap or touch are one period", () => {
  test.each([
    ["overlapping", "0 8,10,12 * * *", "3h", "2024-07-01T08:00:00Z", "2024-07-01T15:00:00Z"],
    ["touching", "0 8,10,12 * * *", "2h", "2024-07-01T08:00:00Z", "2024-07-01T14:00:00Z"],
    ["minute by minute", "* 9-16 * * *", "1m", "2024-07-01T09:00:00Z", "2024-07-01T17:00:00Z"],
    ["over midnight", "0 22 * * *", "4h", "2024-07-01T22:00:00Z", "2024-07-02T02:00:00Z"],
    ["day by day", "@hourly", "1h", undefined, undefined],
    ["through the working week", "* * * * mon-fri", "1m", "2024-07-01T00:00:00Z", "2024-07-06T00:00:00Z"],
    ["through a summer", "0 * * 6-8 *", "1h", "2024-06-01T00:00:00Z", "2024-09-01T00:00:00Z"],
    ["longer than the pause between them", "0 0 * * *", "25h", undefined, undefined],
  ])("%s", (_, schedule, duration, since, until) => {
    const instants = { since: since && at(since), until: until && at(until) };
    const inside = since ? at(since) + 30 * minuteMs : at("2024-07-01T10:30:00Z");
    expect(openPeriod(window(schedule, duration), inside)).toEqual(instants);
  });

  test("from the first hit of a day on which the clocks change, not from an hour before", () => {
    const day = window("0 1,5,9,13,17,20 * * *", "4h", "Europe/Berlin");
    expect(openPeriod(day, at("2024-03-31T04:30:00Z"))?.since).toBe(at("2024-03-31T00:00:00Z"));
  });

  test("apart by a minute they are two", () => {
    expect(openPeriod(window("0 8,10 * * *", "1h59m"), at("2024-07-01T08:30:00Z"))).toEqual({
      since: at("2024-07-01T08:00:00Z"),
      until: at("2024-07-01T09:59:00Z"),
    });
  });
});

describe("durations are elapsed time, whatever the clocks do", () => {
  const night = window("0 1 * * *", "3h", "Europe/Berlin");

  test.each([
    ["forward", "2024-03-31T00:00:00Z", "2024-03-31T03:00:00Z"],
    ["back", "2024-10-26T23:00:00Z", "2024-10-27T02:00:00Z"],
  ])("when they go %s", (_, since, until) => {
    expect(openPeriod(night, at(since))).toEqual({ since: at(since), until: at(until) });
  });

  test("a day of 25 hours leaves a window of 24 closed for one", () => {
    const daily = window("@daily", "24h", "Europe/Berlin");
    expect(nextEdge(daily, at("2024-10-27T00:00:00Z"))).toBe(at("2024-10-27T22:00:00Z"));
    expect(isOpen(daily, at("2024-10-27T22:30:00Z"))).toBe(false);
    expect(nextEdge(daily, at("2024-10-27T22:30:00Z"))).toBe(at("2024-10-27T23:00:00Z"));
  });

  test("a window that begins in the gap is open from the gap's end", () => {
    const freeze = window("30 2 * * *", "1h", "Europe/Berlin");
    expect(openPeriod(freeze, at("2024-03-31T01:30:00Z"))).toEqual({
      since: at("2024-03-31T01:00:00Z"),
      until: at("2024-03-31T02:00:00Z"),
    });
  });
});

test("a window of a day that the clocks skip is open after it, and is none of the day after", () => {
  const apia = window("0 12 30 * *", "6h", "Pacific/Apia"); // 2011-12-30 never came
  expect(openPeriod(apia, at("2011-12-30T10:30:00Z"))).toEqual({
    since: at("2011-12-30T10:00:00Z"),
    until: at("2011-12-30T16:00:00Z"),
  });
});

test("a schedule that never fires opens no window", () => {
  const never = window("0 0 31 2 *", "1h");
  expect([isOpen(never, 0), openPeriod(never, 0), nextEdge(never, 0)]).toEqual([false, undefined, undefined]);
});

test.each([
  [{ schedule: "0 25 * * *", duration: "1h" }, /hour is out of range/],
  [{ schedule: "@daily", duration: "30s" }, /write at least 1m/],
  [{ schedule: "@daily", duration: "1 hour" }, /is not a duration/],
  [{ schedule: "@daily", duration: "1h", timeZone: "Berlin" }, /is not a time zone/],
])("%j is refused", (fields, why) => {
  const parsed = parseWindow(fields);
  expect(parsed.ok ? "" : parsed.error).toMatch(why);
});

const zones = ["", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo"];
const anyWindow: fc.Arbitrary<Window> = fc
  .record({
    minute: fc.constantFrom("*", "0", "30", "*/20", "5,50"),
    hour: fc.constantFrom("*", "0", "2", "*/2", "22-23", "0,1,2"),
    days: fc.constantFrom("* * *", "* * sat,sun", "1,15 * *", "*/2 * *"),
    minutes: fc.constantFrom(1, 20, 59, 60, 90, 119, 120, 1440, 1500, 2880),
    zone: fc.constantFrom(...zones),
  })
  .map(({ minute, hour, days, minutes, zone }) =>
    windowOf({
      schedule: certain(parseSchedule(`${minute} ${hour} ${days}`)),
      durationMs: minutes * minuteMs,
      zone: certain(timeZone(zone)),
    }),
  );
// Around changes of the clocks in these zones, and where none is near.
const aroundChange = fc
  .tuple(
    fc.constantFrom(
      ...["2024-03-31T01:00Z", "2024-10-27T01:00Z", "2024-04-06T15:00Z", "2024-10-05T15:30Z"].map(at),
      ...["2018-02-18T02:00Z", "2018-11-04T03:00Z", "2023-04-27T22:00Z", "2023-10-26T21:00Z", "2024-07-01T12:00Z"].map(
        at,
      ),
    ),
    fc.integer({ min: -2 * 1440, max: 2 * 1440 }),
  )
  .map(([change, minutes]) => change + minutes * minuteMs);

describe("for any window, looked at minute by minute", () => {
  test("the edges are where it opens and closes, and nowhere else", () => {
    fc.assert(
      fc.property(anyWindow, aroundChange, (window, start) => {
        const edge = nextEdge(window, start) ?? Number.POSITIVE_INFINITY;
        const open = isOpen(window, start);
        const end = Math.min(edge, start + 3 * dayMs);
        const minutes = Array.from(
          { length: Math.ceil((end - start) / minuteMs) },
          (_, index) => start + index * minuteMs,
        );
        expect(minutes.filter(minute => isOpen(window, minute) !== open)).toEqual([]);
        expect(edge === Number.POSITIVE_INFINITY || isOpen(window, edge) !== open).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("the period that holds an instant begins and ends with it, and is the same for all instants in it", () => {
    fc.assert(
      fc.property(anyWindow, aroundChange, fc.double({ min: 0, max: 1, noNaN: true }), (window, instant, part) => {
        const period = openPeriod(window, instant);
        expect(period !== undefined).toBe(isOpen(window, instant));
        if (period?.since === undefined || period.until === undefined) return;
        expect(period.since <= instant && instant < period.until).toBe(true);
        expect([isOpen(window, period.since - 1), isOpen(window, period.until)]).toEqual([false, false]);
        if (period.until - period.since > 180 * dayMs) return; // from its ends the other may be out of sight
        const inside = period.since + Math.floor((period.until - 1 - period.since) * part);
        expect(openPeriod(window, inside)).toEqual(period);
      }),
      { numRuns: 500 },
    );
  });
});
