// Numbers against minimum, maximum, multipleOf and their format, in the API server's arithmetic: int64 where the value
// is whole, float64 elsewhere, and a complaint about a bound that does not fit the type itself.

import { goFloat, goNumber } from "../go-text.ts";
import { invalid } from "./field-error.ts";
import type { Schema } from "./schema.ts";
import type { Report } from "./values.ts";

type Numeric = { schema: Schema; type: string | undefined; path: string };

export function checkNumber(value: number, numeric: Numeric, report: Report): void {
  const { schema, path } = numeric;
  checkRange(value, "Checked", numeric, report);
  if (schema.multipleOf !== undefined) {
    const sameType = checkRange(schema.multipleOf, "MultipleOf", numeric, report);
    checkMultiple(value, schema.multipleOf, sameType, path, report);
  }
  const { minimum, maximum } = schema;
  if (minimum !== undefined) {
    checkRange(minimum, "Minimum boundary", numeric, report);
    const exclusive = schema.exclusiveMinimum === true;
    const word = exclusive ? "greater than" : "greater than or equal to";
    if (exclusive ? value <= minimum : value < minimum)
      refuse(value, `should be ${word} ${limit(value, minimum)}`, path, report);
  }
  if (maximum !== undefined) {
    checkRange(maximum, "Maximum boundary", numeric, report);
    const exclusive = schema.exclusiveMaximum === true;
    const word = exclusive ? "less than" : "less than or equal to";
    if (exclusive ? value >= maximum : value > maximum)
      refuse(value, `should be ${word} ${limit(value, maximum)}`, path, report);
  }
}

function refuse(value: number, complaint: string, path: string, report: Report): void {
  const text = `${path} in body ${complaint}`;
  report.add(invalid(path, value, text), text);
}

/** A whole value is compared with a whole bound and the message shows it in full; else both are floats. */
function limit(value: number, bound: number): string {
  return isInt64(value) ? goNumber(bound) : goFloat(bound);
}

/** Whether a number can be held by the type and format of the schema at all. */
function checkRange(value: number, what: string, { schema, type, path }: Numeric, report: Report): boolean {
  const format = type === undefined ? "" : rangedFormat(schema.format);
  if (fits(value, type, format)) return true;
  const shown = format === "" ? "(default format)" : `with format ${format}`;
  report.addUnplaced(`${what} value must be of type ${type} ${shown} in ${path}`);
  return false;
}

function rangedFormat(format: string | undefined): string {
  return format === "int32" || format === "int64" || format === "float" || format === "double" ? format : "";
}

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
  const isMultiple = whole ? value % step === 0 : Number.isInteger(ratio) || isClose(ratio);
  if (!isMultiple) refuse(value, `should be a multiple of ${limit(value, factor)}`, path, report);
}

function isClose(ratio: number): boolean {
  const whole = Math.trunc(ratio);
  return whole > 0 && (ratio - whole) / (ratio + whole) < 1e-9;
}

function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}
