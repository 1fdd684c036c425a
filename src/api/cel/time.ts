// Timestamps and durations to the nanosecond, as CEL has them: texts, parts of the calendar, time zones.

import { parseNanoseconds } from "../time.ts";
import { CelError } from "./error.ts";
import { Duration, Timestamp } from "./values.ts";

const second = 1_000_000_000n;
const dayMs = 86_400_000;

export function parseCelDuration(text: string): Duration | undefined {
  const parsed = parseNanoseconds(text);
  return parsed.ok ? new Duration(parsed.value) : undefined;
}

/** RFC 3339 with up to nanoseconds; `local` also takes a time without an offset, as UTC. */
export function parseTimestamp(text: string, { local = false } = {}): Timestamp | undefined {
  const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text);
  if (form === null || (form[3] === undefined && !local)) return undefined;
  const [, head = "", fraction = "", zone = "Z"] = form;
  const ms = Date.parse(`${head}Z`);
  // Date.parse lets the 31st of a shorter month roll over.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== head) return undefined;
  const offset = zone === "Z" ? 0 : offsetMs(zone);
  if (offset === undefined) return undefined;
  return new Timestamp(BigInt(ms - offset) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9)), zone);
}

function offsetMs(zone: string): number | undefined {
  const form = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (form === null || Number(form[2]) > 23 || Number(form[3]) > 59) return undefined;
  return (form[1] === "-" ? -1 : 1) * (Number(form[2]) * 60 + Number(form[3])) * 60_000;
}

/** Go's RFC3339Nano: as many digits after the second as there are. */
export function formatTimestamp({ nanos, zone }: Timestamp): string {
  const whole = floorDiv(nanos, second);
  const shift = zone === "Z" ? 0 : (offsetMs(zone) ?? 0);
  const fraction = (nanos - whole * second).toString().padStart(9, "0").replace(/0+$/, "");
  const head = new Date(Number(whole) * 1000 + shift).toISOString().slice(0, 19);
  return `${head}${fraction === "" ? "" : `.${fraction}`}${zone}`;
}

/** Seconds with their fraction and an s: how CEL writes a duration. */
export function formatCelDuration({ nanos }: Duration): string {
  return `${Number(nanos) / 1e9}s`;
}

export const timestampParts: Readonly<Record<string, (wall: Date) => number>> = {
  getFullYear: wall => wall.getUTCFullYear(),
  getMonth: wall => wall.getUTCMonth(),
  getDayOfYear: wall => Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / dayMs),
  getDayOfMonth: wall => wall.getUTCDate() - 1,
  getDate: wall => wall.getUTCDate(),
  getDayOfWeek: wall => wall.getUTCDay(),
  getHours: wall => wall.getUTCHours(),
  getMinutes: wall => wall.getUTCMinutes(),
  getSeconds: wall => wall.getUTCSeconds(),
  getMilliseconds: wall => wall.getUTCMilliseconds(),
};

/** The wall clock of a zone at an instant, as a Date whose UTC parts are that clock's. */
export function wallClock({ nanos }: Timestamp, zone = "UTC"): Date {
  const ms = Number(floorDiv(nanos, 1_000_000n));
  const fixed = offsetMs(zone.replace(/^(\d)/, "+$1"));
  return new Date(ms + (fixed ?? zoneOffsetMs(ms, zone)));
}

function zoneOffsetMs(ms: number, timeZone: string): number {
  if (timeZone === "UTC" || timeZone === "") return 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    throw new CelError(`unknown time zone ${timeZone}`);
  }
  const shown = format.formatToParts(new Date(ms)).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  return shown === "GMT" ? 0 : (offsetMs(shown.slice(3)) ?? 0);
}

function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
