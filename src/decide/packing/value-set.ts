// What a label may be: absent or not, one of some values, any but some, an integer within bounds. The meaning of all
// eight operators, and of several of them together.

import { int64 } from "../../api/int64.ts";
import type { NodeRequirement } from "../../api/node-selector.ts";

export type ValueSet = {
  /** Whether a node without the label will do. */
  readonly absent: boolean;
  /** Whether `values` are those that will not do. */
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Bounds, both included, on the value as an integer. Only with `complement`. */
  readonly min?: bigint;
  readonly max?: bigint;
};

const none: ReadonlySet<string> = new Set();

export const anyValue: ValueSet = { absent: false, complement: true, values: none };
export const onlyAbsent: ValueSet = { absent: true, complement: false, values: none };

export function oneOf(values: Iterable<string>): ValueSet {
  return { absent: false, complement: false, values: new Set(values) };
}

export function valueSet({ operator, values = [] }: NodeRequirement): ValueSet {
  switch (operator) {
    case "In":
      return oneOf(values);
    case "NotIn":
      return { absent: true, complement: true, values: new Set(values) };
    case "Exists":
      return anyValue;
    case "DoesNotExist":
      return onlyAbsent;
    default:
      return bounded(operator, int64(values[0] ?? ""));
  }
}

export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  if (isOne(a) && holdsAll(b, a)) return a;
  if (isOne(b) && holdsAll(a, b)) return b;
  const absent = a.absent && b.absent;
  if (a.complement && b.complement) {
    const min = largest(a.min, b.min);
    const max = smallest(a.max, b.max);
    const values =
      a.values.size === 0 ? b.values : b.values.size === 0 ? a.values : new Set([...a.values, ...b.values]);
    return { absent, complement: true, values, ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  }
  const [finite, other] = a.complement ? [b, a] : [a, b];
  const values = new Set<string>();
  for (const value of finite.values) if (allows(other, value)) values.add(value);
  return { absent, complement: false, values };
}

// The most frequent case by far: one value that the other allows.
function isOne(set: ValueSet): boolean {
  return !set.absent && !set.complement && set.values.size === 1;
}

function holdsAll(set: ValueSet, { values }: ValueSet): boolean {
  for (const value of values) if (!allows(set, value)) return false;
  return true;
}

/** Whether there is a label that suits both: the same as an intersection that is possible, but cheaper. */
export function overlaps(a: ValueSet, b: ValueSet): boolean {
  if (a.absent && b.absent) return true;
  if (a.complement && b.complement) return hasValue(intersect(a, b));
  const [finite, other] = a.complement ? [b, a] : [a, b];
  for (const value of finite.values) if (allows(other, value)) return true;
  return false;
}

/** Whether a node whose label has this value will do; undefined: it has no such label. */
export function allows(set: ValueSet, value: string | undefined): boolean {
  if (value === undefined) return set.absent;
  if (!set.complement) return set.values.has(value);
  if (set.values.has(value)) return false;
  if (set.min === undefined && set.max === undefined) return true;
  const number = int64(value);
  if (number === undefined) return false;
  return (set.min === undefined || number >= set.min) && (set.max === undefined || number <= set.max);
}

/** Whether some value is left. */
export function hasValue(set: ValueSet): boolean {
  if (!set.complement) return set.values.size > 0;
  if (set.min === undefined || set.max === undefined) return true;
  const width = set.max - set.min;
  if (width < 0n) return false;
  if (width >= BigInt(set.values.size)) return true;
  for (let number = set.min; number <= set.max; number++) if (!set.values.has(String(number))) return true;
  return false;
}

export function isImpossible(set: ValueSet): boolean {
  return !set.absent && !hasValue(set);
}

/** The one value that is left, if there is one and absence will not do. */
export function onlyValue(set: ValueSet): string | undefined {
  if (set.absent || set.complement || set.values.size !== 1) return undefined;
  const [value] = set.values;
  return value;
}

/** The same for sets that mean the same, as far as they are written alike. */
export function setSignature({ absent, complement, values, min, max }: ValueSet): string {
  const list = values.size === 0 ? "" : [...values].sort().join(",");
  return `${absent ? "?" : ""}${complement ? "!" : ""}${list}|${min ?? ""}|${max ?? ""}`;
}

/** As requirements, for a claim. */
export function toRequirements(key: string, set: ValueSet): NodeRequirement[] {
  const values = [...set.values].sort();
  if (!set.complement) return [values.length > 0 ? { key, operator: "In", values } : { key, operator: "DoesNotExist" }];
  const found: NodeRequirement[] = [];
  if (values.length > 0) found.push({ key, operator: "NotIn", values });
  if (set.min !== undefined) found.push({ key, operator: "Gte", values: [String(set.min)] });
  if (set.max !== undefined) found.push({ key, operator: "Lte", values: [String(set.max)] });
  if (!set.absent && set.min === undefined && set.max === undefined) found.push({ key, operator: "Exists" });
  return found;
}

function bounded(operator: "Gt" | "Lt" | "Gte" | "Lte", bound: bigint | undefined): ValueSet {
  if (bound === undefined) return { absent: false, complement: false, values: none };
  switch (operator) {
    case "Gt":
      return { ...anyValue, min: bound + 1n };
    case "Gte":
      return { ...anyValue, min: bound };
    case "Lt":
      return { ...anyValue, max: bound - 1n };
    case "Lte":
      return { ...anyValue, max: bound };
  }
}

function largest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function smallest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
