// How the server's Go types hold each field of a built-in kind: made once per definition, for decode.ts to walk.

import { type Scalar, zeroValues } from "./decode-scalar.ts";
import { type Definition, definitionOf } from "./definitions.ts";

export type Struct = { kind: "struct"; goType: string; fields(): Fields };

export type Fields = {
  known: ReadonlyMap<string, Field>;
  /** Those that are written even when they are absent. */
  always: readonly Field[];
};

/** `goType` is the name of the Go type, as decoding errors spell it. */
export type Shape =
  | { kind: "scalar"; scalar: Scalar; goType: string }
  | { kind: "list"; items: Shape; goType: string }
  | { kind: "map"; values: Shape; goType: string }
  | { kind: "anything"; goType: string }
  | Struct;

export type Field = {
  name: string;
  shape: Shape;
  /** Most fields are, and a text that is one is kept as it is. */
  isText: boolean;
  /** Zero values stay when they are written. */
  pointer: boolean;
  /** What stands there when the field is absent or zero: undefined drops it. A struct's `{}` is decoded in turn. */
  absent: unknown;
};

const textForms: Readonly<Record<string, Shape>> = {
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": scalar("time", "v1.Time"),
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": scalar("micro-time", "v1.MicroTime"),
  "io.k8s.apimachinery.pkg.api.resource.Quantity": scalar("quantity", "resource.Quantity"),
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": scalar("int-or-string", "intstr.IntOrString"),
};

function scalar(name: Scalar, goType: string): Shape {
  return { kind: "scalar", scalar: name, goType };
}

const structs = new Map<string, Shape>();

/** Each definition becomes one shape, its fields read when first asked for: the schema of schemas contains itself. */
export function structShape(name: string): Shape {
  let shape = structs.get(name) ?? textForms[name];
  if (shape === undefined) {
    const definition = definitionOf(name);
    const goType = `${name.split(".").at(-2)}.${name.split(".").at(-1)}`;
    let fields: Fields | undefined;
    shape =
      definition.properties === undefined
        ? { kind: "anything", goType }
        : { kind: "struct", goType, fields: () => (fields ??= fieldsOf(definition)) };
    structs.set(name, shape);
  }
  return shape;
}

function fieldsOf(definition: Definition): Fields {
  const known = new Map<string, Field>();
  for (const [name, property] of Object.entries(definition.properties ?? {})) {
    const shape = shapeOf(property, definition.typeNames?.[name]);
    const pointer = definition.pointers?.includes(name) === true;
    const absent = definition.null?.includes(name) === true ? null : (property.default ?? zeroOf(shape, pointer));
    const isText = shape.kind === "scalar" && shape.scalar === "string";
    known.set(name, { name, shape, isText, pointer, absent });
  }
  return { known, always: [...known.values()].filter(({ absent }) => absent !== undefined) };
}

/** Structs with a text form of their own are never empty to Go's encoder, so their zero value is written out. */
function zeroOf(shape: Shape, pointer: boolean): unknown {
  if (pointer || shape.kind !== "scalar") return undefined;
  return shape.scalar === "quantity" || shape.scalar === "int-or-string" ? zeroValues[shape.scalar] : undefined;
}

function shapeOf(property: Definition, typeName: string | undefined): Shape {
  if (property.$ref !== undefined) return structShape(property.$ref);
  if (property.type === "array") {
    const items = shapeOf(property.items ?? {}, typeName);
    return { kind: "list", items, goType: `[]${items.goType}` };
  }
  if (property.type === "object") {
    const values = shapeOf(property.additionalProperties ?? {}, undefined);
    return { kind: "map", values, goType: typeName ?? `map[string]${values.goType}` };
  }
  const [name, goType] = scalarTypes[`${property.type}/${property.format ?? ""}`] ?? [];
  return name && goType ? scalar(name, typeName ?? goType) : { kind: "anything", goType: "interface {}" };
}

/** By OpenAPI type and format. */
const scalarTypes: Readonly<Record<string, readonly [Scalar, string]>> = {
  "boolean/": ["boolean", "bool"],
  "integer/int32": ["int32", "int32"],
  "integer/int64": ["int64", "int64"],
  "number/double": ["float64", "float64"],
  "string/": ["string", "string"],
  "string/byte": ["bytes", "[]uint8"],
};
