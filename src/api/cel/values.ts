// The values that CEL expressions compute with, their equality and their order. int is bigint, double is number; all
// else that JavaScript has no own type for is a small class. Values are never changed.

import { goJson, runes } from "../go-text.ts";
import { CelError } from "./error.ts";
import type { Type } from "./types.ts";

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | List
  | Dictionary
  | Struct
  | Optional
  | TypeValue
  | Opaque;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    if (value < 0n || value >= 1n << 64n) throw new CelError("unsigned integer overflow");
    this.value = value;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    if (nanos < -(1n << 63n) || nanos >= 1n << 63n) throw new CelError("duration overflow");
    this.nanos = nanos;
  }
}

export class Timestamp {
  /** Since the epoch. */
  readonly nanos: bigint;
  /** The offset it was written with: it is printed with the same. */
  readonly zone: string;
  constructor(nanos: bigint, zone = "Z") {
    if (nanos < -62_135_596_800n * 1_000_000_000n || nanos > 253_402_300_799_999_999_999n)
      throw new CelError("timestamp overflow");
    this.nanos = nanos;
    this.zone = zone;
  }
}

/** How a list of a schema compares and adds up: by place, as a set, or by the keys of its items. */
export type ListKind = "atomic" | "set" | { keys: readonly string[] };

export class List {
  readonly items: readonly Value[];
  readonly listKind: ListKind;
  constructor(items: readonly Value[], listKind: ListKind = "atomic") {
    this.items = items;
    this.listKind = listKind;
  }
}

/** A map: keys are strings, bools or whole numbers of any kind (held as bigint, so that 1, 1u and 1.0 are one key). */
export class Dictionary {
  readonly entries: ReadonlyMap<string | boolean | bigint, Value>;
  constructor(entries: ReadonlyMap<string | boolean | bigint, Value>) {
    this.entries = entries;
  }
}

/** How an object or map of a schema is read: what is in it is made when it is asked for, fields by escaped names. */
export type StructAccess = {
  field(name: string): Value | undefined;
  names(): readonly string[];
  /** Fields that are there but that the schema does not know: rules cannot see them, only compare them. */
  unknown(): readonly string[];
};

export class Struct {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly access: StructAccess;
  constructor(raw: Readonly<Record<string, unknown>>, access: StructAccess) {
    this.raw = raw;
    this.access = access;
  }
}

export class Optional {
  static readonly none = new Optional(undefined);
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library: quantity, url, IP, CIDR, semver, named format. */
export class Opaque {
  readonly typeName: string;
  readonly data: unknown;
  readonly #isEqual: (other: unknown) => boolean;
  constructor(typeName: string, data: unknown, isEqual: (other: unknown) => boolean) {
    this.typeName = typeName;
    this.data = data;
    this.#isEqual = isEqual;
  }
  equals(other: Opaque): boolean {
    return this.typeName === other.typeName && this.#isEqual(other.data);
  }
}

export function typeName(value: Value): string {
  if (value === null) return "null_type";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (value instanceof Uint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof List) return "list";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  return value instanceof Opaque ? value.typeName : "map";
}

/** Whether a value can be an argument of this type; how run-time dispatch of dyn arguments chooses. */
export function hasType(value: Value, type: Type): boolean {
  switch (type.kind) {
    case "dyn":
    case "error":
    case "param":
      return true;
    case "null":
      return value === null;
    case "object":
      return value instanceof Struct;
    case "map":
      return value instanceof Dictionary || value instanceof Struct;
    case "opaque":
      return value instanceof Opaque && value.typeName === type.name;
    case "duration":
      return value instanceof Duration;
    case "timestamp":
      return value instanceof Timestamp;
    case "optional":
      return value instanceof Optional;
    default:
      return typeName(value) === type.kind;
  }
}

/** Heterogeneous equality: different kinds are unequal, numbers compare by value across their kinds. */
export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b) === 0;
  if (a instanceof Duration && b instanceof Duration) return a.nanos === b.nanos;
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos === b.nanos;
  if (a instanceof List && b instanceof List) return isEqualList(a, b);
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name;
  if (a instanceof Opaque && b instanceof Opaque) return a.equals(b);
  if (a instanceof Optional && b instanceof Optional)
    return a.value === undefined || b.value === undefined ? a.value === b.value : isEqual(a.value, b.value);
  if (isMapLike(a) && isMapLike(b)) return isEqualMap(a, b);
  return false;
}

