// Numbers against minimum, maximum, multipleOf and their format, in the API server's arithmetic: int64 where the value
// is whole, float64 elsewhere, and a complaint about a bound that does not fit the type itself.

import { goFloat, goNumber } from "../go-text.ts";
import { invalid } from "./field-error.ts";
import type { Report } from "./report.ts";
import type { Schema } from "./schema.ts";

type Numeric = { schema: Schema; type: string | undefined; path: string };

export function checkNumber(value: number, numeric: Numeric, report: Report): void {
  const { schema, path } = numeric;
  checkRange(value, "Checked", numeric, report);
  if (schema.multipleOf !== undefined) {
    const sameType = checkRange(schema.multipleOf, "MultipleOf", numeric, report);
    checkMultiple(value, schema.multipleOf, sameType, path, report);
  }
  const { minimum, maximum } = schema;
  if (minimum !== undefined)
    checkBound(value, { bound: minimum, exclusive: schema.exclusiveMinimum === true, side: lower }, numeric, report);
  if (maximum !== undefined)
    checkBound(value, { bound: maximum, exclusive: schema.exclusiveMaximum === true, side: upper }, numeric, report);
}

type Side = { name: string; word: string; sign: 1 | -1 };
const lower: Side = { name: "Minimum boundary", word: "greater than", sign: 1 };
const upper: Side = { name: "Maximum boundary", word: "less than", sign: -1 };

type Bound = { bound: number; exclusive: boolean; side: Side };

function checkBound(value: number, { bound, exclusive, side }: Bound, numeric: Numeric, report: Report): void {
  const sameType = checkRange(bound, side.name, numeric, report);
  const whole = sameType && isInt64(value);
  // A whole value is compared with the whole part of the bound, and the message shows that.
  const limit = whole ? Math.trunc(bound) : bound;
  const distance = (value - limit) * side.sign;
  if (exclusive ? distance > 0 : distance >= 0) return;
  const word = exclusive ? side.word : `${side.word} or equal to`;
  refuse(value, `should be ${word} ${whole ? goNumber(limit) : goFloat(limit)}`, numeric.path, report);
}

function refuse(value: number, complaint: string, path: string, report: Report): void {
  const text = `${path} in body ${complaint}`;
  report.add(invalid(path, value, text), text);
}

/** Whether a number can be held by the type and format of the schema at all. */
function checkRange(value: number, what: string, { schema, type, path }: Numeric, report: Report): boolean {
  const format = rangedFormats[type ?? ""]?.includes(schema.format ?? "") === true ? (schema.format ?? "") : "";
  if (fits(value, type, format)) return true;
  const shown = format === "" ? "(default format)" : `with format ${format}`;
  report.addUnplaced(`${what} value must be of type ${type} ${shown} in ${path}`);
  return false;
}

const rangedFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

function fits(value: number, type: string | undefined, format: string): boolean {
  if (type === "integer") return isInt64(value) && (format !== "int32" || (value >= -(2 ** 31) && value < 2 ** 31));
  return type !== "number" || format !== "float" || Math.abs(value) < 3.4028235677973366e38;
}

function checkMultiple(value: number, factor: number, sameType: boolean, path: string, report: Report): void {
  const whole = sameType && isInt64(value);
  const step = whole ? Math.trunc(factor) : factor;
  if (step <= 0) {
    const text = `factor MultipleOf declared for ${path} must be positive: ${goNumber(step)}`;
    return report.add(invalid(path, step, text), text);
  }
  const ratio = step < 1 ? (1 / step) * value : value / step;
  const isMultiple = whole ? value % step === 0 : isNearlyInteger(ratio);
  if (!isMultiple) refuse(value, `should be a multiple of ${whole ? goNumber(step) : goFloat(factor)}`, path, report);
}

/** The server takes a fraction for a whole number when the relative error is under 1e-9. */
export function isNearlyInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  return whole === value || (whole > 0 && (value - whole) / (value + whole) < 1e-9);
}

/** Whether Go would hold a JSON number as an int64; all others are float64. */
export function isInt64(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}
