// How a schema looks to CEL: the type that a rule's `self` has, and the value of data under that schema. Fields that
// rules must not see (no type, not declared) are in neither.

import { CelError } from "../cel/error.ts";
import { parseTimestamp } from "../cel/time.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  type Type,
} from "../cel/types.ts";
import { Duration, List, type ListKind, Struct, Timestamp, type Value } from "../cel/values.ts";
import { parseDurationFormat } from "../formats.ts";
import { isFields } from "./correlate.ts";
import { isInt64 } from "./numbers.ts";
import type { Schema } from "./schema.ts";

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** A property's name as CEL writes it; undefined when no escape can make it a name. */
export function escapeName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\-/][\w.\-/]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, mark => escapes[mark] ?? mark);
}

const string: Schema = { type: "string" };

/** The root of a resource always shows its apiVersion, kind, and the names in its metadata, and nothing else of it. */
export function withTypeAndObjectMeta(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const { name, generateName } = metadata?.properties ?? {};
  const complete = [kind, apiVersion, name, generateName].every(property => property?.type === "string");
  if (complete && metadata?.type === "object") return schema;
  const meta: Schema = { type: "object", properties: { name: string, generateName: string } };
  return { ...schema, properties: { ...schema.properties, kind: string, apiVersion: string, metadata: meta } };
}

const isRoot = (schema: Schema): boolean => schema["x-kubernetes-embedded-resource"] === true;

/** Undefined for what rules cannot see. `name` sets object types of different places apart. */
export function celTypeOf(schema: Schema, root: boolean, name: string): Type | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return dynType;
  switch (schema.type) {
    case "array": {
      const item = schema.items && celTypeOf(schema.items, isRoot(schema.items), `${name}.@idx`);
      return item && listOf(item);
    }
    case "object":
      return objectType(root ? withTypeAndObjectMeta(schema) : schema, name);
    case "string":
      return stringFormats[schema.format ?? ""]?.type ?? stringType;
    case "boolean":
      return boolType;
    case "number":
      return doubleType;
    case "integer":
      return intType;
    default:
      return undefined;
  }
}

function objectType(schema: Schema, name: string): Type | undefined {
  const additional = schema.additionalProperties;
  if (typeof additional === "object") {
    const value = celTypeOf(additional, isRoot(additional), `${name}.@elem`);
    return value && mapOf(stringType, value);
  }
  const fields = new Map<string, Type>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(key);
    const type = escaped && celTypeOf(property, isRoot(property), `${name}.${escaped}`);
    if (escaped !== undefined && type) fields.set(escaped, type);
  }
  return { kind: "object", name, fields };
}

type StringFormat = {
  type: Type;
  read: (text: string) => Value | undefined;
  complaint: (text: string) => string;
};

const unreadable =
  (format: string) =>
  (text: string): string =>
    `Invalid ${format} formatted string ${text}`;

const stringFormats: Readonly<Record<string, StringFormat>> = {
  byte: { type: bytesType, read: readBytes, complaint: unreadable("byte") },
  duration: {
    type: durationType,
    read: readDuration,
    complaint: text => `Invalid duration ${text}: unable to parse ${text} as duration`,
  },
  date: {
    type: timestampType,
    read: text => parseTimestamp(`${text}T00:00:00Z`),
    complaint: unreadable("date"),
  },
  "date-time": {
    type: timestampType,
    // An empty text is the epoch to the server's reader.
    read: text => (text === "" ? new Timestamp(0n) : parseTimestamp(text, { local: true })),
    complaint: unreadable("date-time"),
  },
};

/** Of the URL alphabet only, as the server decodes them: a "+" or "/" is an error to a rule. */
function readBytes(text: string): Value | undefined {
  if (!/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/.test(text)) return undefined;
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), character => character.charCodeAt(0));
}

function readDuration(text: string): Value | undefined {
  const nanos = parseDurationFormat(text);
  return nanos === undefined ? undefined : new Duration(nanos);
}

