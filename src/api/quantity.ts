// Kubernetes' resource.Quantity: exact decimal numbers with a suffix (cpu "250m", memory "1.5Gi", "1e3").
// Nothing smaller than a nano-unit exists: finer texts are rounded away from zero, as Kubernetes does.

import { accepted, type Parsed, quoted, refused } from "./parsed.ts";

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** `digits` × 10^`exponent`. */
export type Quantity = {
  readonly digits: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The text as it was written, where Kubernetes keeps that instead of its canonical form ("1.500", "0100Mi"). */
  readonly text?: string;
};

const decimalSuffixes = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const decimalSuffixOf = new Map([...decimalSuffixes].map(([suffix, power]) => [power, suffix]));
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const nano = -9;
const int64Max = 2n ** 63n - 1n;
// Kubernetes has no such bound. No resource comes near it, and 1 + 1e999999999 would take gigabytes.
const powerMax = 1_000;

export const zero: Quantity = { digits: 0n, exponent: 0, format: "DecimalSI" };

const written = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const smallTens = Array.from({ length: 40 }, (_, power) => 10n ** BigInt(power));

type Suffix = { format: QuantityFormat; power: number };

/** A text's parts, leading zeros dropped. */
type Parts = { text: string; negative: boolean; whole: string; fraction: string; suffix: Suffix };

export function parseQuantity(text: string): Parsed<Quantity> {
  const form = written.exec(text);
  if (form === null || text === "") return refusal(text, "write one such as 250m, 2, 1.5Gi or 1e3");
  const [, sign, whole = "", fraction = "", letters = ""] = form;
  const suffix = readSuffix(letters);
  if (suffix === undefined) {
    return refusal(text, "its suffix must be one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent");
  }
  if (Math.abs(suffix.power) > powerMax) return refusal(text, `its exponent is beyond ${powerMax}`);
  const parts = { text, negative: sign === "-", whole: whole || "0", fraction, suffix };
  if (isSmall(parts)) return accepted(small(parts));
  // "Ei" alone reads as no number at all, although "Ki" reads as 0.
  return /[0-9]/.test(text) ? accepted(large(parts)) : refusal(text, "it has no digits");
}

/** As Kubernetes shows it: as written if that was close enough to canonical, else canonical. */
export function formatQuantity(quantity: Quantity): string {
  return quantity.text ?? canonicalQuantity(quantity);
}

/** No fraction, the largest suffix that leaves none. */
export function canonicalQuantity(quantity: Quantity): string {
  if (quantity.digits === 0n) return "0";
  const whole = asInteger(quantity);
  const isBinary = quantity.format === "BinarySI" && whole !== undefined && magnitude(whole) >= 1024n;
  if (isBinary) return binaryText(whole);
  return decimalText(quantity);
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const exponent = Math.min(a.exponent, b.exponent);
  const left = digitsAt(a, exponent);
  const right = digitsAt(b, exponent);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** In the format of the first, unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const exponent = Math.min(a.exponent, b.exponent);
  const format = a.digits === 0n ? b.format : a.format;
  return { digits: digitsAt(a, exponent) + digitsAt(b, exponent), exponent, format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, digits: -b.digits });
}

/** Rounded away from zero to a whole number: bytes, pods. */
export function wholeValue(quantity: Quantity): bigint {
  return scaledUp(quantity, 0);
}

/** Rounded away from zero to a whole number of thousandths: cpu. */
export function milliValue(quantity: Quantity): bigint {
  return scaledUp(quantity, -3);
}

/** The nearest double: for ratios and charts, not for sums that must be exact. */
export function approximateValue(quantity: Quantity): number {
  return Number(`${quantity.digits}e${quantity.exponent}`);
}

/**
 * The value as a 64-bit integer where Kubernetes gives one at once (its AsInt64, CEL's isInteger and asInteger):
 * "1.0", "1.5Gi" and "100Ti" are not among them.
 */
