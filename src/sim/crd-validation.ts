// What is refused in a CustomResourceDefinition, in the server's words and with its paths. Where all versions agree the
// server speaks of one place for all (`spec.validation`), and so do we. Schemas are judged by src/api/schema.

import { label1035Errors, subdomainErrors } from "../api/name.ts";
import { forbidden, invalid, notSupported, required } from "../api/schema/field-error.ts";
import type { FieldError, Schema } from "../api/schema/schema.ts";
import { conditionOf, type Crd, type CrdNames, type CrdVersion } from "./crd.ts";
import { deepEqual } from "./json-value.ts";
import { unsoundness } from "./known-schemas.ts";
import type { PrinterColumn } from "./printer-columns.ts";

export function crdErrors(crd: Crd, old: Crd | undefined): FieldError[] {
  const { spec, status = {} } = crd;
  // The server's types write a list that is left out, or empty, as null.
  const versions = (spec.versions as CrdVersion[] | null) ?? [];
  return [
    ...(old === undefined ? nameErrors(crd) : []),
    ...specErrors(spec, versions),
    ...(old === undefined ? [] : changeErrors(crd, old)),
    ...storedVersionErrors(status.storedVersions ?? [], versions),
    ...approvalErrors(crd, old),
    ...(spec.preserveUnknownFields === true ? [preserved] : []),
  ];
}

const preserved = invalid(
  "spec.preserveUnknownFields",
  true,
  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
);

function nameErrors({ metadata, spec }: Crd): FieldError[] {
  const isRight = metadata.name === `${spec.names?.plural}.${spec.group}`;
  return isRight ? [] : [invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group')];
}

function specErrors(spec: Crd["spec"], versions: readonly CrdVersion[]): FieldError[] {
  const { names = { plural: "", kind: "" } } = spec;
  const shared = sharedParts(versions);
  const errors = [...groupErrors(spec.group), ...scopeErrors(spec.scope)];
  // In its own form the server has the first one's name in a field of old.
  if (versions[0]?.name) errors.push(...versionNameErrors(versions[0], "spec.version"));
  if (!shared.schema) errors.push(...versions.flatMap(missingSchema));
  for (const [index, version] of versions.entries())
    errors.push(...versionErrors(version, `spec.versions[${index}]`, shared));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalid("spec.versions", versions, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid("spec.versions", versions, "must have exactly one version marked as storage version"));
  }
  const first = versions[0];
  errors.push(...requiredNames(names), ...namesErrors(names, "spec.names"));
  if (first && shared.schema) errors.push(...schemaErrors(first, "spec.validation", versions.some(hasStatus)));
  if (first && shared.subresources) errors.push(...subresourceErrors(first, "spec.subresources"));
  if (first && shared.columns) errors.push(...columnErrors(first, "spec.additionalPrinterColumns"));
  if (first && shared.fields) errors.push(...fieldErrors(first, "spec.selectableFields"));
  return [...errors, ...conversionErrors(spec.conversion)];
}

