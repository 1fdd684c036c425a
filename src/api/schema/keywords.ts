// Keywords of a CRD's schema that exclude or need each other, and its CEL rules: their texts, their compilation, and
// whether a transition rule stands where old and new values can be paired.

import { goJson } from "../go-text.ts";
import { compiledRules } from "./cel.ts";
import { fieldPathIn } from "./field-path.ts";
import { forbidden, invalid, notSupported, required } from "./field-error.ts";
import type { CompiledRule } from "./rule.ts";
import type { FieldError, Rule, Schema } from "./schema.ts";

type Context = {
  root: boolean;
  insideMeta: boolean;
  /** Why no default may stand here; undefined where one may. */
  noDefault: string | undefined;
  /** The highest schema below which old and new values cannot be paired. */
  unpairedBelow: string | undefined;
  /** Whether rules are compiled: only of schemas that are sound otherwise, and not inside junctors. */
  rules: boolean;
};

type Findings = { schema: FieldError[]; rules: FieldError[] };

export function keywordErrors(schema: Schema, path: string, { rules }: { rules: boolean }): FieldError[] {
  const context = { root: true, insideMeta: false, noDefault: undefined, unpairedBelow: undefined, rules };
  const findings = errorsAt(schema, path, context);
  return [...findings.schema, ...findings.rules];
}

function errorsAt(schema: Schema, path: string, context: Context): Findings {
  const findings: Findings = { schema: plainErrors(schema, path, context), rules: [] };
  const below = belowOf(schema, path, context).map(([child, at, inner]) => errorsAt(child, at, inner));
  for (const { schema: keywords, rules } of below) {
    findings.schema.push(...keywords);
    findings.rules.push(...rules);
  }
  findings.schema.push(...listErrors(schema, path), ...mapErrors(schema, path), ...ruleTextErrors(schema, path));
  if (findings.schema.length === 0 && context.rules) findings.rules.push(...compilationErrors(schema, path, context));
  return findings;
}

function belowOf(schema: Schema, path: string, outer: Context): [Schema, string, Context][] {
  const below: [Schema, string, Context][] = [];
  const context = { ...outer, root: false };
  const { additionalProperties, items, not } = schema;
  if (typeof additionalProperties === "object") {
    const inMeta = "inside additionalProperties applying to object metadata";
    const noDefault = context.insideMeta ? inMeta : context.noDefault;
    below.push([additionalProperties, `${path}.additionalProperties`, { ...context, noDefault }]);
  }
  const resource = outer.root || schema["x-kubernetes-embedded-resource"] === true;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = resource && ["metadata", "kind", "apiVersion"].includes(key);
    const inner = isMeta ? { ...context, insideMeta: true } : context;
    const noDefault = isMeta && outer.root ? `in top-level ${key}` : inner.noDefault;
    below.push([property, `${path}.properties[${key}]`, { ...inner, noDefault }]);
  }
  const nested = { ...context, rules: false };
  if (not !== undefined) below.push([not, `${path}.not`, nested]);
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const)
    for (const [i, branch] of (schema[junctor] ?? []).entries())
      below.push([branch, `${path}.${junctor}[${i}]`, nested]);
  if (items !== undefined && !Array.isArray(items)) {
    const paired = schema["x-kubernetes-list-type"] === "map";
    const unpairedBelow = context.unpairedBelow ?? (paired ? undefined : path);
    below.push([items, `${path}.items`, { ...context, unpairedBelow }]);
  }
  return below;
}

const knownTypes = ["array", "boolean", "integer", "number", "object", "string"];
const unsupported = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

