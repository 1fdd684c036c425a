// Quantities, semantic versions and named formats in CEL, as Kubernetes' own libraries give them to rules.

import { formatCheck } from "../formats.ts";
import { label1035Errors, labelErrors, labelValueErrors, qualifiedNameErrors, subdomainErrors } from "../name.ts";
import {
  addQuantities,
  approximateValue,
  compareQuantities,
  fastInteger,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from "../quantity.ts";
import { requestUriError } from "../url.ts";
import { CelError } from "./error.ts";
import { method, type Overload, overload } from "./function.ts";
import { compareSemver, normalizeSemver, parseSemver, type Semver } from "./semver.ts";
import { boolType, doubleType, intType, listOf, optionalOf, stringType, type Type } from "./types.ts";
import { List, Opaque, Optional } from "./values.ts";

type Library = Readonly<Record<string, readonly Overload[]>>;

type OpaqueType = Type & { kind: "opaque" };

const quantityType: OpaqueType = { kind: "opaque", name: "kubernetes.Quantity" };
const semverType: OpaqueType = { kind: "opaque", name: "kubernetes.Semver" };
const formatType: OpaqueType = { kind: "opaque", name: "kubernetes.NamedFormat" };

const quantityOf = (value: Opaque): Quantity => value.data as Quantity;
const semverOf = (value: Opaque): Semver => value.data as Semver;

function quantityValue(quantity: Quantity): Opaque {
  return new Opaque(quantityType.name, quantity, other => compareQuantities(quantity, other as Quantity) === 0);
}

function toQuantity(text: string): Opaque {
  const parsed = parseQuantity(text);
  if (parsed.ok) return quantityValue(parsed.value);
  const form = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
  throw new CelError(
    /^[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*$/.test(text)
      ? "unable to parse quantity's suffix"
      : `quantities must match the regular expression '${form}'`,
  );
}

function integerOf(value: Opaque): bigint {
  const integer = fastInteger(quantityOf(value));
  if (integer === undefined) throw new CelError("cannot convert value to integer");
  return integer;
}

type Sum = (a: Quantity, b: Quantity) => Quantity;

const sumOverloads = (sum: Sum): Overload[] => [
  method([quantityType, quantityType], quantityType, (a: Opaque, b: Opaque) =>
    quantityValue(sum(quantityOf(a), quantityOf(b))),
  ),
  method([quantityType, intType], quantityType, (a: Opaque, count: bigint) =>
    quantityValue(sum(quantityOf(a), { digits: count, exponent: 0, format: "DecimalExponent" })),
  ),
];

const compareOverloads = (of: Type, compare: (a: Opaque, b: Opaque) => number): Library => ({
  compareTo: [method([of, of], intType, (a: Opaque, b: Opaque) => BigInt(compare(a, b)))],
  isGreaterThan: [method([of, of], boolType, (a: Opaque, b: Opaque) => compare(a, b) > 0)],
  isLessThan: [method([of, of], boolType, (a: Opaque, b: Opaque) => compare(a, b) < 0)],
});

export const quantityLibrary: Library = {
  ...compareOverloads(quantityType, (a, b) => compareQuantities(quantityOf(a), quantityOf(b))),
  add: sumOverloads(addQuantities),
  asApproximateFloat: [method([quantityType], doubleType, (value: Opaque) => approximateValue(quantityOf(value)))],
  asInteger: [method([quantityType], intType, integerOf)],
  isInteger: [method([quantityType], boolType, (value: Opaque) => fastInteger(quantityOf(value)) !== undefined)],
  isQuantity: [overload([stringType], boolType, (text: string) => parseQuantity(text).ok)],
  quantity: [overload([stringType], quantityType, toQuantity)],
  sign: [overload([quantityType], intType, (value: Opaque) => signOf(quantityOf(value).digits))],
  sub: sumOverloads(subtractQuantities),
};

function signOf(digits: bigint): bigint {
  return digits > 0n ? 1n : digits < 0n ? -1n : 0n;
}

function readSemver(text: string, normalize = false): Semver | undefined {
  const plain = normalize ? normalizeSemver(text) : text;
  return plain === undefined ? undefined : parseSemver(plain);
}

function toSemver(text: string, normalize = false): Opaque {
  const version = readSemver(text, normalize);
  if (version === undefined) throw new CelError("No Major.Minor.Patch elements found");
  return new Opaque(semverType.name, version, other => compareSemver(version, other as Semver) === 0);
}

const semverPart = (part: "major" | "minor" | "patch"): Overload[] => [
  method([semverType], intType, (value: Opaque) => semverOf(value)[part]),
];

export const semverLibrary: Library = {
  ...compareOverloads(semverType, (a, b) => compareSemver(semverOf(a), semverOf(b))),
  isSemver: [[stringType], [stringType, boolType]].map(args =>
    overload(args, boolType, (text: string, normalize?: boolean) => readSemver(text, normalize) !== undefined),
  ),
  major: semverPart("major"),
  minor: semverPart("minor"),
  patch: semverPart("patch"),
  semver: [overload([stringType], semverType, toSemver), overload([stringType, boolType], semverType, toSemver)],
};

type NameCheck = (text: string) => string[];

/** A prefix of a name may end in a dash: what is generated after it cannot. */
const asPrefix =
  (check: NameCheck): NameCheck =>
  text =>
    check(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text);

const byFormat =
  (name: string, complaint: string): NameCheck =>
  text =>
    formatCheck(name)?.(text) === true ? [] : [complaint];

const namedFormats: Readonly<Record<string, NameCheck>> = {
  byte: byFormat("byte", "invalid base64"),
  date: byFormat("date", "invalid date"),
  datetime: byFormat("datetime", "invalid datetime"),
  dns1035Label: label1035Errors,
  dns1035LabelPrefix: asPrefix(label1035Errors),
  dns1123Label: labelErrors,
  dns1123LabelPrefix: asPrefix(labelErrors),
  dns1123Subdomain: subdomainErrors,
  dns1123SubdomainPrefix: asPrefix(subdomainErrors),
  labelValue: labelValueErrors,
  qualifiedName: qualifiedNameErrors,
  uri: text => [requestUriError(text)].flatMap(error => error ?? []),
  uuid: byFormat("uuid", "does not match the UUID format"),
};

const formatValue = (check: NameCheck): Opaque => new Opaque(formatType.name, check, other => other === check);

function findFormat(name: string): Optional {
  const check = Object.hasOwn(namedFormats, name) ? namedFormats[name] : undefined;
  return check === undefined ? Optional.none : new Optional(formatValue(check));
}

function complaints(format: Opaque, text: string): Optional {
  const errors = (format.data as NameCheck)(text);
  return errors.length === 0 ? Optional.none : new Optional(new List(errors));
}

export const formatLibrary: Library = {
  ...Object.fromEntries(
    Object.entries(namedFormats).map(([name, check]) => [
      `format.${name}`,
      [overload([], formatType, () => formatValue(check))],
    ]),
  ),
  "format.named": [overload([stringType], optionalOf(formatType), findFormat)],
  validate: [method([formatType, stringType], optionalOf(listOf(stringType)), complaints)],
};
