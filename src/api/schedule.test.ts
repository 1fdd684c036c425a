import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { certain } from "./parsed.ts";
import { nextHit, parseSchedule } from "./schedule.ts";
import { formatTime, minuteMs } from "./time.ts";
import { timeZone, type TimeZone, utc } from "./time-zone.ts";

type Minutes = number[];
type Vectors = {
  utcStart: number;
  zones: string[];
  starts: Minutes[];
  accepted: [text: string, inUtc: Minutes, inZones: Minutes[]][];
  refused: string[];
  differs: [text: number, zone: number, why: "gap" | "walk"][];
};
const go = vectors("schedules") as Vectors;
const zones = go.zones.map(name => certain(timeZone(name)));

/** The vectors are older than this change of a zone's rules (tz 2026c), which a Node may know or not. */
const changedAt = new Map([["Africa/Casablanca", Date.parse("2026-09-20T00:00:00Z")]]);

const at = (text: string) => Date.parse(text);
const schedule = (text: string) => certain(parseSchedule(text));

function hits(
  text: string,
  start: number,
  { zone = utc, count = 1 }: { zone?: TimeZone; count?: number } = {},
): number[] {
  const found: number[] = [];
  let after = start;
  while (found.length < count) {
    const hit = nextHit(schedule(text), after, zone);
    if (hit === undefined) break;
    found.push(hit);
    after = hit;
  }
  return found;
}

const minutesFrom = (start: number, instants: number[]) => instants.map(one => Math.ceil((one - start) / minuteMs));

/** Where text `index` starts in a zone, in milliseconds. */
function startOf(index: number, zone: number): number {
  const starts = go.starts[zone] ?? [];
  return (starts[index % starts.length] ?? 0) * minuteMs;
}

describe("schedules agree with robfig/cron", () => {
  test("in which texts they are", () => {
    expect(go.refused.length).toBeGreaterThan(200);
    expect(go.refused.filter(text => parseSchedule(text).ok)).toEqual([]);
    expect(go.accepted.map(([text]) => text).filter(text => !parseSchedule(text).ok)).toEqual([]);
  });

  test("in every hit in UTC", () => {
    expect(go.accepted.length).toBeGreaterThan(3000);
    const wrong = differences(go.accepted, ([text, theirs]) => ({
      ours: minutesFrom(go.utcStart, hits(text, go.utcStart, { count: 5 })),
      theirs,
    }));
    expect(wrong).toEqual([]);
  });

  // These hits are robfig's, but for the pairs under "differs": there they are what the wall clock shows, minute by
  // minute, with the minutes that it skips put where it lands.
  test.each(go.zones.map((name, zone) => [name, zone] as const))("in %s, by the wall clock", (name, index) => {
    const isSettled = ({ row, theirs = [] }: { row: number; theirs: Minutes | undefined }) =>
      startOf(row, index) + (theirs.at(-1) ?? 0) * minuteMs < (changedAt.get(name) ?? Number.POSITIVE_INFINITY);
    const all = go.accepted.map(([text, , inZones], row) => ({ text, row, theirs: inZones[index] }));
    const rows = all.filter(isSettled);
    expect(rows.length).toBeGreaterThan(all.length / 2);
    const wrong = differences(rows, ({ text, row, theirs }) => {
      const start = startOf(row, index);
      return { ours: minutesFrom(start, hits(text, start, { zone: zones[index] ?? utc, count: 2 })), theirs };
    });
    expect(wrong).toEqual([]);
  });
});

describe("schedules differ from robfig/cron on purpose", () => {
  test("where clocks skip a hit: it fires where they land", () => {
    const gaps = go.differs.filter(([, , why]) => why === "gap");
    expect(gaps.length).toBeGreaterThan(1000);
    for (const [row, zone] of gaps) {
      const [text = "", , inZones] = go.accepted[row] ?? [];
      const instants = (inZones?.[zone] ?? []).map(minutes => startOf(row, zone) + minutes * minuteMs);
      const landings = instants.filter(instant => {
        const [before, after] = [zones[zone]?.stretchAt(instant - 1), zones[zone]?.stretchAt(instant)];
        return before !== undefined && after !== undefined && before.offsetMs < after.offsetMs;
      });
      expect({ text, zone: go.zones[zone], landings: landings.length }).toEqual({
        text,
        zone: go.zones[zone],
        landings: 1,
      });
    }
  });

  test("where its walk stumbles over a change at midnight or of less or more than an hour, and nowhere else", () => {
    const stumbling = new Set(go.differs.filter(([, , why]) => why === "walk").map(([, zone]) => go.zones[zone]));
    expect(go.zones.filter(name => stumbling.has(name)).toSorted()).toEqual([
      "Africa/Cairo",
      "America/Asuncion",
      "America/Havana",
      "America/Santiago",
      "America/Sao_Paulo",
      "Antarctica/Troll", // by two hours
      "Asia/Beirut",
      "Atlantic/Azores",
      "Australia/Lord_Howe", // by half an hour
      "Pacific/Chatham", // at a quarter to three
    ]);
  });

  test.each([["@every 1h"], ["1,,2 * * * *"], [", * * * *"], ["1, * * * *"], ["*-5 * * * *"], ["* ?-3 * * *"]])(
    "in refusing %j, which robfig reads as something that nobody means",
    text => {
      expect(parseSchedule(text).ok).toBe(false);
    },
  );
});

