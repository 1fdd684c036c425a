// Drops what a structural schema does not know, as the API server does on every write. It never judges values and
// never touches apiVersion, kind and metadata of a resource: those are object-meta.ts' matter.

import type { Schema } from "./schema.ts";

const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Prunes in place and returns the dropped paths, sorted, as `unknown field "…"` spells them. */
export function prune(value: unknown, schema: Schema, { root }: { root: boolean }): string[] {
  const dropped: string[] = [];
  pruneValue(value, root ? asResource(schema) : schema, "", dropped);
  return dropped.sort();
}

const resourceBySchema = new WeakMap<Schema, Schema>();

/** The schema of a root is that of a resource, whether it says so or not. Made once: every write asks for it. */
export function asResource(schema: Schema): Schema {
  let made = resourceBySchema.get(schema);
  if (made === undefined) {
    made = { ...schema, "x-kubernetes-embedded-resource": true };
    resourceBySchema.set(schema, made);
  }
  return made;
}

function pruneValue(value: unknown, schema: Schema | undefined, path: string, dropped: string[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) pruneItems(value, schema, path, dropped);
  else pruneFields(value as Record<string, unknown>, schema, path, dropped);
}

function pruneItems(items: unknown[], schema: Schema | undefined, path: string, dropped: string[]): void {
  // Items of a list that keeps unknown fields keep them too, even where `items` does not say so itself.
  const itemSchema =
    schema?.["x-kubernetes-preserve-unknown-fields"] === true
      ? schema.items && { ...schema.items, "x-kubernetes-preserve-unknown-fields": true }
      : schema?.items;
  if (itemSchema === undefined && schema?.["x-kubernetes-preserve-unknown-fields"] === true) return;
  for (let i = 0; i < items.length; i++) pruneValue(items[i], itemSchema, `${path}[${i}]`, dropped);
}

function pruneFields(
  fields: Record<string, unknown>,
  schema: Schema | undefined,
  path: string,
  dropped: string[],
): void {
  const preserve = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = schema?.["x-kubernetes-embedded-resource"] === true;
  for (const key of Object.keys(fields)) {
    if (embedded && metaFields.has(key)) continue;
    const at = path === "" ? key : `${path}.${key}`;
    const known = fieldSchema(schema, key);
    if (known !== undefined) {
      // `additionalProperties: true` names no schema, so the fields of what stands there are unknown: pruned.
      pruneValue(fields[key], known === true ? undefined : known, at, dropped);
    } else if (!preserve) {
      dropped.push(at);
      delete fields[key];
    }
  }
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | true | undefined {
  if (schema === undefined) return undefined;
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const additional = schema.additionalProperties;
  // `additionalProperties: false` counts as present in the server's pruning too: the keys stay.
  return additional === undefined ? undefined : typeof additional === "object" ? additional : true;
}
