// Judges values by the keywords of OpenAPI v3 as the API server does, quirks included: the order of checks, the text
// of each message, and which branch of anyOf/oneOf is reported. It knows nothing of metadata, list types or CEL.

import { quoted } from "../parsed.ts";
import type { Pair } from "./correlate.ts";
import { goJson, runes } from "../go-text.ts";
import { invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "./field-error.ts";
import { formatCheck } from "../formats.ts";
import { checkNumber, isInt64, isNearlyInteger } from "./numbers.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import { Report } from "./report.ts";
import type { FieldError, Schema } from "./schema.ts";

/**
 * The findings about `value`. With `pair`, what has not changed since the stored object is tolerated. `prefix` stands
 * before every path but not in the messages: the server writes so about the status subresource.
 */
export function valueErrors(value: unknown, schema: Schema, pair: Pair | undefined, prefix = ""): FieldError[] {
  const report = new Report(prefix);
  checkRatcheted(value, { schema, path: "", pair }, report);
  return report.findings;
}

type Place = { schema: Schema; path: string; pair: Pair | undefined };

/** What has not changed is let through whatever is wrong with it, so it is not looked at. */
function checkRatcheted(value: unknown, place: Place, report: Report): void {
  if (place.pair?.unchanged() !== true) check(value, place, report);
}

function check(value: unknown, place: Place, report: Report): void {
  const { schema, path } = place;
  const { types, format, branches, choices } = planOf(schema);
  if (value === null || value === undefined) {
    checkNull(schema, path, report);
    if (choices) checkEnum(null, schema, path, report);
    return;
  }
  if (types.length > 0 || format !== "") checkType(value, { types, format, path }, report);
  if (branches) checkJunctors(value, place, report);
  report.matches += 2;
  if (typeof value === "string") {
    checkString(value, schema, path, report);
    if (format !== "") checkFormat(value, format, path, report);
  } else if (typeof value === "number") {
    checkNumber(value, { schema, type: types.length === 1 ? types[0] : undefined, path }, report);
    report.matches += 2;
  } else if (Array.isArray(value)) checkItems(value, place, report);
  if (choices) checkEnum(value, schema, path, report);
  report.matches++;
  if (typeof value === "object" && !Array.isArray(value)) {
    checkFields(value as Record<string, unknown>, place, report);
    report.matches++;
  }
  report.matches++;
}

/** What a schema says of every value, read once. */
type Plan = { types: readonly string[]; format: string; branches: boolean; choices: boolean };

const plans = new WeakMap<Schema, Plan>();

function planOf(schema: Schema): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const types = typesOf(schema);
    const { anyOf, oneOf, allOf, not } = schema;
    const branches = [anyOf, oneOf, allOf, not].some(junctor => junctor !== undefined);
    plan = { types, format: formatOf(schema, types), branches, choices: (schema.enum?.length ?? 0) > 0 };
    plans.set(schema, plan);
  }
  return plan;
}

function typesOf(schema: Schema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined || schema.type === "" ? [] : [schema.type];
}

/** Formats that the server does not know for a type are as good as absent. */
function formatOf({ format }: Schema, types: readonly string[]): string {
  if (format === undefined || format === "") return "";
  const type = types.length === 1 ? types[0] : "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  return (type === "" || type === "string") && formatCheck(format) !== undefined ? format : "";
}

function checkNull(schema: Schema, path: string, report: Report): void {
  const { types } = planOf(schema);
  if (types.length === 0 || schema.nullable === true) {
    report.matches++;
    return;
  }
  wrongType(path, types.join(","), "null", report);
}

type Expected = { types: readonly string[]; format: string; path: string };

function checkType(value: unknown, { types, format, path }: Expected, report: Report): void {
  report.matches++; // for having applied; a type that fits counts once more
  const actual = jsonType(value);
  const numeric =
    (actual === "number" && types.includes("integer") && isNearlyInteger(value as number)) ||
    (actual === "integer" && types.includes("number"));
  const textual = typeof value === "string" || Array.isArray(value);
  const fits = types.includes(actual) || numeric;
  if (!textual && format !== "" && !fits) {
    const actualFormat = actual === "integer" ? "int64" : actual === "number" ? "float64" : "";
    if (actualFormat === "" || actualFormat !== format) return wrongType(path, format, actualFormat, report);
  }
  // Strings and, oddly, lists are left to the format's own check.
  const leftToFormat = textual && format !== "" && !types.includes("number") && !types.includes("integer");
  if (!fits && !leftToFormat) return wrongType(path, types.join(","), actual, report);
  report.matches++;
}

function wrongType(path: string, wanted: string, actual: string, report: Report): void {
  const text = `${path} in body must be of type ${wanted}: ${quoted(actual)}`;
  report.add(typeInvalid(path, actual, text), text);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value !== "number") return typeof value;
  return isInt64(value) ? "integer" : "number";
}

function checkString(value: string, schema: Schema, path: string, report: Report): void {
  const { minLength, maxLength, pattern } = schema;
  report.matches++;
  if (maxLength !== undefined && value.length > maxLength && runes(value).length > maxLength)
    return report.add(tooLong(path, maxLength), `${path} in body should be at most ${maxLength} chars long`);
  if (minLength !== undefined && runes(value).length < minLength) {
    const text = `${path} in body should be at least ${minLength} chars long`;
    return report.add(invalid(path, value, text), text);
  }
  if (pattern === undefined || pattern === "") return;
  const failure = patternFailure(value, pattern);
  if (failure === undefined) return;
  const text = `${path} in body should match '${failure}'`;
  report.add(invalid(path, value, text), text);
}