function groupErrors(group = ""): FieldError[] {
  if (group === "") return [required("spec.group", "")];
  const wrong = subdomainErrors(group);
  if (wrong.length > 0) return [invalid("spec.group", group, wrong.join(","))];
  return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeErrors(scope = ""): FieldError[] {
  if (scope === "") return [required("spec.scope", "")];
  return ["Cluster", "Namespaced"].includes(scope)
    ? []
    : [notSupported("spec.scope", scope, ["Cluster", "Namespaced"])];
}

type Webhook = NonNullable<NonNullable<Crd["spec"]["conversion"]>["webhook"]>;
type Shared = { schema: boolean; subresources: boolean; columns: boolean; fields: boolean };

/** Which parts are set in every version and the same in all of them. */
function sharedParts(versions: readonly CrdVersion[]): Shared {
  const isShared = (part: (version: CrdVersion) => unknown) =>
    versions.length > 0 &&
    versions.every(version => isSet(part(version)) && deepEqual(part(version), part(versions[0] as CrdVersion)));
  return {
    schema: isShared(version => version.schema?.openAPIV3Schema),
    subresources: isShared(version => version.subresources),
    columns: isShared(version => version.additionalPrinterColumns),
    fields: isShared(version => version.selectableFields),
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

function missingSchema({ schema }: CrdVersion, index: number): FieldError[] {
  return schema?.openAPIV3Schema === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`, "")] : [];
}

function versionErrors(version: CrdVersion, path: string, shared: Shared): FieldError[] {
  const errors = versionNameErrors(version, `${path}.name`);
  errors.push(...deprecationErrors(version, `${path}.deprecationWarning`));
  if (!shared.schema) errors.push(...schemaErrors(version, `${path}.schema`, hasStatus(version)));
  if (!shared.subresources) errors.push(...subresourceErrors(version, `${path}.subresources`));
  if (!shared.columns) errors.push(...columnErrors(version, `${path}.additionalPrinterColumns`));
  if (!shared.fields) errors.push(...fieldErrors(version, `${path}.selectableFields`));
  return errors;
}

function versionNameErrors({ name = "" }: CrdVersion, path: string): FieldError[] {
  const wrong = label1035Errors(name);
  return wrong.length > 0 ? [invalid(path, name, wrong.join(","))] : [];
}

function deprecationErrors({ deprecated, deprecationWarning: warning }: CrdVersion, path: string): FieldError[] {
  if (warning === undefined) return [];
  if (!deprecated) return [invalid(path, warning, "can only be set for deprecated versions")];
  if (warning.length > 256) return [invalid(path, warning, "must be <= 256 characters long")];
  return warning === "" ? [invalid(path, warning, "must not be an empty string")] : [];
}

function hasStatus({ subresources }: CrdVersion): boolean {
  return subresources?.status !== undefined;
}

// With the status subresource, status is validated apart, so nothing at the root may speak about it.
const forbiddenAtRoot = [
  "enum",
  "maxProperties",
  "minProperties",
  "allOf",
  "oneOf",
  "anyOf",
  "not",
  "additionalProperties",
] as const;

function schemaErrors({ schema }: CrdVersion, path: string, withStatus: boolean): FieldError[] {
  const root = schema?.openAPIV3Schema;
  if (root === undefined) return [];
  const at = `${path}.openAPIV3Schema`;
  const errors: FieldError[] = [];
  if (withStatus && root.type !== undefined && root.type !== "object") {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalid(`${at}.type`, root.type, why));
  } else if (withStatus && forbiddenAtRoot.some(keyword => root[keyword] !== undefined)) {
    errors.push(invalid(at, root, rootSentence));
  }
  if (root.nullable === true) errors.push(forbidden(`${at}.nullable`, "nullable cannot be true at the root"));
  return [...errors, ...unsoundness(root, at)];
}

const rootSentence =
  "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern " +
  "MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields " +
  "XValidations] fields are allowed at the root of the schema if the status subresource is enabled";

function subresourceErrors({ subresources }: CrdVersion, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  return [
    ...scalePathErrors(scale.specReplicasPath, `${path}.scale.specReplicasPath`, [".spec."]),
    ...scalePathErrors(scale.statusReplicasPath, `${path}.scale.statusReplicasPath`, [".status."]),
    ...(scale.labelSelectorPath
      ? scalePathErrors(scale.labelSelectorPath, `${path}.scale.labelSelectorPath`, [".spec.", ".status."])
      : []),
  ];
}

function scalePathErrors(value = "", path: string, under: readonly string[]): FieldError[] {
  if (value === "") return [required(path, "")];
  if (!value.startsWith(".")) return [invalid(path, value, "must be a simple json path starting with .")];
  if (under.some(prefix => value.startsWith(prefix))) return [];
  const places = under.length > 1 ? "either .spec or .status" : (under[0] as string).slice(0, -1);
  return [invalid(path, value, `should be a json path under ${places}`)];
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors({ additionalPrinterColumns = [] }: CrdVersion, path: string): FieldError[] {
  return additionalPrinterColumns.flatMap((column, index) => oneColumnErrors(column, `${path}[${index}]`));
}

function oneColumnErrors({ name, type, format, jsonPath }: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const types = `must be one of ${columnTypes.join(",")}`;
  if (!name) errors.push(required(`${path}.name`, ""));
  if (!type) errors.push(required(`${path}.type`, types));
  else if (!columnTypes.includes(type)) errors.push(invalid(`${path}.type`, type, types));
  if (format && !columnFormats.includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${columnFormats.join(",")}`));
  }
  if (!jsonPath) errors.push(required(`${path}.JSONPath`, ""));
  else if (!jsonPath.startsWith(".")) {
    errors.push(invalid(`${path}.JSONPath`, jsonPath, "must be a simple json path starting with ."));
  }
  return errors;
}

const fieldMax = 8;