describe("over a change of the clocks", () => {
  const berlin = certain(timeZone("Europe/Berlin"));
  const times = (text: string, start: string, zone: TimeZone, count: number) =>
    hits(text, at(start), { zone, count }).map(formatTime);

  test("a hit in the spring gap fires at the gap's end", () => {
    expect(times("30 2 * * *", "2024-03-30T12:00:00Z", berlin, 2)).toEqual([
      "2024-03-31T01:00:00Z",
      "2024-04-01T00:30:00Z",
    ]);
  });

  test("several hits in the gap are one, also with the hour that follows", () => {
    expect(times("*/20 2,3 * * *", "2024-03-31T00:59:59Z", berlin, 2)).toEqual([
      "2024-03-31T01:00:00Z",
      "2024-03-31T01:20:00Z",
    ]);
  });

  test("a hit in the repeated hour fires in both runs", () => {
    expect(times("30 2 * * *", "2024-10-26T12:00:00Z", berlin, 3)).toEqual([
      "2024-10-27T00:30:00Z",
      "2024-10-27T01:30:00Z",
      "2024-10-28T01:30:00Z",
    ]);
  });

  test("from within the first run, the second is next", () => {
    expect(times("30 2 * * *", "2024-10-27T00:30:00Z", berlin, 1)).toEqual(["2024-10-27T01:30:00Z"]);
  });

  test("a midnight that does not exist is at one o'clock", () => {
    const saoPaulo = certain(timeZone("America/Sao_Paulo"));
    expect(times("@daily", "2018-11-03T12:00:00Z", saoPaulo, 2)).toEqual([
      "2018-11-04T03:00:00Z",
      "2018-11-05T02:00:00Z",
    ]);
  });

  test("a day on which midnight does not exist is still that day, where robfig skips it", () => {
    const cairo = certain(timeZone("Africa/Cairo"));
    expect(times("0 9 28 4 *", "2023-04-01T00:00:00Z", cairo, 1)).toEqual(["2023-04-28T06:00:00Z"]);
  });

  test("half an hour is skipped and repeated on Lord Howe", () => {
    const lordHowe = certain(timeZone("Australia/Lord_Howe"));
    expect(times("15 2 * * *", "2024-10-05T14:00:00Z", lordHowe, 1)).toEqual(["2024-10-05T15:30:00Z"]);
    expect(times("45 1 * * *", "2024-04-06T14:00:00Z", lordHowe, 2)).toEqual([
      "2024-04-06T14:45:00Z",
      "2024-04-06T15:15:00Z",
    ]);
  });
});

describe("a schedule that never fires", () => {
  test.each([["0 0 31 2 *"], ["0 0 30 feb *"], ["0 0 31 4,6,9,11 *"]])("%j has no next hit, in any zone", text => {
    expect(nextHit(schedule(text), at("2024-01-01T00:00:00Z"))).toBeUndefined();
    expect(nextHit(schedule(text), at("2024-01-01T00:00:00Z"), zones[0])).toBeUndefined();
  });

  test("is one whose next hit is after the end of the fifth year, too", () => {
    expect(nextHit(schedule("0 0 29 2 *"), at("2098-12-31T23:59:58Z"))).toBeUndefined();
    expect(nextHit(schedule("0 0 29 2 *"), at("2098-12-31T23:59:59Z"))).toBe(at("2104-02-29T00:00:00Z"));
  });
});

test.each([
  ["61 * * * *", 'schedule "61 * * * *": minute is out of range in "61"; it takes 0-59'],
  ["* 24 * * *", /hour is out of range in "24"; it takes 0-23/],
  ["* * 0 * *", /day of month is out of range in "0"; it takes 1-31/],
  ["* * * 13 *", /month is out of range in "13"; it takes 1-12 or jan-dec/],
  ["* * * * 7", /day of week is out of range in "7"; it takes 0-6 \(0 is Sunday\) or sun-sat/],
  ["* * * * fri-mon", /day of week has a range that ends before it begins in "fri-mon"/],
  ["*/0 * * * *", /minute has a step that is no positive number in "\*\/0"/],
  ["1-2-3 * * * *", /minute has too many hyphens/],
  ["1/2/3 * * * *", /minute has too many slashes/],
  ["noon * * * *", /minute cannot be "noon"/],
  ["1,,2 * * * *", /minute has an empty item/],
  ["* * * *", /has 4 fields: write five, minute hour day-of-month month day-of-week/],
  ["", /has 0 fields/],
  ["@reboot", /write five fields or one of @yearly .* @hourly/],
  ["TZ=UTC 0 0 * * *", /write it in the field timeZone/],
])("%j is refused with the field and what it takes", (text, why) => {
  const parsed = parseSchedule(text);
  expect(parsed.ok ? "" : parsed.error).toMatch(why);
});

const instant = fc.integer({ min: at("2017-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z") });
const anySchedule = fc.constantFrom(...go.accepted.map(([text]) => text));
const anyZone = fc.constantFrom(utc, ...zones);

test("the next hit is after the instant, and none is between", () => {
  fc.assert(
    fc.property(
      anySchedule,
      anyZone,
      instant,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (text, zone, start, part) => {
        const hit = nextHit(schedule(text), start, zone);
        if (hit === undefined) return;
        expect(hit).toBeGreaterThan(start);
        const between = start + Math.floor((hit - 1 - start) * part);
        expect(nextHit(schedule(text), between, zone)).toBe(hit);
      },
    ),
    { numRuns: 1000 },
  );
});
