// Fills in defaults of a structural schema as the API server does: before validation, inside whatever is present,
// never for an absent parent. It never looks at x-kubernetes-* keywords or validity.

import { fieldSchema } from "./correlate.ts";
import type { Schema } from "./schema.ts";

/** In place: first nulls that may be neither null nor defaulted are removed, then defaults are filled in. */
export function applyDefaults(value: unknown, schema: Schema): void {
  dropNulls(value, schema);
  fill(value, schema);
}

function dropNulls(value: unknown, schema: Schema | undefined): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    // A null item has no key to remove: it stays and is validation's matter.
    for (const item of value) dropNulls(item, schema?.items);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const known = schema && fieldSchema(schema, key);
    if (fields[key] === null && known && known.nullable !== true && hasNoDefault(known)) delete fields[key];
    else dropNulls(fields[key], known);
  }
}

function fill(value: unknown, schema: Schema): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items) for (let i = 0; i < value.length; i++) value[i] = filled(value[i], schema.items);
    return;
  }
  const fields = value as Record<string, unknown>;
  const properties = schema.properties ?? {};
  for (const key of Object.keys(properties)) {
    const known = properties[key] as Schema; // a key of the object itself
    if (!Object.hasOwn(fields, key) && !hasNoDefault(known)) fields[key] = structuredClone(known.default);
  }
  for (const key in fields) {
    const known = fieldSchema(schema, key);
    const value = fields[key];
    // A text or a number has nothing below it, and is not null.
    if (known && typeof value === "object") fields[key] = filled(value, known);
  }
}

function filled(value: unknown, schema: Schema): unknown {
  const present =
    value === null && schema.nullable !== true && !hasNoDefault(schema) ? structuredClone(schema.default) : value;
  fill(present, schema);
  return present;
}

function hasNoDefault(schema: Schema): boolean {
  return schema.default === undefined || schema.default === null;
}
