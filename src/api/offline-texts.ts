// Texts whose pattern lets more through than their reader: schedules, time zones, durations, quantities, keys.
// Found by walking the schema beside the value, so that no field can be forgotten.

import { patterns } from "./define.ts";
import { qualifiedNameErrors } from "./name.ts";
import { finding, type OfflineCode, type OfflineFinding } from "./offline-finding.ts";
import { certain, type Parsed } from "./parsed.ts";
import { parseQuantity } from "./quantity.ts";
import { nextHit, parseSchedule } from "./schedule.ts";
import type { Schema } from "./schema/schema.ts";
import { parseDuration, parseDurationOrNever } from "./time.ts";
import { timeZone } from "./time-zone.ts";

type Reader = { code: OfflineCode; read(text: string): Parsed<unknown> };

const duration: Reader = { code: "bad-duration", read: parseDuration };

const readerByPattern = new Map<string, Reader>([
  [patterns.schedule, { code: "bad-schedule", read: parseSchedule }],
  [patterns.timeZone, { code: "bad-time-zone", read: timeZone }],
  [patterns.duration, duration],
  [patterns.signedDuration, duration],
  [patterns.wholeDuration, duration],
  [patterns.durationOrNever, { code: "bad-duration", read: parseDurationOrNever }],
  [patterns.quantity, { code: "bad-quantity", read: parseQuantity }],
  [patterns.qualifiedName, { code: "bad-key", read: readKey }],
]);

/** Any instant will do: a schedule that does not fire within five years of it never does, as far as anybody looks. */
const someInstant = Date.UTC(2000, 0, 1);

export function badTexts(value: unknown, schema: Schema, path = ""): OfflineFinding[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => badTexts(item, items, `${path}[${index}]`)) : [];
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, field]) => {
      const known = fieldOf(schema, key);
      return known ? badTexts(field, known, path === "" ? key : `${path}.${key}`) : [];
    });
  }
  return schema.pattern === undefined ? [] : badText(String(value), schema.pattern, path);
}

function badText(text: string, pattern: string, path: string): OfflineFinding[] {
  const reader = readerByPattern.get(pattern);
  if (reader === undefined) return [];
  const read = reader.read(text);
  if (!read.ok) return [finding(path, reader.code, read.error)];
  return pattern === patterns.schedule ? neverActive(text, path) : [];
}

function neverActive(text: string, path: string): OfflineFinding[] {
  if (nextHit(certain(parseSchedule(text)), someInstant) !== undefined) return [];
  return [finding(path, "never-active", `schedule "${text}" never comes: there is no such day`)];
}

function readKey(text: string): Parsed<string> {
  const [error] = qualifiedNameErrors(text);
  return error === undefined ? { ok: true, value: text } : { ok: false, error };
}

function fieldOf(schema: Schema, key: string): Schema | undefined {
  const known = schema.properties?.[key];
  if (known !== undefined) return known;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
