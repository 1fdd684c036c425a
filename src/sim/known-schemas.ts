// Schemas that read the same are one object, for every server of the process: what is compiled for a schema is kept with
// the object, and a simulation begins by installing the same definitions as the one before.

import type { FieldError, Schema } from "../api/schema/schema.ts";
import { structuralErrors } from "../api/schema/structural.ts";
import { deepFreeze } from "./json-value.ts";

const knownMax = 64;
const schemaByText = new Map<string, Schema>();
const sound = new WeakSet<Schema>();

export function knownSchema(schema: Schema): Schema {
  const text = JSON.stringify(schema);
  const known = schemaByText.get(text);
  if (known !== undefined) return known;
  // All at once: those that are in use come back with their next definition.
  if (schemaByText.size >= knownMax) schemaByText.clear();
  schemaByText.set(text, deepFreeze(schema));
  return schema;
}

/** One that was found sound once is not judged again; where it stands matters only to what is wrong. */
export function unsoundness(schema: Schema, path: string): FieldError[] {
  const known = knownSchema(schema);
  if (sound.has(known)) return [];
  const errors = structuralErrors(known, path);
  if (errors.length === 0) sound.add(known);
  return errors;
}

/** It is known to be sound: whoever wrote it has judged it. */
export function vouchFor(schema: Schema): void {
  sound.add(knownSchema(schema));
}
