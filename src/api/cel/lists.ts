// Functions on lists, sets and optionals that CEL rules of a CRD may call.

import { CelError } from "./error.ts";
import { method, type Overload, overload } from "./function.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  optionalOf,
  param,
  stringType,
  timestampType,
  type Type,
  uintType,
} from "./types.ts";
import { compare, contains, Duration, Dictionary, isEqual, List, Optional, Uint, type Value } from "./values.ts";

type Library = Readonly<Record<string, readonly Overload[]>>;

const item = param("T");
const items = listOf(item);
const comparable = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType];

const forEach = (types: readonly Type[], result: (type: Type) => Type, run: Overload["run"]): Overload[] =>
  types.map(type => method([listOf(type)], result(type), run));

function ordered(a: Value, b: Value): number {
  return compare(a, b) ?? 0;
}

function extreme(name: string, sign: 1 | -1): (list: List) => Value {
  return ({ items: values }) => {
    const [first, ...rest] = values;
    if (first === undefined) throw new CelError(`${name} called on empty list`);
    return rest.reduce((best, value) => (ordered(value, best) === sign ? value : best), first);
  };
}

function isSorted({ items: values }: List): boolean {
  return values.every((value, i) => i === 0 || ordered(values[i - 1] ?? null, value) <= 0);
}

const sums: readonly (readonly [Type, (values: readonly never[]) => Value])[] = [
  [intType, (values: readonly bigint[]) => bounded(values.reduce((sum, value) => sum + value, 0n))],
  [uintType, (values: readonly Uint[]) => new Uint(values.reduce((sum, { value }) => sum + value, 0n))],
  [doubleType, (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)],
  [durationType, (values: readonly Duration[]) => new Duration(values.reduce((sum, { nanos }) => sum + nanos, 0n))],
];

function bounded(value: bigint): bigint {
  if (value < -(1n << 63n) || value >= 1n << 63n) throw new CelError("integer overflow");
  return value;
}

function slice(list: List, start: bigint, end: bigint): List {
  const range = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new CelError(`${range}, negative indexes not supported`);
  if (start > end) throw new CelError(`${range}, start index must be less than or equal to end index`);
  if (end > BigInt(list.items.length)) throw new CelError(`${range}, list is length ${list.items.length}`);
  return new List(list.items.slice(Number(start), Number(end)));
}

function flatten(list: List, depth = 1n): List {
  if (depth < 0n) throw new CelError("level must be non-negative");
  const flat = (values: readonly Value[], left: bigint): Value[] =>
    values.flatMap(value => (value instanceof List && left > 0n ? flat(value.items, left - 1n) : [value]));
  return new List(flat(list.items, depth));
}

function distinct(list: List): List {
  const kept: Value[] = [];
  for (const value of list.items) if (!contains(kept, value)) kept.push(value);
  return new List(kept);
}

/** Longer than any list that one evaluation may walk through. */
const rangeMax = 1_000_000n;

function range(length: bigint): List {
  if (length > rangeMax) throw new CelError("operation cancelled: actual cost limit exceeded");
  return new List(Array.from({ length: Math.max(0, Number(length)) }, (_, i) => BigInt(i)));
}

export const listLibrary: Library = {
  distinct: [method([items], items, distinct)],
  flatten: [method([listOf(items)], items, flatten), method([listOf(dynType), intType], listOf(dynType), flatten)],
  indexOf: [
    method([items, item], intType, (list: List, wanted: Value) =>
      BigInt(list.items.findIndex(value => isEqual(value, wanted))),
    ),
  ],
  isSorted: forEach(comparable, () => boolType, isSorted),
  lastIndexOf: [
    method([items, item], intType, (list: List, wanted: Value) =>
      BigInt(list.items.findLastIndex(value => isEqual(value, wanted))),
    ),
  ],
  "lists.range": [overload([intType], listOf(intType), range)],
  max: forEach(comparable, type => type, extreme("max", 1)),
  min: forEach(comparable, type => type, extreme("min", -1)),
  reverse: [method([items], items, (list: List) => new List(list.items.toReversed()))],
  slice: [method([items, intType, intType], items, slice)],
  sort: forEach(comparable, listOf, (list: List) => new List(list.items.toSorted(ordered))),
  sum: sums.map(([type, sum]) => method([listOf(type)], type, (list: List) => sum(list.items as never))),
};

const sets = [items, items];

export const setLibrary: Library = {
  "sets.contains": [overload(sets, boolType, isSuperset)],
  "sets.equivalent": [overload(sets, boolType, (a: List, b: List) => isSuperset(a, b) && isSuperset(b, a))],
  "sets.intersects": [overload(sets, boolType, (a: List, b: List) => a.items.some(value => contains(b.items, value)))],
};

function isSuperset(list: List, part: List): boolean {
  return part.items.every(value => contains(list.items, value));
}

function isZero(value: Value): boolean {
  if (value instanceof List) return value.items.length === 0;
  if (value instanceof Dictionary) return value.entries.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  return value === null || value === false || value === 0n || value === 0 || value === "";
}

function valueOf({ value }: Optional): Value {
  if (value === undefined) throw new CelError("optional.none() dereference");
  return value;
}

const optional = optionalOf(item);

export const optionalLibrary: Library = {
  hasValue: [method([optional], boolType, ({ value }: Optional) => value !== undefined)],
  "optional.none": [overload([], optional, () => Optional.none)],
  "optional.of": [overload([item], optional, (value: Value) => new Optional(value))],
  "optional.ofNonZeroValue": [
    overload([item], optional, (value: Value) => (isZero(value) ? Optional.none : new Optional(value))),
  ],
  or: [method([optional, optional], optional, (a: Optional, b: Optional) => (a.value === undefined ? b : a))],
  orValue: [method([optional, item], item, (a: Optional, b: Value) => a.value ?? b)],
  value: [method([optional], item, valueOf)],
};
