// JSON merge patch, RFC 7386, with the API server's one peculiarity: nulls vanish also inside objects in new lists.

import { isObject, type JsonObject, setField } from "./json-value.ts";

/** A new value that shares with its arguments what neither of them changes. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(target)) {
    if (!Object.hasOwn(patch, key)) setField(result, key, target[key]);
    else if (patch[key] !== null) setField(result, key, merged(target[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (!Object.hasOwn(target, key) && patch[key] !== null) setField(result, key, withoutNulls(patch[key]));
  }
  return result;
}

function merged(target: unknown, patch: unknown): unknown {
  return isObject(target) && isObject(patch) ? mergePatch(target, patch) : withoutNulls(patch);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isObject(value) ? mergePatch({}, value) : value;
}
