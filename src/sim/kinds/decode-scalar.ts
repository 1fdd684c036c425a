// Scalars as the server's Go types read them from JSON and write them back: numbers that fit, base64, quantities and
// times in canonical form. What does not fit is refused in the words of Go's decoders.

import { canonicalQuantity, compareQuantities, formatQuantity, milliValue, parseQuantity } from "../../api/quantity.ts";
import { remembered } from "../../api/remembered.ts";
import { canonicalTime } from "./go-time.ts";

export type Scalar =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "time"
  | "micro-time"
  | "quantity"
  | "int-or-string";

/** What a decoder says. */
export class DecodingError extends Error {
  override readonly name: string = "DecodingError";
}

/** A value of the wrong JSON type. The structs that it stands in add where, on the way out. */
export class Mismatch extends DecodingError {
  override readonly name = "Mismatch";
  readonly #found: string;
  readonly #goType: string;
  #struct: string | undefined;
  #path = "";

  constructor(found: string, goType: string) {
    super();
    this.#found = found;
    this.#goType = goType;
  }

  within(struct: string, field: string): void {
    this.#struct ??= struct;
    this.#path = this.#path === "" ? field : `${field}.${this.#path}`;
    this.message = `json: cannot unmarshal ${this.#found} into Go struct field ${this.#struct}.${this.#path} of type ${this.#goType}`;
  }
}

export function mismatch(value: unknown, goType: string): Mismatch {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return new Mismatch(found, goType);
}

/** What Go keeps where a list or a map holds null, and drops where it is an optional field. */
export const zeroValues: Readonly<Record<Scalar, unknown>> = {
  string: "",
  boolean: false,
  int32: 0,
  int64: 0,
  float64: 0,
  bytes: "",
  time: null,
  "micro-time": null,
  quantity: "0",
  "int-or-string": 0,
};

type Decoder = (value: unknown, goType: string) => unknown;

export const decodeScalar: Readonly<Record<Scalar, Decoder>> = {
  string: (value, goType) => ofType(value, "string", goType),
  boolean: (value, goType) => ofType(value, "boolean", goType),
  float64: (value, goType) => ofType(value, "number", goType),
  int32: (value, goType) => integer(value, "int32", goType),
  int64: (value, goType) => integer(value, "int64", goType),
  "int-or-string": value => (typeof value === "string" ? value : integer(value, "int32", "int32")),
  bytes: (value, goType) => bytes(ofType(value, "string", goType) as string),
  quantity: value => quantity(value),
  time: value => time(ofType(value, "string", "string") as string, false),
  "micro-time": value => time(ofType(value, "string", "string") as string, true),
};

function ofType(value: unknown, type: "string" | "boolean" | "number", goType: string): unknown {
  if (typeof value === type) return value;
  throw mismatch(value, goType);
}

function integer(value: unknown, size: "int32" | "int64", goType: string): number {
  if (typeof value !== "number") throw mismatch(value, goType);
  const fits = size === "int64" ? Number.isInteger(value) : value === (value | 0);
  if (!fits) throw new Mismatch(`number ${value}`, goType);
  return value;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function bytes(value: string): string {
  const text = value.replace(/[\r\n]/g, "");
  if (base64.test(text)) return text;
  // Go names the first wrong character, or the quantum that is cut short.
  const wrong = text.search(/[^A-Za-z0-9+/]/);
  throw new DecodingError(`illegal base64 data at input byte ${wrong < 0 ? text.length - (text.length % 4) : wrong}`);
}

const quantityRule = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function quantity(value: unknown): string {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  return canonical(text);
}

/** Parsed once for each text. */
export const quantityOf = remembered(parseQuantity);

const canonical = remembered(text => {
  const parsed = quantityOf(text);
  if (!parsed.ok) throw new DecodingError(quantityRule);
  return formatQuantity(parsed.value);
});

const rounded = remembered(text => {
  const parsed = quantityOf(text);
  if (!parsed.ok) return text;
  const milli = { digits: milliValue(parsed.value), exponent: -3, format: parsed.value.format };
  return compareQuantities(milli, parsed.value) === 0 ? text : canonicalQuantity(milli);
});

/** Amounts of resources are kept to a thousandth, rounded up. */
export function roundedResource(text: string): string {
  return rounded(text);
}

function time(value: string, isMicro: boolean): string {
  const read = canonicalTime(value, isMicro);
  if ("error" in read) throw new DecodingError(read.error);
  return read.text;
}
