// Instants and lengths of time: how manifests write them and how Go and Kubernetes read and write them.
// Never asks what time it is.

import { dayNumber, daysInMonth } from "./calendar.ts";
import { accepted, type Parsed, quoted, refused } from "./parsed.ts";
import { remembered } from "./remembered.ts";

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/** A length of time in milliseconds. */
export type Millis = number;

export const secondMs: Millis = 1_000;
export const minuteMs: Millis = 60 * secondMs;
export const hourMs: Millis = 60 * minuteMs;
export const dayMs: Millis = 24 * hourMs;

const nanosByUnit = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["µs", 1e3], // the micro sign
  ["μs", 1e3], // the Greek letter
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
]);
const int64Max = 2n ** 63n - 1n;

/**
 * A Go duration (`1h30m`, `300s`, `-1.5h`, `0`). What is finer than a millisecond is rounded away from zero,
 * so that a wait is never shorter than it was written.
 */
export const parseDuration = remembered((text): Parsed<Millis> => {
  const plain = plainDuration(text);
  if (plain !== undefined) return accepted(plain);
  const nanos = parseNanoseconds(text);
  if (!nanos.ok) return nanos;
  const whole = nanos.value / 1_000_000n;
  const rest = nanos.value % 1_000_000n;
  return accepted(Number(whole) + (rest > 0n ? 1 : rest < 0n ? -1 : 0));
});

/** What people and Go mostly write, read without arithmetic of 64 bits: whole hours, minutes and seconds in this order. */
function plainDuration(text: string): Millis | undefined {
  const [, hours, minutes, seconds] = /^(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,5})s)?$/.exec(text) ?? [];
  if (hours === undefined && minutes === undefined && seconds === undefined) return undefined;
  return Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs + Number(seconds ?? 0) * secondMs;
}

/** A duration, or `Never`, exactly so written: the wait that does not end. */
export function parseDurationOrNever(text: string): Parsed<Millis | "Never"> {
  if (text === "Never") return accepted("Never");
  const duration = parseDuration(text);
  return duration.ok ? duration : refused(`${duration.error}, or Never`);
}

/** How long a budget or window lasts: whole minutes, seconds dropped; at least one minute. */
export function parseBudgetDuration(text: string): Parsed<Millis> {
  const duration = parseDuration(text);
  if (!duration.ok) return duration;
  const minutes = Math.floor(duration.value / minuteMs);
  if (minutes >= 1) return accepted(minutes * minuteMs);
  return refused(`${quoted(text)} is shorter than a minute: write at least 1m`);
}

/** As Go writes a duration, and so what metav1.Duration becomes in JSON: `1h30m0s`. */
export function formatDuration(duration: Millis): string {
  const whole = Math.trunc(duration);
  return formatNanoseconds(BigInt(whole) * 1_000_000n + BigInt(Math.round((duration - whole) * 1e6)));
}

/** The whole of what Go's ParseDuration reads, in nanoseconds of 64 bits. */
export function parseNanoseconds(text: string): Parsed<bigint> {
  const [, sign, rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "0") return accepted(0n);
  const parts = [...rest.matchAll(/([0-9]*)(\.[0-9]*)?([^.0-9]*)/gy)].filter(([part]) => part !== "");
  const values = parts.map(([, whole = "", fraction = "", unit = ""]) => partNanos(whole, fraction, unit));
  const total = values.reduce<bigint | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
    parts.length === 0 ? undefined : 0n,
  );
  if (total === undefined || total > (sign === "-" ? int64Max + 1n : int64Max)) {
    return refused(`${quoted(text)} is not a duration: write one such as 90s, 15m or 1h30m`);
  }
  return accepted(sign === "-" ? -total : total);
}

export function formatNanoseconds(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

/** RFC 3339, as metav1.Time reads it. What is finer than a millisecond is dropped. */
export const parseTime = remembered((text): Parsed<Instant> => {
  const form = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const instant = form === null ? undefined : instantOf(form);
  if (instant !== undefined) return accepted(instant);
  return refused(`${quoted(text)} is not a time: write one such as 2026-01-31T08:30:00Z`);
});

/** RFC 3339 with exactly six digits of a second: metav1.MicroTime, in Leases and Events. */
export function parseMicroTime(text: string): Parsed<Instant> {
  if (/:\d\d[.,]\d{6}(?!\d)/.test(text)) return parseTime(text);
  return refused(`${quoted(text)} is not a time in microseconds: write one such as 2026-01-31T08:30:00.000000Z`);
}

/** Whole seconds, as metav1.Time; a fraction is dropped. */
export function formatTime(instant: Instant): string {
  return `${new Date(instant).toISOString().slice(0, -5)}Z`;
}

export function formatMicroTime(instant: Instant): string {
  return `${new Date(instant).toISOString().slice(0, -1)}000Z`;
}

// Go adds the fraction in floating point; so do we, to the same last nanosecond.
function partNanos(whole: string, fraction: string, unit: string): bigint | undefined {
  const factor = nanosByUnit.get(unit);
  if (factor === undefined || !/[0-9]/.test(whole + fraction)) return undefined;
  // 2^63 has 19 digits: what is longer is out of range, and digits of a fraction beyond that change nothing.
  if (whole.replace(/^0+/, "").length > 19) return undefined;
  const { digits, scale } = leadingFraction(fraction.slice(1));
  const extra = BigInt(Math.trunc(digits * (factor / scale)));
  const nanos = BigInt(whole || "0") * BigInt(factor) + extra;
  return nanos > int64Max + 1n ? undefined : nanos;
}

function leadingFraction(fraction: string): { digits: number; scale: number } {
  let digits = 0n;
  let scale = 1;
  for (const char of fraction) {
    const more = digits * 10n + BigInt(char);
    if (digits > int64Max / 10n || more > int64Max + 1n) break;
    digits = more;
    scale *= 10;
  }
  return { digits: Number(digits), scale };
}

function decimal(number: bigint, places: number): string {
  const unit = 10n ** BigInt(places);
  const fraction = String(number % unit)
    .padStart(places, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${number / unit}` : `${number / unit}.${fraction}`;
}

function instantOf(form: RegExpExecArray): Instant | undefined {
  const [year, month, date] = [Number(form[1]), Number(form[2]), Number(form[3])];
  const [hours, minutes, seconds] = [Number(form[4]), Number(form[5]), Number(form[6])];
  const offset = offsetOf(form[8] ?? "Z");
  const exists = month >= 1 && month <= 12 && date >= 1 && date <= daysInMonth(year, month);
  if (!exists || hours > 23 || minutes > 59 || seconds > 59 || offset === undefined) return undefined;
  const millis = form[7] === undefined ? 0 : Number(form[7].slice(0, 3).padEnd(3, "0"));
  const days = dayNumber({ year, month, day: date });
  return days * dayMs + hours * hourMs + minutes * minuteMs + seconds * secondMs + millis - offset;
}

// Go's bounds: up to 24 hours and 60 minutes.
function offsetOf(text: string): Millis | undefined {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * hourMs + minutes * minuteMs);
}
