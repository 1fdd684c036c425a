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

/** One %-clause: which kinds of values it takes, and what is said of the others. */
export type Clause = { verb: string; precision: number; kinds: readonly string[]; complaint: string };

const scalarKinds = ["bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "type", "uint"];
const verbs: Readonly<Record<string, Pick<Clause, "kinds" | "complaint">>> = {
  s: {
    kinds: [...scalarKinds, "list", "map"],
    complaint:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { kinds: ["int", "uint"], complaint: "decimal clause can only be used on integers" },
  f: { kinds: ["double", "string"], complaint: "fixed-point clause can only be used on doubles" },
  e: { kinds: ["double", "string"], complaint: "scientific clause can only be used on doubles" },
  b: { kinds: ["int", "uint", "bool"], complaint: "only integers and bools can be formatted as binary" },
  x: {
    kinds: ["int", "uint", "string", "bytes"],
    complaint: "only integers, byte buffers, and strings can be formatted as hex",
  },
  o: { kinds: ["int", "uint"], complaint: "octal clause can only be used on integers" },
};

const clauseForm = /%(?:%|(?:\.(\d+))?([a-zA-Z])|)/g;

/** The clauses of a template in order, or what is wrong with it. */
export function clausesOf(template: string): Clause[] | string {
  const clauses: Clause[] = [];
  for (const [text, precision, verb] of template.matchAll(clauseForm)) {
    if (text === "%%") continue;
    if (verb === undefined) return "unexpected end of string";
    const known = verbs[verb === "X" ? "x" : verb];
    if (known === undefined)
      return `could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(verb)}`;
    clauses.push({ ...known, verb, precision: precision === undefined ? defaultPrecision : Number(precision) });
  }
  return clauses;
}

export function formatted(template: string, args: readonly Value[]): string {
  const clauses = clausesOf(template);
  if (typeof clauses === "string") throw new CelError(clauses);
  if (args.length > clauses.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${clauses.length}, got ${args.length})`);
  let next = 0;
  return template.replace(clauseForm, text => {
    if (text === "%%") return "%";
    const clause = clauses[next];
    const arg = args[next];
    if (clause === undefined || arg === undefined) throw new CelError(`index ${next} out of range`);
    next++;
    return formattedClause(clause, arg);
  });
}

function formattedClause({ verb, precision, complaint }: Clause, arg: Value): string {
  switch (verb) {
    case "s":
      return text(arg, complaint);
    case "f":
      return fixed(double(arg, complaint), precision);
    case "e":
      return scientific(double(arg, complaint), precision);
    case "b":
      return typeof arg === "boolean" ? (arg ? "1" : "0") : whole(arg, 2, complaint);
    case "x":
      return hexadecimal(arg, complaint);
    case "X":
      return hexadecimal(arg, complaint).toUpperCase();
    default:
      return whole(arg, verb === "o" ? 8 : 10, complaint);
  }
}

function whole(arg: Value, radix: number, complaint: string): string {
  if (typeof arg === "bigint") return arg.toString(radix);
  if (arg instanceof Uint) return arg.value.toString(radix);
  throw new CelError(`${complaint}, was given ${typeName(arg)}`);
}

function hexadecimal(arg: Value, complaint: string): string {
  const bytes = typeof arg === "string" ? new TextEncoder().encode(arg) : arg;
  if (bytes instanceof Uint8Array) return [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
  return whole(bytes, 16, complaint);
}

/** The server prints these by the customs of en_US, thousands grouped. */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const digits = { minimumFractionDigits: precision, maximumFractionDigits: precision };
  return halfToEven(value, precision).toLocaleString("en-US", digits);
}

/** Of two neighbours as near, Go takes the even one where JavaScript takes the larger. */
function halfToEven(value: number, precision: number): number {
  const scaled = Math.abs(value) * 10 ** precision;
  const isTie = scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0;
  return isTie ? (Math.sign(value) * Math.floor(scaled)) / 10 ** precision : value;
}

function scientific(value: number, precision: number): string {
  const [digits, exponent = "0"] = value.toExponential(precision).split("e");
  const power = Number(exponent);
  const raised = [...String(Math.abs(power)).padStart(2, "0")].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `${digits}×10${power < 0 ? "⁻" : ""}${raised}`;
}

function double(arg: Value, complaint: string): number {
  if (typeof arg === "number") return arg;
  if (arg === "NaN" || arg === "Infinity" || arg === "-Infinity") return Number(arg);
  throw new CelError(`${complaint}, was given ${typeName(arg)}`);
}

function text(arg: Value, complaint = verbs["s"]?.complaint ?? ""): string {
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
  throw new CelError(`${complaint}, was given ${typeName(arg)}`);
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
