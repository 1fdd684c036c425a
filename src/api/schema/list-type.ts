// Lists that are sets hold no value twice, lists that are maps no key twice. Only that is judged here.

import { fieldSchema, isFields } from "./correlate.ts";
import { goJson } from "../go-text.ts";
import { duplicate, invalid } from "./field-error.ts";
import { reaches } from "./reaches.ts";
import type { FieldError, Schema } from "./schema.ts";

const hasKeyedList = reaches(schema => ["set", "map"].includes(schema["x-kubernetes-list-type"] ?? ""));

/** `old` is what was there before: what is the very same is passed over. */
export function listTypeErrors(value: unknown, schema: Schema, old?: unknown, path = ""): FieldError[] {
  if (value === old || !hasKeyedList(schema)) return [];
  if (Array.isArray(value)) return listErrors(value, schema, old, path);
  if (!isFields(value)) return [];
  const before = isFields(old) ? old : {};
  return Object.keys(value).flatMap(key => {
    const known = fieldSchema(schema, key);
    if (known === undefined) return [];
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const at = named ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
    return listTypeErrors(value[key], known, before[key], at);
  });
}

function listErrors(list: readonly unknown[], schema: Schema, old: unknown, path: string): FieldError[] {
  const { items } = schema;
  const before: readonly unknown[] = Array.isArray(old) ? old : [];
  const nested =
    items === undefined ? [] : list.flatMap((item, i) => listTypeErrors(item, items, before[i], `${path}[${i}]`));
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return [...repeated(list).map(i => duplicate(`${path}[${i}]`, list[i])), ...nested];
    case "map":
      return [...mapErrors(list, schema["x-kubernetes-list-map-keys"] ?? [], path), ...nested];
    default:
      return nested;
  }
}

function mapErrors(list: readonly unknown[], keys: readonly string[], path: string): FieldError[] {
  if (keys.length === 1 && haveTextsApart(list, keys[0] ?? "")) return [];
  const odd = list.findIndex(item => item !== null && !isFields(item));
  if (odd >= 0) return [invalid(`${path}[${odd}]`, list[odd], "must be an object for an array of list-type map")];
  const keyed = list.map(item => {
    const fields = isFields(item) ? item : {};
    return Object.fromEntries(keys.filter(key => Object.hasOwn(fields, key)).map(key => [key, fields[key]]));
  });
  return repeated(keyed).map(i => duplicate(`${path}[${i}]`, keyed[i]));
}

/** Whether each item has a text of its own under the key: nearly every list is so, and nothing is to be written out. */
function haveTextsApart(list: readonly unknown[], key: string): boolean {
  const texts = new Set<string>();
  for (const item of list) {
    const text = isFields(item) && Object.hasOwn(item, key) ? item[key] : undefined;
    if (typeof text !== "string") return false;
    texts.add(text);
  }
  return texts.size === list.length;
}

/** The place of each value's second appearance; the third and later are not reported again. */
function repeated(list: readonly unknown[]): number[] {
  const times = new Map<string, number>();
  const places: number[] = [];
  for (const [i, item] of list.entries()) {
    const key = goJson(item);
    const seen = times.get(key) ?? 0;
    times.set(key, seen + 1);
    if (seen === 1) places.push(i);
  }
  return places;
}
