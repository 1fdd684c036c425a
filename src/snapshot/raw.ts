// Reading objects that anybody may have written anything into. Nothing here throws: what is not of its type is absent.

import type { Labels } from "../api/selector.ts";
import { type Instant, parseTime } from "../api/time.ts";

export type Fields = Readonly<Record<string, unknown>>;

/**
 * The last day of the year 9999, for a time that is there and cannot be read: nothing counted from it is ever due.
 */
export const unreadableTime: Instant = 253_402_214_400_000;

const noFields: Fields = {};
const noItems: readonly unknown[] = [];

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : noFields;
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : noItems;
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Empty counts as absent. */
export function word(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function time(value: unknown): Instant | undefined {
  if (typeof value !== "string") return undefined;
  const parsed = parseTime(value);
  return parsed.ok ? parsed.value : undefined;
}

/** Of a time whose presence alone means something, such as a deletionTimestamp. */
export function timeIfPresent(value: unknown): Instant | undefined {
  return value === undefined || value === null ? undefined : (time(value) ?? unreadableTime);
}

/** The texts of a map; the map itself where it has nothing else. */
export function texts(value: unknown): Labels {
  const map = fields(value);
  for (const key in map) if (typeof map[key] !== "string") return textsAlone(map);
  return map as Labels;
}

function textsAlone(map: Fields): Labels {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, item]) => (typeof item === "string" ? [[key, item]] : [])),
  );
}

/** Optional fields are absent, not undefined, so that views compare as they look. */
export function present<T extends object>(optional: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  // A loop: every view of every kind passes here with every event.
  for (const key in optional) {
    const value = optional[key];
    if (value !== undefined) kept[key] = value as Exclude<T[typeof key], undefined>;
  }
  return kept;
}
