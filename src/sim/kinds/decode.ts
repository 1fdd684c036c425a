// Reads a built-in object as the server's Go types do and leaves it as they would write it: unknown fields and zero
// values dropped, zero-valued fields that Go always writes put in, quantities and times in canonical form. What those
// types cannot hold is refused with 400 in the decoder's words. It knows no rule of any kind.

import { canonicalQuantity, compareQuantities, formatQuantity, milliValue, parseQuantity } from "../../api/quantity.ts";
import { canonicalTime } from "./go-time.ts";
import { type Field, type Shape, structShape } from "./shape.ts";

/** What the Go decoder says; the caller puts the kind in front of it. */
export class DecodingError extends Error {
  override readonly name = "DecodingError";
}

type Json = Record<string, unknown>;

/** Where a value stands, in the words of encoding/json: the innermost struct and the names of the fields above. */
type Place = { struct: string; path: string };

/** In place. `name` is the OpenAPI name of the definition. */
export function decode(object: Json, name: string): void {
  const shape = structShape(name);
  decodeValue(object, shape, { struct: lastOf(name), path: "" });
}

/** Undefined stands for a nil, whatever the type. */
function decodeValue(value: unknown, shape: Shape, place: Place): unknown {
  if (value === null || value === undefined) return undefined;
  switch (shape.kind) {
    case "struct":
      return decodeStruct(objectOf(value, shape, place), shape.fields(), {
        struct: lastOf(shape.name),
        path: place.path,
      });
    case "map":
      return decodeMap(objectOf(value, shape, place), shape, place);
    case "list":
      return decodeList(value, shape, place);
    case "anything":
      return value;
    default:
      return decodeScalar(value, shape, place);
  }
}

function decodeStruct(object: Json, fields: ReadonlyMap<string, Field>, place: Place): Json {
  for (const key of Object.keys(object)) {
    const field = fields.get(key);
    const value =
      field && decodeValue(object[key], field.shape, { struct: place.struct, path: joined(place.path, key) });
    if (field === undefined || value === undefined || isDropped(value, field)) delete object[key];
    else object[key] = value;
  }
  for (const [key, { absent, shape }] of fields) {
    if (absent === undefined || Object.hasOwn(object, key)) continue;
    object[key] = absent !== null && shape.kind === "struct" ? decodeStruct({}, shape.fields(), place) : absent;
  }
  return object;
}

function isDropped(value: unknown, { shape, pointer }: Field): boolean {
  if (pointer) return false;
  switch (shape.kind) {
    case "list":
      return (value as unknown[]).length === 0;
    case "map":
      return Object.keys(value as Json).length === 0;
    case "string":
    case "bytes":
    case "boolean":
    case "int32":
    case "int64":
    case "float64":
      return value === "" || value === false || value === 0;
    default:
      return false;
  }
}

function decodeMap(object: Json, { values, goType }: Shape & { kind: "map" }, place: Place): Json {
  for (const key of Object.keys(object)) {
    const value = decodeValue(object[key], values, place) ?? zero(values, place);
    object[key] = goType === "v1.ResourceList" ? roundedResource(value as string) : value;
  }
  return object;
}

function decodeList(value: unknown, shape: Shape & { kind: "list" }, place: Place): unknown[] {
  if (!Array.isArray(value)) throw mismatch(value, shape.goType, place);
  for (let i = 0; i < value.length; i++) {
    value[i] = decodeValue(value[i], shape.items, place) ?? zero(shape.items, place);
  }
  return value;
}

/** What Go keeps where a list or a map holds null. */
function zero(shape: Shape, place: Place): unknown {
  switch (shape.kind) {
    case "struct":
      return decodeStruct({}, shape.fields(), place);
    case "list":
    case "map":
    case "anything":
    case "time":
    case "micro-time":
      return null;
    case "quantity":
      return "0";
    case "boolean":
      return false;
    case "string":
    case "bytes":
      return "";
    case "int32":
    case "int64":
    case "float64":
    case "int-or-string":
      return 0;
  }
}

function decodeScalar(value: unknown, shape: Shape, place: Place): unknown {
  switch (shape.kind) {
    case "string":
    case "boolean":
    case "float64":
      return ofType(value, shape, place);
    case "int32":
    case "int64":
      return decodeInteger(value, shape.kind, shape.goType, place);
    case "bytes":
      return decodeBytes(value, shape.goType, place);
    case "int-or-string":
      return typeof value === "string" ? value : decodeInteger(value, "int32", "int32", place);
    case "quantity":
      return decodeQuantity(value);
    default:
      if (typeof value !== "string") throw mismatch(value, "string", place);
      return decodeTime(value, shape.kind === "micro-time");
  }
}

const typeOf = { string: "string", boolean: "boolean", float64: "number" } as const;

function ofType(value: unknown, shape: Shape, place: Place): unknown {
  if (typeof value === typeOf[shape.kind as keyof typeof typeOf]) return value;
  throw mismatch(value, shape.goType, place);
}

function decodeInteger(value: unknown, size: "int32" | "int64", goType: string, place: Place): number {
  if (typeof value !== "number") throw mismatch(value, goType, place);
  const fits = size === "int64" ? Number.isInteger(value) : value === (value | 0);
  if (!fits)
    throw new DecodingError(
      `json: cannot unmarshal number ${value} into Go struct field ${field(place)} of type ${goType}`,
    );
  return value;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeBytes(value: unknown, goType: string, place: Place): string {
  if (typeof value !== "string") throw mismatch(value, goType, place);
  const text = value.replace(/[\r\n]/g, "");
  if (base64.test(text)) return text;
  // Go names the quantum in which the first wrong character stands, or that character.
  const wrong = text.search(/[^A-Za-z0-9+/]/);
  throw new DecodingError(`illegal base64 data at input byte ${wrong < 0 ? text.length - (text.length % 4) : wrong}`);
}

function decodeQuantity(value: unknown): string {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const quantity = parseQuantity(text);
  if (!quantity.ok) {
    throw new DecodingError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return formatQuantity(quantity.value);
}

/** Amounts of resources are kept to a thousandth, rounded up. */
function roundedResource(text: string): string {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return text;
  const milli = { digits: milliValue(parsed.value), exponent: -3, format: parsed.value.format };
  return compareQuantities(milli, parsed.value) === 0 ? text : canonicalQuantity(milli);
}

function decodeTime(value: string, micro: boolean): string {
  const time = canonicalTime(value, micro);
  if ("error" in time) throw new DecodingError(time.error);
  return time.text;
}

function objectOf(value: unknown, shape: Shape, place: Place): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw mismatch(value, shape.goType, place);
}

function mismatch(value: unknown, goType: string, place: Place): DecodingError {
  const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return new DecodingError(`json: cannot unmarshal ${kind} into Go struct field ${field(place)} of type ${goType}`);
}

function field({ struct, path }: Place): string {
  return `${struct}.${path}`;
}

function joined(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