function plainErrors(schema: Schema, path: string, context: Context): FieldError[] {
  const keywords = schema as Readonly<Record<string, unknown>>;
  const { type } = schema;
  const findings: FieldError[] = [];
  if (type && !knownTypes.includes(type)) findings.push(notSupported(`${path}.type`, type, knownTypes));
  if (schema.default !== undefined && context.noDefault !== undefined)
    findings.push(forbidden(`${path}.default`, `must not be set ${context.noDefault}`));
  for (const keyword of unsupported)
    if (keywords[keyword] !== undefined) findings.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  if (type === "null")
    findings.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  if (Array.isArray(schema.items))
    findings.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  if (context.insideMeta && schema["x-kubernetes-embedded-resource"] === true)
    findings.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  if (schema.uniqueItems === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    findings.push(forbidden(`${path}.uniqueItems`, why));
  }
  const both = Object.keys(schema.properties ?? {}).length > 0 && schema.additionalProperties !== undefined;
  if (both && schema.additionalProperties !== true)
    findings.push(
      forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  if (keywords["x-kubernetes-preserve-unknown-fields"] === false)
    findings.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  return findings;
}

function typeMustBe(wanted: string, keyword: string, schema: Schema, path: string): FieldError[] {
  const rule = `must be ${wanted} if ${keyword} is specified`;
  if (schema.type === wanted) return [];
  return [schema.type ? invalid(`${path}.type`, schema.type, rule) : required(`${path}.type`, rule)];
}

function mapErrors(schema: Schema, path: string): FieldError[] {
  const mapType: string | undefined = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return [];
  const findings = typeMustBe("object", "x-kubernetes-map-type", schema, path);
  if (!["atomic", "granular"].includes(mapType))
    findings.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  return findings;
}

function listErrors(schema: Schema, path: string): FieldError[] {
  const listType: string | undefined = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const findings: FieldError[] = [];
  if (listType !== undefined) {
    findings.push(...typeMustBe("array", "x-kubernetes-list-type", schema, path));
    if (findings.length === 0 && listType === "set") findings.push(...setItemErrors(schema, path));
    if (!["atomic", "set", "map"].includes(listType))
      findings.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const rule = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    findings.push(listType === undefined ? required(at, rule) : invalid(at, listType, rule));
  }
  if (listType === "map") findings.push(...mapListErrors(schema, keys, path));
  if ((listType === "set" || listType === "map") && schema.items !== undefined)
    findings.push(...itemNullErrors(schema.items, { listType, keys, path: `${path}.items` }));
  return findings;
}

/** Items of a set are compared as a whole, so nobody may own a part of one. */
function setItemErrors({ items }: Schema, path: string): FieldError[] {
  const rule = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items?.["x-kubernetes-list-type"];
  if (items?.type === "array" && listType !== undefined && listType !== "atomic")
    return [invalid(`${path}.items.x-kubernetes-list-type`, listType, rule)];
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    return [invalid(`${path}.items.x-kubernetes-map-type`, listType ?? null, rule)];
  return [];
}

function mapListErrors({ items }: Schema, keys: readonly string[], path: string): FieldError[] {
  const findings: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) findings.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined)
    return [...findings, required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  if (items.type !== "object") {
    const rule = "must be object if parent array's x-kubernetes-list-type is map";
    return [...findings, invalid(`${path}.items.type`, items.type ?? "", rule)];
  }
  for (const [i, key] of keys.entries()) {
    const property = items.properties?.[key];
    if (property === undefined) findings.push(invalid(at, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const rule = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      findings.push(invalid(`${path}.items.properties[${key}].type`, items.type, rule));
    }
    if (keys.indexOf(key) < i) findings.push(invalid(at, keys, "must not contain duplicate entries"));
  }
  return findings;
}

type KeyedItems = { listType: string; keys: readonly string[]; path: string };

function itemNullErrors(items: Schema, { listType, keys, path }: KeyedItems): FieldError[] {
  const findings: FieldError[] = [];
  if (items.nullable === true)
    findings.push(forbidden(`${path}.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  if (listType !== "map") return findings;
  const keyRule = "this property is in x-kubernetes-list-map-keys, so it";
  for (const key of keys) {
    const property = items.properties?.[key];
    const at = `${path}.properties[${key}]`;
    const needed = property !== undefined && property.default === undefined && items.required?.includes(key) !== true;
    if (needed) findings.push(required(`${at}.default`, `${keyRule} must have a default or be a required property`));
    if (property?.nullable === true) findings.push(forbidden(`${at}.nullable`, `${keyRule} cannot be nullable`));
  }
  return findings;
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

function ruleTextErrors(schema: Schema, path: string): FieldError[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const findings = messageErrors(rule, at);
    const { messageExpression = "", fieldPath = "", reason } = rule;
    if (messageExpression !== "" && messageExpression.trim() === "")
      findings.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
    if (reason !== undefined && !reasons.includes(reason)) findings.push(notSupported(`${at}.reason`, reason, reasons));
    if (fieldPath === "") return findings;
    if (fieldPath.trim() === "") findings.push(invalid(`${at}.fieldPath`, fieldPath, "must be non-empty if specified"));
    if (/[\n\r]/.test(fieldPath)) findings.push(invalid(`${at}.fieldPath`, fieldPath, "must not contain line breaks"));
    if (fieldPathIn(schema, fieldPath) === undefined)
      findings.push(invalid(`${at}.fieldPath`, fieldPath, "must be a valid path"));
    return findings;
  });
}

function messageErrors({ rule = "", message = "" }: Rule, at: string): FieldError[] {
  if (rule.trim() === "") return [required(`${at}.rule`, "rule is not specified")];
  if (message !== "" && message.trim() === "")
    return [invalid(`${at}.message`, message, "must be non-empty if specified")];
  if (/[\n\r]/.test(message.trim())) return [invalid(`${at}.message`, message, "must not contain line breaks")];
  if (/[\n\r]/.test(rule.trim()) && message.trim() === "")
    return [required(`${at}.message`, "message must be specified if rule contains line breaks")];
  return [];
}

function compilationErrors(schema: Schema, path: string, context: Context): FieldError[] {
  const root = context.root || schema["x-kubernetes-embedded-resource"] === true;
  return compiledRules(schema, root).flatMap((compiled, i) =>
    compiledErrors(compiled, `${path}.x-kubernetes-validations[${i}]`, context),
  );
}

function compiledErrors(compiled: CompiledRule, at: string, { unpairedBelow }: Context): FieldError[] {
  const { rule, error, messageError, usesOldSelf } = compiled;
  const findings: FieldError[] = [];
  if (error !== undefined) findings.push(aboutRule(`${at}.rule`, rule, error));
  if (messageError !== undefined) findings.push(aboutRule(`${at}.messageExpression`, rule, messageError));
  if (usesOldSelf && unpairedBelow !== undefined) {
    const where = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${unpairedBelow}`;
    findings.push(invalid(`${at}.rule`, rule.rule, where));
  } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const why = "may not be set if oldSelf is not used in rule";
    findings.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, why));
  }
  return findings;
}

/** The server shows the whole rule, with the names that its own structure gives the fields. */
function aboutRule(path: string, rule: Rule, detail: string): FieldError {
  const fields = [
    ["Rule", rule.rule],
    ["Message", rule.message ?? ""],
    ["MessageExpression", rule.messageExpression ?? ""],
    ["Reason", rule.reason ?? null],
    ["FieldPath", rule.fieldPath ?? ""],
    ["OptionalOldSelf", rule.optionalOldSelf ?? null],
  ] as const;
  const shown = fields.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(",");
  return { path, reason: "FieldValueInvalid", message: `Invalid value: {${shown}}: ${detail}` };
}
