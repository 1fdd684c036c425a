// The static types of CEL and when one may stand where another is wanted, by the rules of the API server's checker.

export type Type =
  | { readonly kind: Scalar }
  | { readonly kind: "list"; readonly item: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  | { readonly kind: "optional"; readonly item: Type }
  | { readonly kind: "object"; readonly name: string; readonly fields: ReadonlyMap<string, Type> }
  | { readonly kind: "opaque"; readonly name: string }
  | { readonly kind: "param"; readonly name: string };

type Scalar =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "null"
  | "string"
  | "timestamp"
  | "type"
  | "uint";

export const boolType: Type = { kind: "bool" };
export const bytesType: Type = { kind: "bytes" };
export const doubleType: Type = { kind: "double" };
export const durationType: Type = { kind: "duration" };
export const dynType: Type = { kind: "dyn" };
export const errorType: Type = { kind: "error" };
export const intType: Type = { kind: "int" };
export const nullType: Type = { kind: "null" };
export const stringType: Type = { kind: "string" };
export const timestampType: Type = { kind: "timestamp" };
export const typeType: Type = { kind: "type" };
export const uintType: Type = { kind: "uint" };

export const listOf = (item: Type): Type => ({ kind: "list", item });
export const mapOf = (key: Type, value: Type): Type => ({ kind: "map", key, value });
export const optionalOf = (item: Type): Type => ({ kind: "optional", item });
export const param = (name: string): Type => ({ kind: "param", name });

/** What type parameters stand for, gathered while an expression is checked. */
export type Bindings = Map<string, Type>;

/** Whether `from` may stand where `to` is wanted; binds parameters, and leaves `bindings` alone when it may not. */
export function isAssignable(bindings: Bindings, from: readonly Type[], to: readonly Type[]): boolean {
  const trial = new Map(bindings);
  if (!allAssignable(trial, from, to)) return false;
  for (const [name, type] of trial) bindings.set(name, type);
  return true;
}

function allAssignable(bindings: Bindings, from: readonly Type[], to: readonly Type[]): boolean {
  return from.length === to.length && from.every((type, i) => assignable(bindings, type, to[i] ?? errorType));
}

function assignable(bindings: Bindings, from: Type, to: Type): boolean {
  if (to.kind === "param") {
    const known = bindings.has(to.name);
    if (substitutes(bindings, from, to)) return true;
    if (known) return false;
  }
  if (from.kind === "param") return substitutes(bindings, to, from);
  if (isDyn(from) || isDyn(to)) return true;
  if (from.kind === "null") return isNullable(to);
  if (to.kind === "null") return isNullable(from);
  return parameters(from).length > 0
    ? from.kind === to.kind && allAssignable(bindings, parameters(from), parameters(to))
    : isSame(from, to);
}

function substitutes(bindings: Bindings, type: Type, parameter: Type & { kind: "param" }): boolean {
  if (type.kind === "param" && type.name === parameter.name) return true;
  const bound = bindings.get(parameter.name);
  if (bound === undefined) {
    if (occursIn(bindings, parameter.name, type)) return false;
    bindings.set(parameter.name, type);
    return true;
  }
  if (!assignable(bindings, type, bound)) return false;
  const general = isDyn(type) ? type : bound;
  if (!occursIn(bindings, parameter.name, general)) bindings.set(parameter.name, general);
  return true;
}

function occursIn(bindings: Bindings, name: string, type: Type): boolean {
  if (type.kind !== "param") return parameters(type).some(part => occursIn(bindings, name, part));
  if (type.name === name) return true;
  const bound = bindings.get(type.name);
  return bound !== undefined && occursIn(bindings, name, bound);
}

/** The type with all its parameters replaced; those that nothing bound become dyn. */
export function resolved(bindings: Bindings, type: Type): Type {
  switch (type.kind) {
    case "param": {
      const bound = bindings.get(type.name);
      return bound === undefined ? dynType : resolved(bindings, bound);
    }
    case "list":
      return listOf(resolved(bindings, type.item));
    case "optional":
      return optionalOf(resolved(bindings, type.item));
    case "map":
      return mapOf(resolved(bindings, type.key), resolved(bindings, type.value));
    default:
      return type;
  }
}

function parameters(type: Type): Type[] {
  if (type.kind === "list" || type.kind === "optional") return [type.item];
  return type.kind === "map" ? [type.key, type.value] : [];
}

function isSame(a: Type, b: Type): boolean {
  return a.kind === b.kind && ("name" in a ? a.name : "") === ("name" in b ? b.name : "");
}

export function isDyn(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

function isNullable(type: Type): boolean {
  return ["object", "opaque", "optional", "duration", "timestamp", "null"].includes(type.kind);
}

/** As the server's messages write it: "list(string)", "map(string, int)". */
export function formatType(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.item)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "optional":
      return `optional_type(${formatType(type.item)})`;
    case "duration":
      return "google.protobuf.Duration";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "error":
      return "!error!";
    case "object":
    case "opaque":
    case "param":
      return type.name;
    default:
      return type.kind;
  }
}
