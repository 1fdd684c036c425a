// The standard library of CEL: operators, conversions, sizes, and the parts of timestamps and durations.

import { goFloat, runes } from "../go-text.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import { CelError } from "./error.ts";
import { method, type Overload, overload } from "./function.ts";
import { elementOf } from "./select.ts";
import {
  formatCelDuration,
  formatTimestamp,
  parseCelDuration,
  parseTimestamp,
  timestampParts,
  wallClock,
} from "./time.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  param,
  stringType,
  timestampType,
  type Type,
  typeType,
  uintType,
} from "./types.ts";
import {
  compare,
  concatenate,
  contains,
  type Dictionary,
  Duration,
  isEqual,
  List,
  lookUp,
  type Struct,
  sizeOf,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from "./values.ts";

type Library = Readonly<Record<string, readonly Overload[]>>;

const paramA = param("A");
const paramB = param("B");
const listA = listOf(paramA);
const mapAB = mapOf(paramA, paramB);
const numeric = [intType, uintType, doubleType];
const ordered = [boolType, stringType, bytesType, timestampType, durationType];

function int(value: bigint): bigint {
  if (value < -(1n << 63n) || value >= 1n << 63n) throw new CelError("integer overflow");
  return value;
}

const same = (type: Type, run: Overload["run"]): Overload => overload([type, type], type, run);

function comparison(holds: (order: number) => boolean): Overload[] {
  const run = (left: Value, right: Value): boolean => {
    const order = compare(left, right);
    if (order === undefined) throw new CelError("no such overload");
    return holds(order);
  };
  const across = numeric.flatMap(left => numeric.map(right => [left, right]));
  const alike = ordered.map(type => [type, type]);
  return [...across, ...alike].map(args => overload(args, boolType, run));
}

function arithmetic(ints: (x: bigint, y: bigint) => bigint, doubles?: (x: number, y: number) => number): Overload[] {
  const whole = [
    same(intType, (x: bigint, y: bigint) => int(ints(x, y))),
    same(uintType, (x: Uint, y: Uint) => new Uint(ints(x.value, y.value))),
  ];
  return doubles === undefined ? whole : [...whole, same(doubleType, doubles)];
}

function divisor(name: string, value: bigint): bigint {
  if (value === 0n) throw new CelError(`${name} by zero`);
  return value;
}

const operators: Library = {
  "_==_": [overload([paramA, paramA], boolType, isEqual)],
  "_!=_": [overload([paramA, paramA], boolType, (x: Value, y: Value) => !isEqual(x, y))],
  "_<_": comparison(order => order < 0),
  "_<=_": comparison(order => order <= 0),
  "_>_": comparison(order => order > 0),
  "_>=_": comparison(order => order >= 0),
  "_+_": [
    ...arithmetic(
      (x, y) => x + y,
      (x, y) => x + y,
    ),
    same(stringType, (x: string, y: string) => x + y),
    same(bytesType, (x: Uint8Array, y: Uint8Array) => Uint8Array.from([...x, ...y])),
    same(listA, concatenate),
    same(durationType, (x: Duration, y: Duration) => new Duration(x.nanos + y.nanos)),
    overload(
      [timestampType, durationType],
      timestampType,
      (x: Timestamp, y: Duration) => new Timestamp(x.nanos + y.nanos, x.zone),
    ),
    overload(
      [durationType, timestampType],
      timestampType,
      (x: Duration, y: Timestamp) => new Timestamp(x.nanos + y.nanos, y.zone),
    ),
  ],
  "_-_": [
    ...arithmetic(
      (x, y) => x - y,
      (x, y) => x - y,
    ),
    same(durationType, (x: Duration, y: Duration) => new Duration(x.nanos - y.nanos)),
    overload(
      [timestampType, timestampType],
      durationType,
      (x: Timestamp, y: Timestamp) => new Duration(x.nanos - y.nanos),
    ),
    overload(
      [timestampType, durationType],
      timestampType,
      (x: Timestamp, y: Duration) => new Timestamp(x.nanos - y.nanos, x.zone),
    ),
  ],
  "_*_": arithmetic(
    (x, y) => x * y,
    (x, y) => x * y,
  ),
  "_/_": arithmetic(
    (x, y) => x / divisor("division", y),
    (x, y) => x / y,
  ),
  "_%_": arithmetic((x, y) => x % divisor("modulus", y)),
  "-_": [overload([intType], intType, (x: bigint) => int(-x)), overload([doubleType], doubleType, (x: number) => -x)],
  "!_": [overload([boolType], boolType, (x: boolean) => !x)],
  "@in": [
    overload([paramA, listA], boolType, (x: Value, list: List) => contains(list.items, x)),
    overload([paramA, mapAB], boolType, (key: Value, map: Dictionary | Struct) => lookUp(map, key) !== undefined),
  ],
  "_[_]": [overload([listA, intType], paramA, element), overload([mapAB, paramA], paramB, element)],
};

function element(value: Value, index: Value): Value {
  const found = elementOf(value, index);
  if (found !== undefined) return found;
  const shown = typeof index === "string" ? index : index instanceof Uint ? index.value : String(index);
  throw new CelError(value instanceof List ? `index out of bounds: ${shown}` : `no such key: ${shown}`);
}

const sized: readonly (readonly [Type, (value: never) => number])[] = [
  [stringType, (text: string) => runes(text).length],
  [bytesType, (bytes: Uint8Array) => bytes.length],
  [listA, (list: List) => list.items.length],
  [mapAB, (map: Dictionary | Struct) => sizeOf(map)],
];

const texts: Library = {
  size: sized.flatMap(([type, size]) => {
    const run = (value: never): bigint => BigInt(size(value));
    return [overload([type], intType, run), method([type], intType, run)];
  }),
  contains: [method([stringType, stringType], boolType, (x: string, y: string) => x.includes(y))],
  startsWith: [method([stringType, stringType], boolType, (x: string, y: string) => x.startsWith(y))],
  endsWith: [method([stringType, stringType], boolType, (x: string, y: string) => x.endsWith(y))],
  matches: [method, overload].map(declare => declare([stringType, stringType], boolType, matches)),
};

function matches(text: string, pattern: string): boolean {
  try {
    return compilePattern(pattern).test(text);
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(error.message);
    throw error;
  }
}

function refuse(message: string): never {
  throw new CelError(message);
}

function truncated(value: number, low: number, high: number): bigint {
  // The bounds themselves are excluded, as in cel-go: they are not exact as doubles.
  return Number.isNaN(value) || value <= low || value >= high ? refuse("integer overflow") : BigInt(Math.trunc(value));
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return refuse("invalid UTF-8 in bytes, cannot convert to string");
  }
}