function patternFailure(value: string, pattern: string): string | undefined {
  try {
    return compilePattern(pattern).test(value) ? undefined : pattern;
  } catch (error) {
    if (error instanceof PatternError) return `${pattern}, but pattern is invalid: ${error.message}`;
    throw error;
  }
}

function checkFormat(value: string, format: string, path: string, report: Report): void {
  const accepts = formatCheck(format);
  if (accepts === undefined) return;
  report.matches++;
  if (!accepts(value)) wrongType(path, format, value, report);
}

function checkItems(items: readonly unknown[], { schema, path, pair }: Place, report: Report): void {
  if (schema.items !== undefined)
    for (let i = 0; i < items.length; i++)
      checkRatcheted(items[i], { schema: schema.items, path: `${path}[${i}]`, pair: pair?.index(i) }, report);
  if (schema.minItems !== undefined && items.length < schema.minItems) {
    const text = `${path} in body should have at least ${schema.minItems} items`;
    report.add(invalid(path, items.length, text), text);
  }
  if (schema.maxItems !== undefined && items.length > schema.maxItems)
    report.add(
      tooMany(path, items.length, schema.maxItems),
      `${path} in body should have at most ${schema.maxItems} items`,
    );
  report.matches += 2;
}

function checkFields(fields: Record<string, unknown>, place: Place, report: Report): void {
  const { schema, path } = place;
  const keys = Object.keys(fields);
  if (schema.minProperties !== undefined && keys.length < schema.minProperties) {
    const text = `${path} in body should have at least ${schema.minProperties} properties`;
    report.add(invalid(path, keys.length, text), text);
  }
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties)
    report.add(
      tooMany(path, keys.length, schema.maxProperties),
      `${path} in body should have at most ${schema.maxProperties} properties`,
    );
  for (const key of keys) checkField(key, fields[key], place, report);
  for (const key of schema.required ?? [])
    if (!Object.hasOwn(fields, key)) report.add(required(`${path}.${key}`, ""), `${path}.${key} in body is required`);
}

function checkField(key: string, value: unknown, { schema, path, pair }: Place, report: Report): void {
  const known = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
  const additional = schema.additionalProperties;
  if (!known && additional === false) {
    const text = `${path}.${key} in body is a forbidden property`;
    return report.add(invalid(path, key, text), text);
  }
  const field = known ? schema.properties?.[key] : typeof additional === "object" ? additional : undefined;
  if (field === undefined) return;
  // A change of apiVersion or kind cannot be seen: both objects were converted to the same one.
  const typeMeta = path === "" && (key === "apiVersion" || key === "kind");
  const at = path === "" && known ? key : `${path}.${key}`;
  checkRatcheted(value, { schema: field, path: at, pair: typeMeta ? undefined : pair?.key(key) }, report);
}

function checkEnum(value: unknown, schema: Schema, path: string, report: Report): void {
  const allowed = schema.enum ?? [];
  if (allowed.some(entry => isSame(value, entry))) return;
  const shown = allowed.map(entry => (typeof entry === "string" ? entry : goJson(entry)));
  const text = `${path} in body should be one of [${shown.join(" ")}]`;
  report.add(notSupported(path, value, shown), text);
}

function isSame(value: unknown, entry: unknown): boolean {
  if (value === null || entry === null) return false; // null is never found among the allowed values
  // The server converts the value to the allowed one's type first, so that 1.5 passes for 1.
  if (typeof value === "number" && typeof entry === "number")
    return value === entry || (Number.isInteger(entry) && Math.trunc(value) === entry);
  return typeof value === "object" ? goJson(value) === goJson(entry) : value === entry;
}

function checkJunctors(value: unknown, place: Place, report: Report): void {
  const { schema, path } = place;
  const judged = (branch: Schema): Report => {
    const outcome = report.branch();
    check(value, { schema: branch, path, pair: undefined }, outcome);
    return outcome;
  };
  if (schema.anyOf !== undefined && schema.anyOf.length > 0) checkAnyOf(schema.anyOf, judged, path, report);
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) checkOneOf(schema.oneOf.map(judged), path, report);
  if (schema.allOf !== undefined && schema.allOf.length > 0) checkAllOf(schema.allOf.map(judged), path, report);
  if (schema.not !== undefined && isValid(judged(schema.not)))
    report.addUnplaced(`${quoted(path)} must not validate the schema (not)`);
}

const isValid = (branch: Report): boolean => branch.findings.length === 0;

function checkAnyOf(
  branches: readonly Schema[],
  judged: (branch: Schema) => Report,
  path: string,
  report: Report,
): void {
  const failed: Report[] = [];
  for (const branch of branches) {
    const outcome = judged(branch);
    if (isValid(outcome)) return report.merge(outcome);
    failed.push(outcome);
  }
  report.addUnplaced(`${quoted(path)} must validate at least one schema (anyOf)`);
  report.merge(best(failed));
}

function checkOneOf(outcomes: readonly Report[], path: string, report: Report): void {
  const valid = outcomes.filter(isValid);
  if (valid.length === 1) return report.merge(valid[0] ?? report.branch());
  const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  report.addUnplaced(`${quoted(path)} must validate one and only one schema (oneOf). ${found}`);
  if (valid.length === 0) report.merge(best(outcomes));
}

function checkAllOf(outcomes: readonly Report[], path: string, report: Report): void {
  for (const outcome of outcomes) report.merge(outcome);
  const valid = outcomes.filter(isValid).length;
  if (valid < outcomes.length)
    report.addUnplaced(`${quoted(path)} must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
}

/** The first of those that passed the most checks. */
function best(failed: readonly Report[]): Report {
  return failed.reduce((a, b) => (b.matches > a.matches ? b : a));
}
