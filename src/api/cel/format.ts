// "…".format([…]): the clauses %s %d %f %e %b %x %X %o of CEL's string extension in the version that CRDs get.

import { goFloat } from "../go-text.ts";
import { quoted } from "../parsed.ts";
import { CelError } from "./error.ts";
import { formatCelDuration, formatTimestamp } from "./time.ts";
import {
  Dictionary,
  Duration,
  keysOf,
  List,
  lookUp,
  Struct,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from "./values.ts";

const defaultPrecision = 6;

export function formatted(template: string, args: readonly Value[]): string {
  let next = 0;
  const text = template.replace(
    /%(%|(?:\.(\d+))?([a-zA-Z])|)/g,
    (_, clause: string, precision?: string, verb?: string) => {
      if (clause === "%") return "%";
      if (verb === undefined) throw new CelError("unexpected end of string");
      const arg = args[next];
      if (arg === undefined) throw new CelError(`index ${next} out of range`);
      next++;
      return formattedClause(verb, arg, precision === undefined ? defaultPrecision : Number(precision));
    },
  );
  if (next < args.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${next}, got ${args.length})`);
  return text;
}

function formattedClause(verb: string, arg: Value, precision: number): string {
  switch (verb) {
    case "s":
      return text(arg);
    case "d":
      return whole(arg, 10, "decimal clause can only be used on integers");
    case "f":
      return fixed(arg, precision);
    case "e":
      return scientific(arg, precision);
    case "b":
      if (typeof arg === "boolean") return arg ? "1" : "0";
      return whole(arg, 2, "only integers and bools can be formatted as binary");
    case "x":
    case "X":
      return verb === "x" ? hexadecimal(arg) : hexadecimal(arg).toUpperCase();
    case "o":
      return whole(arg, 8, "octal clause can only be used on integers");
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function whole(arg: Value, radix: number, complaint: string): string {
  if (typeof arg === "bigint") return arg.toString(radix);
  if (arg instanceof Uint) return arg.value.toString(radix);
  throw new CelError(`${complaint}, was given ${typeName(arg)}`);
}

function hexadecimal(arg: Value): string {
  const bytes = typeof arg === "string" ? new TextEncoder().encode(arg) : arg;
  if (bytes instanceof Uint8Array) return [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
  return whole(bytes, 16, "only integers, byte buffers, and strings can be formatted as hex");
}

/** The server prints these by the customs of en_US, thousands grouped. */
function fixed(arg: Value, precision: number): string {
  const value = double(arg, "fixed-point");
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  return value.toLocaleString("en-US", { minimumFractionDigits: precision, maximumFractionDigits: precision });
}

function scientific(arg: Value, precision: number): string {
  const [digits, exponent = "0"] = double(arg, "scientific").toExponential(precision).split("e");
  const power = Number(exponent);
  const raised = [...String(Math.abs(power)).padStart(2, "0")].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `${digits} × 10${power < 0 ? "⁻" : ""}${raised}`;
}

function double(arg: Value, clause: string): number {
  if (typeof arg === "number") return arg;
  if (arg === "NaN" || arg === "Infinity" || arg === "-Infinity") return Number(arg);
  throw new CelError(`${clause} clause can only be used on doubles, was given ${typeName(arg)}`);
}

function text(arg: Value): string {
  if (arg === null) return "null";
  if (typeof arg === "string") return arg;
  if (typeof arg === "boolean" || typeof arg === "bigint") return String(arg);
  if (typeof arg === "number") return goFloat(arg);
  if (arg instanceof Uint) return String(arg.value);
  if (arg instanceof Uint8Array) return new TextDecoder().decode(arg);
  if (arg instanceof Duration) return formatCelDuration(arg);
  if (arg instanceof Timestamp) return formatTimestamp(arg);
  if (arg instanceof TypeValue) return arg.name;
  if (arg instanceof List) return `[${arg.items.map(nested).join(", ")}]`;
  if (arg instanceof Dictionary || arg instanceof Struct) return mapText(arg);
  const given = typeName(arg);
  throw new CelError(
    `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${given}`,
  );
}

function mapText(map: Dictionary | Struct): string {
  const entries = keysOf(map).map(key => `${nested(key)}:${nested(lookUp(map, key) ?? null)}`);
  return `{${entries.sort().join(", ")}}`;
}

function nested(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return value.toFixed(defaultPrecision);
  if (value instanceof Uint8Array) return `b${quoted(text(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quoted(text(value))})`;
  if (value instanceof Duration) return `duration(${quoted(text(value))})`;
  return value instanceof TypeValue ? `type(${value.name})` : text(value);
}
