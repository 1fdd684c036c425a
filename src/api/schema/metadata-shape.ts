// metav1.ObjectMeta as a schema: which fields metadata has and of which types. The schema of a custom kind never says
// this; the server knows it.

import { fieldSchema, isFields } from "./correlate.ts";
import type { Schema } from "./schema.ts";

const text: Schema = { type: "string" };
const whole: Schema = { type: "integer" };
const flag: Schema = { type: "boolean" };
const time: Schema = { type: "string", format: "date-time" };
const texts: Schema = { type: "object", additionalProperties: text };
const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** metav1.ObjectMeta. */
export const objectMetaSchema: Schema = {
  type: "object",
  properties: {
    annotations: texts,
    creationTimestamp: time,
    deletionGracePeriodSeconds: whole,
    deletionTimestamp: time,
    finalizers: { type: "array", items: text },
    generateName: text,
    generation: whole,
    labels: texts,
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          fieldsType: text,
          fieldsV1: anything,
          manager: text,
          operation: text,
          subresource: text,
          time,
        },
      },
    },
    name: text,
    namespace: text,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: { apiVersion: text, blockOwnerDeletion: flag, controller: flag, kind: text, name: text, uid: text },
      },
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};

/** What Go's decoder says of the first field of a wrong type; null is the same as absent. */
export function typeComplaint(value: unknown, schema: Schema, field: string): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (schema.type) {
    case "string":
      return typeof value === "string"
        ? timeComplaint(value, schema)
        : wrong(value, field, schema.format === "date-time" ? "time.Time" : "string");
    case "boolean":
      return typeof value === "boolean" ? undefined : wrong(value, field, "bool");
    case "integer":
      return Number.isInteger(value) ? undefined : wrong(value, field, "int64");
    case "array":
      return Array.isArray(value) ? itemsComplaint(value, schema, field) : wrong(value, field, "[]string");
    default:
      return isFields(value)
        ? fieldsComplaint(value, schema, field)
        : wrong(value, field, schema.additionalProperties === undefined ? "v1.ObjectMeta" : "map[string]string");
  }
}

// Loops: it is asked of every write to a custom kind, and there is hardly ever something to complain about.
function itemsComplaint(items: readonly unknown[], schema: Schema, field: string): string | undefined {
  for (const item of items) {
    const complaint = typeComplaint(item, schema.items ?? anything, field);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function fieldsComplaint(value: Readonly<Record<string, unknown>>, schema: Schema, field: string): string | undefined {
  const named = schema.properties !== undefined;
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key);
    const below = named ? (field === "" ? key : `${field}.${key}`) : field;
    const complaint = known && typeComplaint(value[key], known, below);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function wrong(value: unknown, field: string, goType: string): string {
  const place = field === "" ? "value" : `struct field ObjectMeta.${field}`;
  return `json: cannot unmarshal ${jsonKind(value)} into Go ${place} of type ${goType}`;
}

function timeComplaint(value: string, schema: Schema): string | undefined {
  if (schema.format !== "date-time" || !Number.isNaN(Date.parse(value))) return undefined;
  return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