export function fastInteger({ digits, exponent }: Quantity): bigint | undefined {
  if (exponent < 0) return undefined;
  const value = digits * ten(exponent);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

function refusal(text: string, why: string): { ok: false; error: string } {
  return refused(`${quoted(text)} is no quantity: ${why}`);
}

function readSuffix(text: string): Suffix | undefined {
  const decimal = decimalSuffixes.get(text);
  if (decimal !== undefined) return { format: "DecimalSI", power: decimal };
  const binary = binarySuffixes.indexOf(text);
  if (binary > 0) return { format: "BinarySI", power: 10 * binary };
  return /^[eE][-+]?[0-9]+$/.test(text) ? { format: "DecimalExponent", power: Number(text.slice(1)) } : undefined;
}

// Where Kubernetes keeps a 64-bit integer and a scale; everything else is a big decimal of nano-units. The line
// between the two shows in fastInteger and in which texts are kept.
function isSmall({ whole, fraction, suffix }: Parts): boolean {
  if (suffix.format !== "BinarySI")
    return whole.length + fraction.length <= 18 && suffix.power - fraction.length >= nano;
  return fraction === "" && whole.length + (suffix.power * 3) / 10 <= 14;
}

function small({ text, negative, whole, fraction, suffix }: Parts): Quantity {
  const { format } = suffix;
  const binary = format === "BinarySI";
  const figures = whole + fraction;
  const exponent = (binary ? 0 : suffix.power) - fraction.length;
  const factor = BigInt(figures);
  const keepsText = binary
    ? (factor & 7n) !== 0n
    : exponent % 3 === 0 && !figures.endsWith("000") && !figures.startsWith("0");
  const digits = signed(binary ? factor << BigInt(suffix.power) : factor, negative);
  return keepsText ? { digits, exponent, format, text } : { digits, exponent, format };
}

function large({ negative, whole, fraction, suffix }: Parts): Quantity {
  const factor = BigInt(whole + fraction);
  const binary = suffix.format === "BinarySI";
  const exact = {
    digits: binary ? factor << BigInt(suffix.power) : factor,
    exponent: (binary ? 0 : suffix.power) - fraction.length,
  };
  const one = ten(9);
  const nanos = scaledUp(exact, nano);
  const digits = binary && nanos > int64Max * one ? int64Max * one : nanos;
  // A binary suffix on less than one unit would be rounded away when shown.
  const format = binary && digits > 0n && digits < one ? "DecimalSI" : suffix.format;
  return { digits: signed(digits, negative), exponent: nano, format };
}

function decimalText({ digits, exponent, format }: Quantity): string {
  let number = digits;
  let power = exponent;
  for (; number % 10n === 0n; power++) number /= 10n;
  for (; power % 3 !== 0; power--) number *= 10n;
  // Beyond exa there is no suffix (Kubernetes then prints none, and the value is lost).
  const suffix = format === "DecimalExponent" ? undefined : decimalSuffixOf.get(power);
  if (suffix !== undefined) return `${number}${suffix}`;
  return power === 0 ? `${number}` : `${number}e${power}`;
}

function binaryText(value: bigint): string {
  let number = value;
  let step = 0;
  for (; number % 1024n === 0n && step < binarySuffixes.length - 1; step++) number /= 1024n;
  return `${number}${binarySuffixes[step]}`;
}

function asInteger(quantity: Quantity): bigint | undefined {
  if (quantity.exponent >= 0) return digitsAt(quantity, 0);
  const divisor = ten(-quantity.exponent);
  return quantity.digits % divisor === 0n ? quantity.digits / divisor : undefined;
}

/** In units of 10^`exponent`, which must not be above the quantity's own. */
function digitsAt(quantity: Quantity, exponent: number): bigint {
  return quantity.digits * ten(quantity.exponent - exponent);
}

function scaledUp({ digits, exponent }: Pick<Quantity, "digits" | "exponent">, to: number): bigint {
  if (exponent >= to) return digits * ten(exponent - to);
  const divisor = ten(to - exponent);
  const whole = digits / divisor;
  if (whole * divisor === digits) return whole;
  return digits < 0n ? whole - 1n : whole + 1n;
}

function ten(power: number): bigint {
  return smallTens[power] ?? 10n ** BigInt(power);
}

function signed(number: bigint, negative: boolean): bigint {
  return negative ? -number : number;
}

function magnitude(number: bigint): bigint {
  return number < 0n ? -number : number;
}
