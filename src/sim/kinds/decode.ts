// Reads a built-in object as the server's Go types do and leaves it as they would write it: unknown fields and zero
// values dropped, zero-valued fields that Go always writes put in. What those types cannot hold is refused in the
// decoder's words (DecodingError). It knows no rule of any kind.

import { decodeScalar, Mismatch, mismatch, roundedResource, zeroValues } from "./decode-scalar.ts";
import { type Field, type Shape, type Struct, structShape } from "./shape.ts";

type Json = Record<string, unknown>;

/** In place. `name` is the OpenAPI name of the definition. */
export function decode(object: Json, name: string): void {
  decodeValue(object, structShape(name));
}

/** Undefined stands for a nil, whatever the type. */
function decodeValue(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return undefined;
  if (shape.kind === "scalar") return decodeScalar[shape.scalar](value, shape.goType);
  if (shape.kind === "struct") return decodeStruct(objectOf(value, shape), shape);
  if (shape.kind === "list") return decodeList(value, shape);
  return shape.kind === "map" ? decodeMap(objectOf(value, shape), shape) : value;
}

function decodeStruct(object: Json, struct: Struct): Json {
  const fields = struct.fields();
  for (const key of Object.keys(object)) {
    const field = fields.get(key);
    const value = field && decodeField(object[key], field, { struct, key });
    if (value === undefined) delete object[key];
    else object[key] = value;
  }
  for (const [key, { absent, shape }] of fields) {
    if (absent === undefined || Object.hasOwn(object, key)) continue;
    object[key] = absent !== null && shape.kind === "struct" ? decodeStruct({}, shape) : absent;
  }
  return object;
}

function decodeField(value: unknown, field: Field, place: { struct: Struct; key: string }): unknown {
  try {
    const decoded = decodeValue(value, field.shape);
    return decoded === undefined || isDropped(decoded, field) ? undefined : decoded;
  } catch (error) {
    if (error instanceof Mismatch) error.within(place.struct.goType.split(".").at(-1) ?? "", place.key);
    throw error;
  }
}

function isDropped(value: unknown, { shape, pointer }: Field): boolean {
  if (shape.kind === "scalar") return !pointer && (value === "" || value === false || value === 0);
  if (shape.kind === "list") return (value as unknown[]).length === 0;
  return shape.kind === "map" && Object.keys(value as Json).length === 0;
}

function decodeMap(object: Json, { values, goType }: Shape & { kind: "map" }): Json {
  for (const key of Object.keys(object)) {
    const value = decodeValue(object[key], values) ?? zero(values);
    object[key] = goType === "v1.ResourceList" ? roundedResource(value as string) : value;
  }
  return object;
}

function decodeList(value: unknown, { items, goType }: Shape & { kind: "list" }): unknown[] {
  if (!Array.isArray(value)) throw mismatch(value, goType);
  for (let i = 0; i < value.length; i++) value[i] = decodeValue(value[i], items) ?? zero(items);
  return value;
}

function zero(shape: Shape): unknown {
  if (shape.kind === "scalar") return zeroValues[shape.scalar];
  return shape.kind === "struct" ? decodeStruct({}, shape) : null;
}

function objectOf(value: unknown, { goType }: Shape): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw mismatch(value, goType);
}