/** Throws CelError where the data is not what the schema says. */
export function celValueOf(raw: unknown, schema: Schema): Value {
  if (raw === null || raw === undefined) {
    if (schema.nullable === true) return null;
    throw new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"] === true) return intOrString(raw);
  switch (schema.type) {
    case "object":
      return objectValue(raw, schema);
    case "array":
      return listValue(raw, schema);
    case "string":
      return stringValue(raw, schema);
    case "number":
      return typeof raw === "number" ? raw : unfit("float", raw);
    case "integer":
      return isInt64(raw) ? BigInt(raw) : unfit("int", raw);
    case "boolean":
      return typeof raw === "boolean" ? raw : unfit("bool", raw);
    default:
      throw new CelError("invalid type, expected object, array, number, integer, boolean or string");
  }
}

function unfit(wanted: string, raw: unknown): never {
  throw new CelError(`invalid data, expected ${wanted}, got ${goType(raw)}`);
}

function goType(raw: unknown): string {
  if (Array.isArray(raw)) return "[]interface {}";
  if (typeof raw === "object") return "map[string]interface {}";
  if (typeof raw === "number") return isInt64(raw) ? "int64" : "float64";
  return typeof raw === "boolean" ? "bool" : typeof raw;
}

function intOrString(raw: unknown): Value {
  if (typeof raw === "string") return raw;
  if (isInt64(raw)) return BigInt(raw);
  throw new CelError("invalid data, expected XIntOrString value to be either a string or integer");
}

function stringValue(raw: unknown, { format }: Schema): Value {
  if (typeof raw !== "string") return unfit("string", raw);
  const special = stringFormats[format ?? ""];
  if (special === undefined) return raw;
  const value = special.read(raw);
  if (value === undefined) throw new CelError(special.complaint(raw));
  return value;
}

function listValue(raw: unknown, schema: Schema): Value {
  const { items } = schema;
  if (!Array.isArray(raw) || items === undefined)
    throw new CelError("invalid data, expected an array for the provided schema with type=array");
  return new List(
    raw.map(item => celValueOf(item, items)),
    listKindOf(schema),
  );
}

function listKindOf(schema: Schema): ListKind {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return "set";
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return type === "map" ? { keys: keys.map(key => escapeName(key) ?? key) } : "atomic";
}

function objectValue(raw: unknown, schema: Schema): Value {
  if (!isFields(raw)) throw new CelError("invalid data, expected a map for the provided schema with type=object");
  const additional = schema.additionalProperties;
  if (schema.properties === undefined && !isRoot(schema) && typeof additional === "object")
    return mapValue(raw, additional);
  return structValue(raw, isRoot(schema) ? withTypeAndObjectMeta(schema) : schema);
}

function mapValue(raw: Readonly<Record<string, unknown>>, schema: Schema): Struct {
  return new Struct(raw, {
    field: key => (Object.hasOwn(raw, key) ? celValueOf(raw[key], schema) : undefined),
    names: () => Object.keys(raw),
    unknown: () => [],
  });
}

/** A null field is as good as an absent one. */
function structValue(raw: Readonly<Record<string, unknown>>, schema: Schema): Struct {
  const properties = schema.properties ?? {};
  const made = new Map<string, Value | undefined>();
  const keyOf = (name: string): string => (Object.hasOwn(properties, name) ? name : unescapeName(name));
  const field = (name: string): Value | undefined => {
    if (made.has(name)) return made.get(name);
    const key = keyOf(name);
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const present = property !== undefined && Object.hasOwn(raw, key) && raw[key] !== null;
    const value = present ? celValueOf(raw[key], property) : undefined;
    made.set(name, value);
    return value;
  };
  const known = (key: string): boolean => Object.hasOwn(properties, key);
  return new Struct(raw, {
    field,
    names: () =>
      Object.keys(raw)
        .filter(known)
        .map(key => escapeName(key) ?? key),
    unknown: () => Object.keys(raw).filter(key => !known(key)),
  });
}

function unescapeName(name: string): string {
  return name.replace(/__([a-z]+)__/g, (mark, word: string) => {
    const plain = Object.entries(escapes).find(([, escape]) => escape === mark)?.[0];
    return plain ?? (reserved.has(word) ? word : mark);
  });
}
