// IANA time zones as stretches of constant offset from UTC. The data is the JavaScript engine's own;
// UTC never asks it.

import { accepted, type Parsed, quoted, refused } from "./parsed.ts";
import { dayMs, hourMs, type Instant, type Millis, minuteMs, secondMs } from "./time.ts";

/** From `from` until just before `until` the local clock shows UTC + `offsetMs`. The next stretch may have the same offset. */
export type Stretch = { from: Instant; until: Instant; offsetMs: Millis };

export type TimeZone = { readonly name: string; stretchAt(instant: Instant): Stretch };

const always: Stretch = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY, offsetMs: 0 };

export const utc: TimeZone = { name: "UTC", stretchAt: () => always };

// Offsets are looked up for one block at a time. Since 1990 no zone changed its clock twice within 6 days,
// so that probes half as far apart miss nothing.
const blockMs: Millis = 384 * dayMs;
const probeMs: Millis = 3 * dayMs;

// Zones are constants of the engine: remembered for good, there are about 600.
const zones = new Map<string, Parsed<TimeZone>>([
  ["", accepted(utc)],
  ["utc", accepted(utc)],
  ["etc/utc", accepted(utc)],
]);

/** The zone of that name, in any case; the empty name is UTC. */
export function timeZone(name: string): Parsed<TimeZone> {
  const key = name.toLowerCase();
  const zone = zones.get(key) ?? load(name);
  if (zone.ok) zones.set(key, zone);
  return zone;
}

function load(name: string): Parsed<TimeZone> {
  const refusal = refused(`${quoted(name)} is not a time zone: write an IANA name such as Europe/Berlin or UTC`);
  // Some engines also take offsets such as "+01:00", which no other reader of the manifest would.
  if (!/^[A-Za-z]/.test(name)) return refusal;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    return accepted(zoneOf(name, instant => offsetIn(format, instant)));
  } catch {
    return refusal;
  }
}

function zoneOf(name: string, offsetAt: (instant: Instant) => Millis): TimeZone {
  const blocks = new Map<number, Stretch[]>();
  return {
    name,
    stretchAt(instant) {
      const index = Math.floor(instant / blockMs);
      let stretches = blocks.get(index);
      if (stretches === undefined) {
        stretches = stretchesOf(index * blockMs, (index + 1) * blockMs, offsetAt);
        blocks.set(index, stretches);
      }
      // A block is covered whole, so that one of its few stretches holds the instant.
      return stretches.find(stretch => instant < stretch.until)!;
    },
  };
}

function stretchesOf(from: Instant, until: Instant, offsetAt: (instant: Instant) => Millis): Stretch[] {
  const stretches: Stretch[] = [];
  let start = from;
  let offsetMs = offsetAt(from);
  for (let at = from + probeMs; at <= until; at += probeMs) {
    // The block's own end belongs to the next block.
    const offsetThere = offsetAt(Math.min(at, until - secondMs));
    if (offsetThere === offsetMs) continue;
    const change = firstSecond(at - probeMs, Math.min(at, until - secondMs), instant => offsetAt(instant) !== offsetMs);
    stretches.push({ from: start, until: change, offsetMs });
    start = change;
    offsetMs = offsetThere;
  }
  return [...stretches, { from: start, until, offsetMs }];
}

// By halving: false at `low`, true at `high`.
function firstSecond(low: Instant, high: Instant, isAfter: (instant: Instant) => boolean): Instant {
  let before = low / secondMs;
  let after = high / secondMs;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isAfter(middle * secondMs)) after = middle;
    else before = middle;
  }
  return after * secondMs;
}

function offsetIn(format: Intl.DateTimeFormat, instant: Instant): Millis {
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instant)) ?? [];
  const size = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * secondMs;
  return sign === "-" ? -size : size;
}
