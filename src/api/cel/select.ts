// Fields, keys and places: what `a.b`, `a.?b` and `a[?b]` mean, and what there is when nothing is there.

import type { Checking } from "./checking.ts";
import { CelError } from "./error.ts";
import type { Typed } from "./function.ts";
import { boolType, dynType, isDyn, optionalOf, type Type } from "./types.ts";
import { Dictionary, List, lookUp, Optional, Struct, Uint, type Value } from "./values.ts";

export function select(checker: Checking, operand: Typed, field: string, at: number): Typed {
  const type = fieldType(checker, operand.type, field, at);
  if (operand.type.kind === "optional")
    return { type: optionalOf(type), run: context => optionalField(operand.run(context), field) };
  return { type, run: context => fieldOf(operand.run(context), field) };
}

export function selectOptional(checker: Checking, operand: Typed, field: string, at: number): Typed {
  const type = fieldType(checker, operand.type, field, at);
  return { type: optionalOf(type), run: context => optionalField(operand.run(context), field) };
}

/** `has(operand.field)`. */
export function hasField(checker: Checking, operand: Typed, field: string, at: number): Typed {
  fieldType(checker, operand.type, field, at);
  return {
    type: boolType,
    run: context => {
      const value = operand.run(context);
      if (value instanceof Optional) return (optionalField(value, field) as Optional).value !== undefined;
      if (!(value instanceof Struct || value instanceof Dictionary)) throw new CelError("no such overload");
      return lookUp(value, field) !== undefined;
    },
  };
}

export function indexOptional(checker: Checking, operand: Typed, index: Typed, at: number): Typed {
  const inner = operand.type.kind === "optional" ? { ...operand, type: operand.type.item } : operand;
  const { type } = checker.call("_[_]", [inner, index], at);
  return {
    type: optionalOf(type),
    run: context => {
      const value = present(operand.run(context));
      const found = value === undefined ? undefined : elementOf(value, index.run(context));
      return found === undefined ? Optional.none : new Optional(found);
    },
  };
}

function fieldType(checker: Checking, operand: Type, field: string, at: number): Type {
  const type = checker.resolve(operand.kind === "optional" ? operand.item : operand);
  if (isDyn(type)) return type.kind === "error" ? type : dynType;
  if (type.kind === "map") return type.value;
  const known = type.kind === "object" ? type.fields.get(field) : undefined;
  if (known !== undefined) return known;
  if (type.kind === "object") return checker.fail(at, `undefined field '${field}'`).type;
  return checker.fail(at, `type '${type.kind}' does not support field selection`).type;
}

function fieldOf(value: Value, field: string): Value {
  if (!(value instanceof Struct || value instanceof Dictionary)) throw new CelError("no such overload");
  const found = lookUp(value, field);
  if (found === undefined) throw new CelError(`no such key: ${field}`);
  return found;
}

function optionalField(value: Value, field: string): Value {
  const inner = present(value);
  const found = inner === undefined ? undefined : lookUp(inner, field);
  return found === undefined ? Optional.none : new Optional(found);
}

function present(value: Value): Value | undefined {
  return value instanceof Optional ? value.value : value;
}

/** The item at a place or under a key; undefined when there is none. */
export function elementOf(value: Value, index: Value): Value | undefined {
  if (!(value instanceof List)) return lookUp(value, index);
  const place = index instanceof Uint ? index.value : index;
  if (typeof place !== "bigint" && typeof place !== "number") throw new CelError("no such overload");
  return value.items[Number(place)];
}
