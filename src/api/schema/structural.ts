// Judges the schema of a CustomResourceDefinition as the API server does when the CRD is written: is it structural, do
// its defaults fit it, do its keywords go together, do its rules compile. It never estimates the cost of rules.

import { defaultErrors } from "./default-values.ts";
import { forbidden, invalid, required } from "./field-error.ts";
import { keywordErrors } from "./keywords.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import type { FieldError, Schema } from "./schema.ts";

/**
 * What the whole CRD decides (a nullable root, what the status subresource forbids there) is left to its caller.
 * `path` is where the server says the schema stands, e.g. "spec.validation.openAPIV3Schema".
 */
export function structuralErrors(schema: Schema, path: string): FieldError[] {
  // A schema with keywords that no structural schema has is judged by its keywords alone.
  const judgeable = !hasUnsupported(schema);
  const shape = judgeable ? shapeErrors(schema, path) : [];
  const defaults = judgeable && shape.length === 0 ? defaultErrors(schema, path) : [];
  const sound = judgeable && shape.length === 0 && defaults.length === 0;
  return [...shape, ...defaults, ...keywordErrors(schema, path, { rules: sound })];
}

type Level = "root" | "item" | "field";

function shapeErrors(schema: Schema, path: string): FieldError[] {
  const findings = [...nodeErrors(schema, "root", path), ...missingErrors(schema, schema, path, path)];
  return findings.sort((a, b) => (`${a.path}: ${a.message}` < `${b.path}: ${b.message}` ? -1 : 1));
}

const unsupported = ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];

function hasUnsupported(schema: Schema): boolean {
  const keywords = schema as Readonly<Record<string, unknown>>;
  return (
    unsupported.some(keyword => keywords[keyword] !== undefined) ||
    Array.isArray(schema.items) ||
    keywords["x-kubernetes-preserve-unknown-fields"] === false ||
    childrenOf(schema).some(hasUnsupported)
  );
}

function childrenOf(schema: Schema): Schema[] {
  const { items, additionalProperties, not } = schema;
  return [
    ...Object.values(schema.properties ?? {}),
    ...(items === undefined || Array.isArray(items) ? [] : [items]),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ...(not === undefined ? [] : [not]),
    ...junctors.flatMap(junctor => schema[junctor] ?? []),
  ];
}

const junctors = ["allOf", "anyOf", "oneOf"] as const;

function nodeErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const { items, additionalProperties: additional } = schema;
  const findings: FieldError[] = [];
  if (schema.type === "array" && items === undefined) findings.push(required(`${path}.items`, "must be specified"));
  if (items !== undefined) findings.push(...nodeErrors(items, "item", `${path}.items`));
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    findings.push(...nodeErrors(property, "field", `${path}.properties[${key}]`));
  if (additional !== undefined && level === "root")
    findings.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
  if (typeof additional === "object") findings.push(...nodeErrors(additional, "field", `${path}.additionalProperties`));
  const first = schema.allOf?.[0];
  findings.push(
    ...extensionErrors(schema, path),
    ...validationErrors(schema, path, isIntOrString(schema.anyOf), first !== undefined && isIntOrString(first.anyOf)),
    ...typeErrors(schema, level, path),
    ...metaErrors(schema, level, path),
  );
  return findings;
}

/** Inside int-or-string, and only there, may the branches of an anyOf name types. */
function isIntOrString(branches: readonly Schema[] | undefined): boolean {
  return JSON.stringify(branches) === '[{"type":"integer"},{"type":"string"}]';
}

function extensionErrors(schema: Schema, path: string): FieldError[] {
  if (schema["x-kubernetes-int-or-string"] !== true) return [];
  const clashing = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const;
  return clashing
    .filter(keyword => schema[keyword] === true)
    .map(keyword => invalid(`${path}.${keyword}`, true, "must be false if x-kubernetes-int-or-string is true"));
}

const emptyType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function typeErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const { type = "" } = schema;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const findings: FieldError[] = [];
  const embeddedRule = "must be object if x-kubernetes-embedded-resource is true";
  if (embedded && type !== "object")
    findings.push(type === "" ? required(`${path}.type`, embeddedRule) : invalid(`${path}.type`, type, embeddedRule));
  else if (type === "" && schema["x-kubernetes-int-or-string"] !== true && !preserves)
    findings.push(required(`${path}.type`, emptyType[level]));
  if (embedded && schema.additionalProperties !== undefined)
    findings.push(
      forbidden(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set"),
    );
  if (level === "root" && type !== "" && type !== "object")
    findings.push(invalid(`${path}.type`, type, "must be object at the root"));
  if (embedded && !preserves && Object.keys(schema.properties ?? {}).length === 0) {
    const rule =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    findings.push(required(`${path}.properties`, rule));
  }
  return findings;
}

