// Cron schedules by the rules of robfig/cron v3 (the ones of CronJobs and Karpenter's budgets), in any time zone:
// which texts are schedules, and when one fires next. Windows over schedules are window.ts.

import { civilDate, dayNumber, daysInMonth, weekday } from "./calendar.ts";
import { int64 } from "./int64.ts";
import { accepted, type Parsed, quoted, refused } from "./parsed.ts";
import { type Instant, minuteMs, secondMs } from "./time.ts";
import { type Stretch, type TimeZone, utc } from "./time-zone.ts";

/** The values of one field. `next[i]` is the smallest of them that is at least i, -1 if there is none. */
type ValueSet = { next: readonly number[]; isStar: boolean };

export type Schedule = {
  readonly text: string;
  readonly minute: ValueSet;
  readonly hour: ValueSet;
  readonly dayOfMonth: ValueSet;
  readonly month: ValueSet;
  readonly dayOfWeek: ValueSet;
};

type Field = { name: string; min: number; max: number; values: string; names: readonly string[] };

const fields: readonly [Field, Field, Field, Field, Field] = [
  { name: "minute", min: 0, max: 59, values: "0-59", names: [] },
  { name: "hour", min: 0, max: 23, values: "0-23", names: [] },
  { name: "day of month", min: 1, max: 31, values: "1-31", names: [] },
  {
    name: "month",
    min: 1,
    max: 12,
    values: "1-12 or jan-dec",
    names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  {
    name: "day of week",
    min: 0,
    max: 6,
    values: "0-6 (0 is Sunday) or sun-sat",
    names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  },
];

const macros = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

// robfig gives up after the fifth year that follows the one it starts in.
const yearsMax = 5;

/**
 * Five fields or a macro. Stricter than robfig in three things that it reads as something nobody means: `@every`,
 * an empty item in a list (`1,,2`), and a range that begins with a star (`*-5`).
 */
export function parseSchedule(text: string): Parsed<Schedule> {
  const trimmed = text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
  if (/^(CRON_)?TZ=/.test(trimmed)) {
    return refused(`schedule ${quoted(text)} names a time zone: write it in the field timeZone`);
  }
  if (trimmed.startsWith("@") && !macros.has(trimmed)) {
    return refused(
      `schedule ${quoted(text)} is not known: write five fields or one of ${[...macros.keys()].join(" ")}`,
    );
  }
  const parts = (macros.get(trimmed) ?? trimmed).split(/[\s\u0085]+/).filter(part => part !== "");
  if (parts.length !== fields.length) {
    return refused(
      `schedule ${quoted(text)} has ${parts.length} fields: write five, minute hour day-of-month month day-of-week`,
    );
  }
  return scheduleOf(text, parts);
}

/**
 * The first hit after an instant; undefined if there is none up to the end of the fifth year after.
 *
 * A hit is a minute whose local date and time match, so that an hour which the clocks repeat fires in both its runs,
 * as robfig does it. A hit that the clocks skip fires where they land, where robfig loses it: a freeze must freeze.
 * Where clocks change at midnight or by part of an hour, robfig 3.0.1 also steps past days, or fires on wrong ones;
 * here the wall clock decides.
 */
export function nextHit(schedule: Schedule, after: Instant, zone: TimeZone = utc): Instant | undefined {
  let stretch = zone.stretchAt(after);
  let local = Math.floor((after + stretch.offsetMs) / minuteMs) + 1;
  const end = endOfSearch(after, stretch);
  for (;;) {
    const hit = nextMinute(schedule, local, end);
    const at = hit * minuteMs - stretch.offsetMs;
    if (at < stretch.until) return at;
    if (stretch.until + stretch.offsetMs >= end * minuteMs) return undefined;
    const next = zone.stretchAt(stretch.until);
    if (hit * minuteMs < stretch.until + next.offsetMs) return stretch.until;
    local = Math.ceil((stretch.until + next.offsetMs) / minuteMs);
    stretch = next;
  }
}

/** The first minute of a day, counted from midnight, that is at least `from` and fires on days that match; or -1. */
export function nextMinuteOfDay({ hour, minute }: Schedule, from: number): number {
  const fromHour = Math.floor(from / 60);
  if (hour.next[fromHour] === fromHour) {
    const sameHour = minute.next[from % 60] ?? -1;
    if (sameHour >= 0) return fromHour * 60 + sameHour;
  }
  const laterHour = hour.next[fromHour + 1] ?? -1;
  return laterHour < 0 ? -1 : laterHour * 60 + (minute.next[0] ?? 0);
}

function endOfSearch(after: Instant, { offsetMs }: Stretch): number {
  const start = civilDate(Math.floor((after + secondMs + offsetMs) / minuteMs / 1440));
  return dayNumber({ year: start.year + yearsMax + 1, month: 1, day: 1 }) * 1440;
}

// Minutes of local time since 1970, no zone involved. Infinity if nothing matches before `end`.
function nextMinute(schedule: Schedule, from: number, end: number): number {
  let day = Math.floor(from / 1440);
  let startsAt = from - day * 1440;
  const date = civilDate(day);
  const endDay = end / 1440;
  while (day < endDay) {
    const monthLength = daysInMonth(date.year, date.month);
    if (!has(schedule.month, date.month)) {
      day += monthLength - date.day + 1;
      date.day = monthLength;
    } else {
      const found = dayMatches(schedule, date.day, day) ? nextMinuteOfDay(schedule, startsAt) : -1;
      if (found >= 0) return day * 1440 + found;
      day++;
    }
    startsAt = 0;
    if (date.day < monthLength) {
      date.day++;
    } else {
      date.day = 1;
      date.year += date.month === 12 ? 1 : 0;
      date.month = (date.month % 12) + 1;
    }
  }
  return Number.POSITIVE_INFINITY;
}

// If both day fields are restricted, one of them is enough; a star in either makes it both.
function dayMatches({ dayOfMonth, dayOfWeek }: Schedule, dateInMonth: number, day: number): boolean {
  const byDate = has(dayOfMonth, dateInMonth);
  const byWeekday = has(dayOfWeek, weekday(day));
  return dayOfMonth.isStar || dayOfWeek.isStar ? byDate && byWeekday : byDate || byWeekday;
}

function has(set: ValueSet, value: number): boolean {
  return set.next[value] === value;
}

function scheduleOf(text: string, parts: readonly string[]): Parsed<Schedule> {
  const sets: ValueSet[] = [];
  for (const [index, field] of fields.entries()) {
    const set = valueSet(parts[index] ?? "", field);
    if (typeof set === "string") {
      return refused(`schedule ${quoted(text)}: ${field.name} ${set}; it takes ${field.values}`);
    }
    sets.push(set);
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = sets as [ValueSet, ValueSet, ValueSet, ValueSet, ValueSet];
  return accepted({ text, minute, hour, dayOfMonth, month, dayOfWeek });
}

/** The set, or what is wrong with it. */
function valueSet(part: string, field: Field): ValueSet | string {
  const members = new Set<number>();
  let isStar = false;
  for (const item of part.split(",")) {
    const range = rangeOf(item, field);
    if (typeof range === "string") return range;
    for (let value = range.from; value <= range.to; value += range.step) members.add(value);
    // A step makes it a restriction: `*/2` is none of the stars of the day rule, `*/1` still is.
    isStar ||= range.isStar && range.step === 1;
  }
  const next: number[] = Array(field.max + 2).fill(-1);
  for (let value = field.max; value >= 0; value--) next[value] = members.has(value) ? value : (next[value + 1] ?? -1);
  return { next, isStar };
}

type Range = { from: number; to: number; step: number; isStar: boolean };

function rangeOf(item: string, field: Field): Range | string {
  if (item === "") return "has an empty item";
  const [range = "", stepText, ...moreSteps] = item.split("/");
  const [low = "", high, ...moreHighs] = range.split("-");
  if (moreSteps.length > 0) return `has too many slashes in ${quoted(item)}`;
  if (moreHighs.length > 0) return `has too many hyphens in ${quoted(item)}`;
  const step = stepText === undefined ? 1 : count(stepText);
  if (step === undefined || step === 0) return `has a step that is no positive number in ${quoted(item)}`;
  const isStar = low === "*" || low === "?";
  if (isStar) {
    return high === undefined
      ? { from: field.min, to: field.max, step, isStar }
      : `has a range that begins with a star in ${quoted(item)}`;
  }
  const from = valueOf(low, field);
  // "5/15" runs to the end of the field, "5" is 5 alone.
  const to = high === undefined ? (stepText === undefined ? from : field.max) : valueOf(high, field);
  if (from === undefined || to === undefined) return `cannot be ${quoted(item)}`;
  if (from < field.min || to > field.max) return `is out of range in ${quoted(item)}`;
  return from > to ? `has a range that ends before it begins in ${quoted(item)}` : { from, to, step, isStar };
}

function valueOf(text: string, field: Field): number | undefined {
  const named = text === "" ? -1 : field.names.indexOf(text.toLowerCase());
  return named >= 0 ? named : count(text);
}

// A plus sign is allowed, as robfig has it from Go.
function count(text: string): number | undefined {
  const number = text.startsWith("-") ? undefined : int64(text);
  return number === undefined ? undefined : Number(number);
}