/** Whatever a text fails to be, cel-go says the same of it. */
const notConvertible = (to: string): never => refuse(`type conversion error from 'string' to '${to}'`);

function parsedInt(text: string): bigint {
  const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
  return value !== undefined && BigInt.asIntN(64, value) === value ? value : notConvertible("int");
}

function parsedUint(text: string): Uint {
  const value = /^\d+$/.test(text) ? BigInt(text) : undefined;
  return value !== undefined && BigInt.asUintN(64, value) === value ? new Uint(value) : notConvertible("uint");
}

function parsedDouble(text: string): number {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null)
    return special[2]?.toLowerCase() === "nan" ? Number.NaN : special[1] === "-" ? -Infinity : Infinity;
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : notConvertible("double");
}

function parsedBool(text: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  return notConvertible("bool");
}

const identity = <T>(value: T): T => value;

const conversions: Library = {
  bool: [overload([boolType], boolType, identity), overload([stringType], boolType, parsedBool)],
  bytes: [
    overload([bytesType], bytesType, identity),
    overload([stringType], bytesType, (text: string) => new TextEncoder().encode(text)),
  ],
  double: [
    overload([doubleType], doubleType, identity),
    overload([intType], doubleType, (x: bigint) => Number(x)),
    overload([uintType], doubleType, (x: Uint) => Number(x.value)),
    overload([stringType], doubleType, parsedDouble),
  ],
  dyn: [overload([paramA], dynType, identity)],
  duration: [
    overload([durationType], durationType, identity),
    overload([intType], durationType, (nanos: bigint) => new Duration(nanos)),
    overload(
      [stringType],
      durationType,
      (text: string) => parseCelDuration(text) ?? notConvertible("google.protobuf.Duration"),
    ),
  ],
  int: [
    overload([intType], intType, identity),
    overload([doubleType], intType, (x: number) => truncated(x, -(2 ** 63), 2 ** 63)),
    overload([durationType], intType, (x: Duration) => x.nanos),
    overload([stringType], intType, parsedInt),
    overload([timestampType], intType, (x: Timestamp) => BigInt(Math.floor(wallClock(x).getTime() / 1000))),
    overload([uintType], intType, (x: Uint) => int(x.value)),
  ],
  string: [
    overload([stringType], stringType, identity),
    overload([boolType], stringType, String),
    overload([bytesType], stringType, decoded),
    overload([doubleType], stringType, goFloat),
    overload([durationType], stringType, formatCelDuration),
    overload([intType], stringType, String),
    overload([timestampType], stringType, formatTimestamp),
    overload([uintType], stringType, (x: Uint) => String(x.value)),
  ],
  timestamp: [
    overload([timestampType], timestampType, identity),
    overload([intType], timestampType, (seconds: bigint) => new Timestamp(seconds * 1_000_000_000n)),
    overload(
      [stringType],
      timestampType,
      (text: string) => parseTimestamp(text) ?? notConvertible("google.protobuf.Timestamp"),
    ),
  ],
  type: [overload([paramA], typeType, (value: Value) => new TypeValue(typeName(value)))],
  uint: [
    overload([uintType], uintType, identity),
    overload([doubleType], uintType, (x: number) => new Uint(truncated(x, -1, 2 ** 64))),
    overload([intType], uintType, (x: bigint) => new Uint(x)),
    overload([stringType], uintType, parsedUint),
  ],
};

const durationParts: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

const calendar: Library = Object.fromEntries(
  Object.entries(timestampParts).map(([name, part]) => {
    const unit = durationParts[name];
    const ofDuration = unit === undefined ? [] : [method([durationType], intType, (x: Duration) => x.nanos / unit)];
    return [
      name,
      [
        method([timestampType], intType, (x: Timestamp) => BigInt(part(wallClock(x)))),
        method([timestampType, stringType], intType, (x: Timestamp, zone: string) => BigInt(part(wallClock(x, zone)))),
        ...ofDuration,
      ],
    ];
  }),
);

export const standardLibraries: readonly Library[] = [operators, texts, conversions, calendar];
