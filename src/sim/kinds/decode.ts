// Reads a built-in object as the server's Go types do and leaves it as they would write it: zero values dropped,
// zero-valued fields that Go always writes put in. What those types cannot hold is refused in the
// decoder's words (DecodingError). It knows no rule of any kind.

import { setField } from "../json-value.ts";
import { decodeScalar, Mismatch, mismatch, roundedResource, zeroValues } from "./decode-scalar.ts";
import { type Field, type Shape, type Struct, structShape } from "./shape.ts";

type Json = Record<string, unknown>;

/**
 * In place; what lies below may be replaced by copies. `name` is the OpenAPI name of the definition. Returns whether there were fields that the definition does
 * not know: they are left, for whoever wants to name them before they go.
 */
export function decode(object: Json, name: string): boolean {
  const reader = new Reader();
  reader.value(object, structShape(name));
  return reader.metUnknown;
}

class Reader {
  metUnknown = false;

  /** Undefined stands for a nil, whatever the type. */
  value(value: unknown, shape: Shape): unknown {
    if (value === null || value === undefined) return undefined;
    if (shape.kind === "scalar") return decodeScalar[shape.scalar](value, shape.goType);
    if (shape.kind === "struct") return this.#struct(objectOf(value, shape), shape);
    if (shape.kind === "list") return this.#list(value, shape);
    return shape.kind === "map" ? this.#map(objectOf(value, shape), shape) : value;
  }

  #struct(object: Json, struct: Struct): Json {
    const fields = struct.fields();
    let reading = "";
    let isShorter = false;
    try {
      for (const key in object) {
        reading = key;
        if (!this.#field(object, key, fields.known.get(key))) {
          delete object[key];
          isShorter = true;
        }
      }
    } catch (error) {
      if (error instanceof Mismatch) error.within(struct.goType.split(".").at(-1) ?? "", reading);
      throw error;
    }
    for (const { name, absent, shape } of fields.always) {
      if (Object.hasOwn(object, name)) continue;
      object[name] = absent !== null && shape.kind === "struct" ? this.#struct({}, shape) : absent;
    }
    // An object that lost a field is slow to read for the rest of its life, its copy is not; and pods are read often.
    return isShorter ? built(object) : object;
  }

  /** False: it is to go. */
  #field(object: Json, key: string, field: Field | undefined): boolean {
    if (field === undefined) {
      this.metUnknown = true;
      return true;
    }
    const asked = object[key];
    if (field.isText && typeof asked === "string" && asked !== "") return true;
    const value = this.value(asked, field.shape);
    if (value === undefined || isDropped(value, field)) return false;
    object[key] = value;
    return true;
  }

  #map(object: Json, { values, goType }: Shape & { kind: "map" }): Json {
    for (const key in object) {
      const value = this.value(object[key], values) ?? this.#zero(values);
      object[key] = goType === "v1.ResourceList" ? roundedResource(value as string) : value;
    }
    return object;
  }

  #list(value: unknown, { items, goType }: Shape & { kind: "list" }): unknown[] {
    if (!Array.isArray(value)) throw mismatch(value, goType);
    for (let i = 0; i < value.length; i++) value[i] = this.value(value[i], items) ?? this.#zero(items);
    return value;
  }

  /** What Go keeps where a list or a map holds null. */
  #zero(shape: Shape): unknown {
    if (shape.kind === "scalar") return zeroValues[shape.scalar];
    return shape.kind === "struct" ? this.#struct({}, shape) : null;
  }
}

function isDropped(value: unknown, { shape, pointer }: Field): boolean {
  if (shape.kind === "scalar") return !pointer && (value === "" || value === false || value === 0);
  if (shape.kind === "list") return (value as unknown[]).length === 0;
  return shape.kind === "map" && isEmpty(value as Json);
}

/** The same field by field: so those with the same fields are alike to V8. */
function built(object: Json): Json {
  const copy: Json = {};
  for (const key in object) setField(copy, key, object[key]);
  return copy;
}

function isEmpty(object: Json): boolean {
  for (const _ in object) return false;
  return true;
}

function objectOf(value: unknown, { goType }: Shape): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw mismatch(value, goType);
}
