// How the server's Go types hold each field of a built-in kind: made once per definition, for decode.ts to walk.

import { type Definition, definitionOf } from "./definitions.ts";

export type Scalar =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "time"
  | "micro-time"
  | "quantity"
  | "int-or-string";

export type Shape =
  | { kind: Scalar; goType: string }
  | { kind: "list"; items: Shape; goType: string }
  | { kind: "map"; values: Shape; goType: string }
  | { kind: "struct"; name: string; goType: string; fields(): ReadonlyMap<string, Field> }
  | { kind: "anything"; goType: string };

export type Field = {
  shape: Shape;
  /** Zero values stay when they are written. */
  pointer: boolean;
  /** What stands there when the field is absent or zero: undefined drops it. A struct's `{}` is decoded in turn. */
  absent: unknown;
};

const scalars: Readonly<Record<string, { kind: Scalar; goType: string }>> = {
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": { kind: "time", goType: "v1.Time" },
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": { kind: "micro-time", goType: "v1.MicroTime" },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { kind: "quantity", goType: "resource.Quantity" },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { kind: "int-or-string", goType: "intstr.IntOrString" },
};

const structs = new Map<string, Shape>();

/** Each definition becomes one shape, its fields read when first asked for: the schema of schemas contains itself. */
export function structShape(name: string): Shape {
  let shape = structs.get(name) ?? scalars[name];
  if (shape === undefined) {
    const definition = definitionOf(name);
    const goType = `${name.split(".").at(-2)}.${name.split(".").at(-1)}`;
    let fields: ReadonlyMap<string, Field> | undefined;
    shape =
      definition.properties === undefined
        ? { kind: "anything", goType }
        : { kind: "struct", name, goType, fields: () => (fields ??= fieldsOf(definition)) };
    structs.set(name, shape);
  }
  return shape;
}

function fieldsOf(definition: Definition): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(definition.properties ?? {})) {
    const shape = shapeOf(property, definition.typeNames?.[name]);
    const pointer = definition.pointers?.includes(name) === true;
    const absent = definition.null?.includes(name) === true ? null : (property.default ?? zeroOf(shape, pointer));
    fields.set(name, { shape, pointer, absent });
  }
  return fields;
}

/** Structs with a text form of their own are never empty to Go's encoder, so their zero value is written out. */
function zeroOf(shape: Shape, pointer: boolean): unknown {
  if (pointer) return undefined;
  return shape.kind === "quantity" ? "0" : shape.kind === "int-or-string" ? 0 : undefined;
}

function shapeOf(property: Definition, typeName: string | undefined): Shape {
  if (property.$ref !== undefined) return structShape(property.$ref);
  switch (property.type) {
    case "array": {
      const items = shapeOf(property.items ?? {}, typeName);
      return { kind: "list", items, goType: `[]${items.goType}` };
    }
    case "object": {
      const values = shapeOf(property.additionalProperties ?? {}, undefined);
      return { kind: "map", values, goType: typeName ?? `map[string]${values.goType}` };
    }
    case "boolean":
      return { kind: "boolean", goType: typeName ?? "bool" };
    case "integer":
      return property.format === "int64"
        ? { kind: "int64", goType: typeName ?? "int64" }
        : { kind: "int32", goType: typeName ?? "int32" };
    case "number":
      return { kind: "float64", goType: typeName ?? "float64" };
    case "string":
      return property.format === "byte"
        ? { kind: "bytes", goType: "[]uint8" }
        : { kind: "string", goType: typeName ?? "string" };
    default:
      return { kind: "anything", goType: "interface {}" };
  }
}
