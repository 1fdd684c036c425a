// Checks that the rules of many built-in kinds share, each with the sentence the server has for it.

import { labelErrors, labelValueErrors, qualifiedNameErrors, subdomainErrors } from "../../api/name.ts";
import { forbidden, invalid, notSupported, required, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { LabelSelector } from "../../api/selector.ts";
import { deepEqual } from "../json-value.ts";

export function nonNegative(path: string, value: number | null | undefined): FieldError[] {
  return typeof value === "number" && value < 0 ? [invalid(path, value, "must be greater than or equal to 0")] : [];
}

export function immutable(path: string, value: unknown, old: unknown): FieldError[] {
  return deepEqual(value, old) ? [] : [invalid(path, value ?? null, "field is immutable")];
}

/** A struct as Go prints it in a message: its fields in the order of the type. */
export function invalidStruct(path: string, value: unknown, detail: string): FieldError {
  const shown = `Invalid value: ${JSON.stringify(value)}`;
  return { path, reason: "FieldValueInvalid", message: detail === "" ? shown : `${shown}: ${detail}` };
}

export function invalidSelector(path: string, selector: LabelSelector, detail: string): FieldError {
  const { matchLabels, matchExpressions } = selector;
  const sorted = matchLabels && Object.fromEntries(Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1)));
  return invalidStruct(path, { matchLabels: sorted, matchExpressions }, detail);
}

export function oneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export function requiredText(path: string, value: string | undefined): FieldError[] {
  return value ? [] : [required(path, "")];
}

export function subdomain(path: string, value: string): FieldError[] {
  return subdomainErrors(value).map(error => invalid(path, value, error));
}

export function dnsLabel(path: string, value: string): FieldError[] {
  return labelErrors(value).map(error => invalid(path, value, error));
}

export function qualifiedName(path: string, value: string): FieldError[] {
  return qualifiedNameErrors(value).map(error => invalid(path, value, error));
}

export function labels(path: string, values: Readonly<Record<string, string>> | undefined): FieldError[] {
  return Object.entries(values ?? {}).flatMap(([key, value]) => [
    ...qualifiedName(path, key),
    ...labelValueErrors(value).map(error => invalid(path, value, error)),
  ]);
}

const annotationsMax = 256 * 1024;

export function annotations(path: string, values: Readonly<Record<string, string>> | undefined): FieldError[] {
  const entries = Object.entries(values ?? {});
  const found = entries.flatMap(([key]) =>
    qualifiedNameErrors(key.toLowerCase()).map(error => invalid(path, key, error)),
  );
  const encoder = new TextEncoder();
  const size = entries.reduce((sum, pair) => sum + encoder.encode(pair.join("")).length, 0);
  return size > annotationsMax ? [...found, tooLong(path, annotationsMax)] : found;
}

export function labelSelector(path: string, selector: LabelSelector | null | undefined): FieldError[] {
  const expressions = (selector?.matchExpressions ?? []).flatMap((expression, i) => {
    return selectorExpression(`${path}.matchExpressions[${i}]`, expression);
  });
  return [...labels(`${path}.matchLabels`, selector?.matchLabels), ...expressions];
}

type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

function selectorExpression(path: string, { key, operator, values = [] }: Expression): FieldError[] {
  const found: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    const rule = "must be specified when `operator` is 'In' or 'NotIn'";
    if (values.length === 0) found.push(required(`${path}.values`, rule));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) found.push(forbidden(`${path}.values`, rule));
  } else {
    found.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  }
  const valueErrors = values.flatMap((value, i) =>
    labelValueErrors(value).map(error => invalid(`${path}.values[${i}]`, value, error)),
  );
  return [...found, ...qualifiedName(`${path}.key`, key), ...valueErrors];
}

export type IntOrPercent = number | string;

export function intOrPercent(path: string, value: IntOrPercent | undefined): FieldError[] {
  if (typeof value !== "string") return nonNegative(path, value);
  const rule = "a valid percent string must be a numeric string followed by an ending '%'";
  const shown = `${rule} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`;
  return /^[0-9]+%$/.test(value) ? [] : [invalid(path, value, shown)];
}

export function atMost100Percent(path: string, value: IntOrPercent | undefined): FieldError[] {
  const isPercent = typeof value === "string" && /^[0-9]+%$/.test(value);
  return isPercent && Number.parseInt(value, 10) > 100 ? [invalid(path, value, "must not be greater than 100%")] : [];
}

/** The number in front of the percent sign, or the count itself; text that is neither counts as 0. */
export function plainNumber(value: IntOrPercent | undefined): number {
  return typeof value === "string" ? (/^[0-9]+%$/.test(value) ? Number.parseInt(value, 10) : 0) : (value ?? 0);
}

/** Finalizers without a prefix are the server's own. */
export function finalizerErrors(finalizer: string, path: string): FieldError[] {
  const found = qualifiedName(path, finalizer);
  const known = finalizer.includes("/") || ["kubernetes", "orphan", "foregroundDeletion"].includes(finalizer);
  return known
    ? found
    : [...found, invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}