function isEqualList(a: List, b: List): boolean {
  if (a.items.length !== b.items.length) return false;
  if (a.listKind === "atomic") return a.items.every((item, i) => isEqual(item, b.items[i] ?? null));
  if (a.listKind === "set") return b.items.every(item => contains(a.items, item));
  const { keys } = a.listKind;
  return b.items.every(item => a.items.some(own => hasSameKeys(own, item, keys) && isEqual(own, item)));
}

export function contains(items: readonly Value[], wanted: Value): boolean {
  return items.some(item => isEqual(item, wanted));
}

/** Adds lists as their kind does: sets unite, lists that are maps merge by key, others are put end to end. */
export function concatenate(a: List, b: List): List {
  if (a.listKind === "atomic") return new List([...a.items, ...b.items]);
  const items = [...a.items];
  for (const item of b.items) {
    const place =
      a.listKind === "set"
        ? items.findIndex(own => isEqual(own, item))
        : items.findIndex(own => hasSameKeys(own, item, (a.listKind as { keys: readonly string[] }).keys));
    if (place < 0) items.push(item);
    else if (a.listKind !== "set") items[place] = item;
  }
  return new List(items, a.listKind);
}

function hasSameKeys(a: Value, b: Value, keys: readonly string[]): boolean {
  return keys.every(key => isEqual(lookUp(a, key) ?? null, lookUp(b, key) ?? null));
}

function isMapLike(value: Value): value is Dictionary | Struct {
  return value instanceof Dictionary || value instanceof Struct;
}

function isEqualMap(a: Dictionary | Struct, b: Dictionary | Struct): boolean {
  if (sizeOf(a) !== sizeOf(b)) return false;
  if (a instanceof Struct && b instanceof Struct && !hasSameUnknown(a, b)) return false;
  return keysOf(a).every(key => {
    const own = lookUp(a, key);
    const other = lookUp(b, key);
    return own === undefined || other === undefined ? own === other : isEqual(own, other);
  });
}

function hasSameUnknown(a: Struct, b: Struct): boolean {
  return a.access.unknown().every(key => !Object.hasOwn(b.raw, key) || goJson(a.raw[key]) === goJson(b.raw[key]));
}

export function sizeOf(map: Dictionary | Struct): number {
  return map instanceof Struct ? Object.keys(map.raw).length : map.entries.size;
}

export function keysOf(map: Dictionary | Struct): readonly Value[] {
  return map instanceof Struct ? map.access.names() : [...map.entries.keys()];
}

/** The value under a key or field; undefined when there is none. */
export function lookUp(map: Value, key: Value): Value | undefined {
  if (map instanceof Struct) return typeof key === "string" ? map.access.field(key) : undefined;
  if (!(map instanceof Dictionary)) return undefined;
  const plain = mapKey(key);
  return plain === undefined ? undefined : map.entries.get(plain);
}

/** Of two entries with one key in a literal the later counts. */
export function dictionary(entries: readonly (readonly [Value, Value])[]): Dictionary {
  const map = new Map<string | boolean | bigint, Value>();
  for (const [key, value] of entries) {
    const plain = mapKey(key);
    if (plain === undefined) throw new CelError("unsupported key type");
    map.set(plain, value);
  }
  return new Dictionary(map);
}

export function mapKey(key: Value): string | boolean | bigint | undefined {
  if (typeof key === "string" || typeof key === "boolean" || typeof key === "bigint") return key;
  if (key instanceof Uint) return key.value;
  return typeof key === "number" && Number.isInteger(key) ? BigInt(key) : undefined;
}

function isNumber(value: Value): value is bigint | number | Uint {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): number {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (left < right) return -1;
  if (left > right) return 1;
  return Number.isNaN(Number(left)) || Number.isNaN(Number(right)) ? Number.NaN : 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return (a[i] ?? 0) < (b[i] ?? 0) ? -1 : 1;
  return Math.sign(a.length - b.length);
}

/** -1, 0, 1; NaN (from a NaN) is no order at all; undefined when the kinds have none between them. */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(a.nanos, b.nanos);
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNumbers(a.nanos, b.nanos);
  return undefined;
}

/** By code points, as Go compares UTF-8; JavaScript's own order differs above U+FFFF. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const left = runes(a);
  const right = runes(b);
  for (let i = 0; i < Math.min(left.length, right.length); i++)
    if (left[i] !== right[i]) return (left[i]?.codePointAt(0) ?? 0) < (right[i]?.codePointAt(0) ?? 0) ? -1 : 1;
  return Math.sign(left.length - right.length);
}
