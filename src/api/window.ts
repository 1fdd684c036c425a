// Windows of time: a schedule's hits, each lasting for a duration. Is one open at an instant, since when, until when,
// and when does that change next? Hits that overlap or touch make one period.
// A window is open at its hit and closed at hit + duration, as Karpenter's budgets are. A schedule that never fires
// opens no window (Karpenter takes it for always open): validation warns of it.

import { accepted, type Parsed } from "./parsed.ts";
import { nextHit, nextMinuteOfDay, parseSchedule, type Schedule } from "./schedule.ts";
import { dayMs, type Instant, type Millis, minuteMs, parseBudgetDuration } from "./time.ts";
import { timeZone, type TimeZone } from "./time-zone.ts";

export type Window = {
  readonly schedule: Schedule;
  /** Elapsed time, whatever the clocks do meanwhile. */
  readonly durationMs: Millis;
  readonly zone: TimeZone;
  /** Whether it stays open from the first to the last hit of a day. */
  readonly spansDays: boolean;
};

/** Open from `since` until just before `until`; undefined where that is more than a year away. */
export type Period = { since: Instant | undefined; until: Instant | undefined };

const horizonMs: Millis = 366 * dayMs;

export function parseWindow(fields: { schedule: string; duration: string; timeZone?: string }): Parsed<Window> {
  const schedule = parseSchedule(fields.schedule);
  if (!schedule.ok) return schedule;
  const duration = parseBudgetDuration(fields.duration);
  if (!duration.ok) return duration;
  const zone = timeZone(fields.timeZone ?? "");
  if (!zone.ok) return zone;
  return accepted(windowOf({ schedule: schedule.value, durationMs: duration.value, zone: zone.value }));
}

export function windowOf({ schedule, durationMs, zone }: Omit<Window, "spansDays">): Window {
  return { schedule, durationMs, zone, spansDays: longestPauseMs(schedule) <= durationMs };
}

export function isOpen(window: Window, at: Instant): boolean {
  return coveringHit(window, at) !== undefined;
}

export function openPeriod(window: Window, at: Instant): Period | undefined {
  const hit = coveringHit(window, at);
  return hit === undefined ? undefined : { since: startOf(window, hit), until: endOf(window, hit) };
}

/** When it closes if it is open, when it opens if it is not; undefined if not within a year, or five. */
export function nextEdge(window: Window, at: Instant): Instant | undefined {
  const hit = coveringHit(window, at);
  return hit === undefined ? nextHit(window.schedule, at, window.zone) : endOf(window, hit);
}

// The earliest hit that still lasts.
function coveringHit({ schedule, durationMs, zone }: Window, at: Instant): Instant | undefined {
  const hit = nextHit(schedule, at - durationMs, zone);
  return hit !== undefined && hit <= at ? hit : undefined;
}

function startOf(window: Window, hit: Instant): Instant | undefined {
  const { schedule, durationMs, zone } = window;
  let first = hit;
  while (first > hit - horizonMs) {
    first = sameDay(window, first, "first");
    // Every hit within one duration before reaches up to this one: take the earliest of them.
    const earlier = nextHit(schedule, first - durationMs - 1, zone);
    if (earlier === undefined || earlier === first) return first;
    first = earlier;
  }
  return undefined;
}

function endOf(window: Window, hit: Instant): Instant | undefined {
  const { schedule, durationMs, zone } = window;
  let last = hit;
  while (last < hit + horizonMs) {
    last = sameDay(window, last, "last");
    const later = nextHit(schedule, last, zone);
    if (later === undefined || later - last > durationMs) return last + durationMs;
    last = later;
  }
  return undefined;
}

// From one hit of a day to its first or last without looking at those between, where the window stays open
// and the clocks do not change. A hit at the very start of a stretch may be one that the clocks skipped.
function sameDay({ schedule, zone, spansDays }: Window, hit: Instant, which: "first" | "last"): Instant {
  const stretch = zone.stretchAt(hit);
  if (!spansDays || hit <= stretch.from) return hit;
  const midnight = Math.floor((hit + stretch.offsetMs) / dayMs) * dayMs - stretch.offsetMs;
  const minuteOfDay = which === "first" ? nextMinuteOfDay(schedule, 0) : lastMinuteOfDay(schedule);
  const found = midnight + minuteOfDay * minuteMs;
  return found >= stretch.from && found < stretch.until ? found : hit;
}

function lastMinuteOfDay({ hour, minute }: Schedule): number {
  return Math.max(...hour.next) * 60 + Math.max(...minute.next);
}

function longestPauseMs(schedule: Schedule): Millis {
  let longest = 0;
  let previous = nextMinuteOfDay(schedule, 0);
  for (let next = previous; next >= 0; next = nextMinuteOfDay(schedule, next + 1)) {
    longest = Math.max(longest, next - previous);
    previous = next;
  }
  return longest * minuteMs;
}