function fieldErrors({ selectableFields = [], schema }: CrdVersion, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const at = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      errors.push(required(at, ""));
      continue;
    }
    const found = schemaAt(schema?.openAPIV3Schema, jsonPath);
    if (jsonPath.startsWith(".metadata")) errors.push(invalid(at, jsonPath, "must not point to fields in metadata"));
    else if (found === undefined)
      errors.push(invalid(at, jsonPath, "is an invalid path: does not refer to a valid field"));
    else if (!["string", "boolean", "integer"].includes(found.type ?? ""))
      errors.push(invalid(at, jsonPath, selectableTypes));
    if (seen.has(jsonPath)) {
      errors.push({ path: at, reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(jsonPath)}` });
    }
    seen.add(jsonPath);
  }
  if (seen.size > fieldMax) {
    const message = `Too many: ${seen.size}: must have at most ${fieldMax} items`;
    errors.push({ path, reason: "FieldValueTooMany", message });
  }
  return errors;
}

const selectableTypes =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";

function schemaAt(root: Schema | undefined, jsonPath: string): Schema | undefined {
  if (!jsonPath.startsWith(".")) return undefined;
  return jsonPath
    .slice(1)
    .split(".")
    .reduce<Schema | undefined>((schema, field) => schema?.properties?.[field], root);
}

function requiredNames({ plural, singular, kind, listKind }: CrdNames): FieldError[] {
  const named = { plural, singular, kind, listKind };
  return Object.entries(named).flatMap(([field, value]) => (value ? [] : [required(`spec.names.${field}`, "")]));
}

function namesErrors(names: CrdNames, path: string): FieldError[] {
  const label = (field: string, value = "") => {
    const wrong = value === "" ? [] : label1035Errors(value);
    return wrong.length > 0 ? [invalid(`${path}.${field}`, value, wrong.join(","))] : [];
  };
  const mixed = (field: string, value = "") => {
    const wrong = value === "" ? [] : label1035Errors(value.toLowerCase());
    const why = `may have mixed case, but should otherwise match: ${wrong.join(",")}`;
    return wrong.length > 0 ? [invalid(`${path}.${field}`, value, why)] : [];
  };
  const isSame = names.kind !== "" && names.kind === names.listKind;
  return [
    ...label("plural", names.plural),
    ...label("singular", names.singular),
    ...mixed("kind", names.kind),
    ...mixed("listKind", names.listKind),
    ...(names.shortNames ?? []).flatMap((name, index) => label(`shortNames[${index}]`, name)),
    ...(isSame ? [invalid(`${path}.listKind`, names.listKind, "kind and listKind may not be the same")] : []),
    ...(names.categories ?? []).flatMap((name, index) => label(`categories[${index}]`, name)),
  ];
}

function conversionErrors(conversion: Crd["spec"]["conversion"]): FieldError[] {
  const { strategy, webhook } = conversion ?? { strategy: "None" };
  if (strategy === "None") return webhookErrors(webhook);
  if (strategy !== "Webhook") return [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  return [
    invalid("spec.conversion.strategy", strategy, "conversion webhooks are not served by the embedded API; use None"),
  ];
}

function webhookErrors({ clientConfig, conversionReviewVersions }: Webhook = {}): FieldError[] {
  const why = "should not be set when strategy is not set to Webhook";
  return [
    ...(clientConfig ? [forbidden("spec.conversion.webhookClientConfig", why)] : []),
    ...(conversionReviewVersions?.length ? [forbidden("spec.conversion.conversionReviewVersions", why)] : []),
  ];
}

function changeErrors({ spec }: Crd, old: Crd): FieldError[] {
  const same = (path: string, now: unknown, before: unknown) =>
    deepEqual(now, before) ? [] : [invalid(path, now, "field is immutable")];
  const isEstablished = conditionOf(old, "Established")?.status === "True";
  return [
    ...(isEstablished ? same("spec.scope", spec.scope, old.spec.scope) : []),
    ...(isEstablished ? same("spec.names.kind", spec.names.kind, old.spec.names.kind) : []),
    ...same("spec.group", spec.group, old.spec.group),
    ...same("spec.names.plural", spec.names.plural, old.spec.names.plural),
  ];
}

function storedVersionErrors(stored: readonly string[], versions: readonly CrdVersion[]): FieldError[] {
  const path = "status.storedVersions";
  if (stored.length === 0) return [invalid(path, null, "must have at least one stored version")];
  return stored.flatMap((name, index) => {
    if (versions.some(version => version.name === name)) return [];
    const why =
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a ` +
      `storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalid(`${path}[${index}]`, name, why)];
  });
}

const approval = "api-approved.kubernetes.io";
const approvalPath = `metadata.annotations[${approval}]`;

function approvalErrors({ metadata, spec }: Crd, old: Crd | undefined): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? "")) return [];
  const given = metadata.annotations?.[approval] ?? "";
  if (old !== undefined && (old.metadata.annotations?.[approval] ?? "") === given) return [];
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (given === "")
    return [required(approvalPath, `protected groups must have approval annotation "${approval}", ${see}`)];
  if (given.startsWith("unapproved") || URL.canParse(given)) return [];
  const how = `with either a URL or a reason starting with "unapproved"`;
  return [invalid(approvalPath, given, `protected groups must have approval annotation "${approval}" ${how}, ${see}`)];
}