/** Of a resource's metadata a schema may restrict the names and nothing else. */
function metaErrors(schema: Schema, level: Level, path: string): FieldError[] {
  if (level !== "root" && schema["x-kubernetes-embedded-resource"] !== true) return [];
  const findings: FieldError[] = [];
  for (const key of ["kind", "apiVersion"]) {
    const property = schema.properties?.[key];
    if (property !== undefined && property.type !== "string")
      findings.push(invalid(`${path}.properties[${key}].type`, property.type ?? "", "must be string"));
  }
  const metadata = schema.properties?.["metadata"];
  if (metadata === undefined) return findings;
  const at = `${path}.properties[metadata]`;
  if (metadata.type !== "object") findings.push(invalid(`${at}.type`, metadata.type ?? "", "must be object"));
  if (level === "root" && !restrictsNamesOnly(metadata)) {
    const rule = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    findings.push(forbidden(at, rule));
  }
  return findings;
}

function restrictsNamesOnly(metadata: Schema): boolean {
  const { type: _type, default: _default, properties = {}, ...rest } = metadata;
  const names = Object.keys(properties);
  return Object.keys(rest).length === 0 && names.every(name => name === "name" || name === "generateName");
}

function validationErrors(schema: Schema, path: string, skipAnyOf: boolean, skipFirstAnyOf: boolean): FieldError[] {
  const findings: FieldError[] = [];
  for (const junctor of junctors) {
    if (junctor === "anyOf" && skipAnyOf) continue;
    for (const [i, branch] of (schema[junctor] ?? []).entries())
      findings.push(
        ...branchErrors(branch, `${path}.${junctor}[${i}]`, junctor === "allOf" && i === 0 && skipFirstAnyOf),
      );
  }
  if (schema.not !== undefined) findings.push(...branchErrors(schema.not, `${path}.not`, false));
  const complaint = schema.pattern ? patternComplaint(schema.pattern) : undefined;
  if (complaint !== undefined) findings.push(invalid(`${path}.pattern`, schema.pattern, complaint));
  return findings;
}

function patternComplaint(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return `must be a valid regular expression, but isn't: ${error.message}`;
    throw error;
  }
}

/** What the branch of a junctor must not say, because the structure around it says it. */
const forbiddenInBranch: readonly (readonly [keyof Schema, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function branchErrors(branch: Schema, path: string, skipAnyOf: boolean): FieldError[] {
  const findings = validationErrors(branch, path, skipAnyOf, false);
  if (branch.items !== undefined) findings.push(...branchErrors(branch.items, `${path}.items`, false));
  for (const [key, property] of Object.entries(branch.properties ?? {}))
    findings.push(...branchErrors(property, `${path}.properties[${key}]`, false));
  for (const [keyword, complaint] of forbiddenInBranch)
    if (isSet(branch[keyword])) findings.push(forbidden(`${path}.${keyword}`, complaint));
  if (branch.properties?.["metadata"] !== undefined)
    findings.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  return findings;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Fields that a branch at the root judges must be in the structure too. */
function missingErrors(branch: Schema, structure: Schema, at: string, path: string): FieldError[] {
  const nested = (schema: Schema, where: string): FieldError[] => missingInBranch(schema, structure, at, where);
  return [
    ...(branch.not === undefined ? [] : nested(branch.not, `${path}.not`)),
    ...junctors.flatMap(junctor =>
      (branch[junctor] ?? []).flatMap((below, i) => nested(below, `${path}.${junctor}[${i}]`)),
    ),
  ];
}

function missingInBranch(branch: Schema, structure: Schema | undefined, at: string, path: string): FieldError[] {
  if (structure === undefined) return [required(at, `because it is defined in ${path}`)];
  const findings = missingErrors(branch, structure, at, path);
  if (branch.items !== undefined)
    findings.push(...missingInBranch(branch.items, structure.items, `${at}.items`, `${path}.items`));
  for (const [key, property] of Object.entries(branch.properties ?? {})) {
    const known = structure.properties !== undefined && Object.hasOwn(structure.properties, key);
    const below = known ? structure.properties?.[key] : undefined;
    findings.push(...missingInBranch(property, below, `${at}.properties[${key}]`, `${path}.properties[${key}]`));
  }
  return findings;
}
