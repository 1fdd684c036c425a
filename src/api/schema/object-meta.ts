// Metadata of a resource: read as the server reads it, and judged: names, labels, annotations, owners, finalizers.

import { parseApiVersion } from "../meta.ts";
import { labelErrors, labelValueErrors, qualifiedNameErrors, subdomainErrors } from "../name.ts";
import { fieldSchema, isEqual, isFields } from "./correlate.ts";
import { forbidden, invalid, required, tooLong } from "./field-error.ts";
import { objectMetaSchema, typeComplaint } from "./metadata-shape.ts";
import { asResource, prune } from "./prune.ts";
import { reaches } from "./reaches.ts";
import type { FieldError, Schema } from "./schema.ts";

/**
 * Reads `metadata` as the server does, in place, at the root and in embedded resources: unknown and empty fields are
 * dropped. `unknown` are the dropped paths for strict field validation; `error` is set when a known field has the wrong
 * type, which the server answers with 400.
 */
export function coerceMetadata(value: unknown, schema: Schema): { unknown: string[]; error?: FieldError } {
  const unknown: string[] = [];
  const error = coerce(value, asResource(schema), "", unknown);
  return error === undefined ? { unknown: unknown.sort() } : { unknown: unknown.sort(), error };
}

const hasResource = reaches(schema => schema["x-kubernetes-embedded-resource"] === true);

function coerce(value: unknown, schema: Schema | undefined, path: string, unknown: string[]): FieldError | undefined {
  if (schema === undefined || typeof value !== "object" || value === null || !hasResource(schema)) return undefined;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const error = coerce(item, schema.items, `${path}[${i}]`, unknown);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  const fields = value as Record<string, unknown>;
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  for (const key of Object.keys(fields)) {
    const at = path === "" ? key : `${path}.${key}`;
    const error = embedded ? coerceMetaField(fields, key, at, unknown) : undefined;
    const below = error ?? coerce(fields[key], fieldSchema(schema, key), at, unknown);
    if (below !== undefined) return below;
  }
  return undefined;
}

function coerceMetaField(
  fields: Record<string, unknown>,
  key: string,
  path: string,
  unknown: string[],
): FieldError | undefined {
  const value = fields[key];
  if (key === "apiVersion" || key === "kind")
    return typeof value === "string" ? undefined : invalid(path, value, "must be a string");
  if (key !== "metadata") return undefined;
  const complaint = typeComplaint(value, objectMetaSchema, "");
  if (complaint !== undefined) return invalid(path, value, complaint);
  if (value === null) {
    delete fields[key];
    return undefined;
  }
  for (const dropped of prune(value, objectMetaSchema, { root: false })) unknown.push(`${path}.${dropped}`);
  fillNullTexts(value as Record<string, unknown>);
  dropEmpty(value as Record<string, unknown>);
  return undefined;
}

/** Go reads a null in a map of texts as the empty text. */
function fillNullTexts({ labels, annotations }: Record<string, unknown>): void {
  for (const texts of [labels, annotations]) {
    if (isFields(texts)) for (const key of Object.keys(texts)) (texts as Record<string, unknown>)[key] ??= "";
  }
}

/** Go leaves zero values out when it writes the metadata back. */
function dropEmpty(metadata: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(metadata)) {
    const empty =
      value === null ||
      value === "" ||
      (key === "generation" && value === 0) ||
      (Array.isArray(value) && value.length === 0) ||
      (isFields(value) && Object.keys(value).length === 0);
    if (empty) delete metadata[key];
  }
}

type Metadata = Readonly<Record<string, unknown>>;
type NameErrors = (name: string) => string[];

const annotationsMaxBytes = 256 * 1024;
const managerMaxBytes = 128;
const subresourceMaxBytes = 256;

export type MetadataOptions = {
  namespaced: boolean;
  path?: string;
  /** Names of most kinds are DNS subdomains. */
  nameErrors?: NameErrors;
  /** The stored metadata, on update: identity must not change, and a name is not judged again. */
  old?: Metadata;
};

/**
 * `metadata` of an object as it is about to be stored. Every write comes here, and nearly always there is nothing to
 * find: the parts are walked as they are, and no list is made for what is fine.
 */
export function metadataErrors(metadata: Metadata, options: MetadataOptions): FieldError[] {
  const { path = "metadata", old } = options;
  const { labels, annotations, ownerReferences: owners, finalizers, managedFields } = metadata;
  const findings = old === undefined ? nameFindings(metadata, options, path) : updateFindings(metadata, old, path);
  if (isFields(labels)) addLabelFindings(findings, labels, `${path}.labels`);
  if (isFields(annotations)) addAnnotationFindings(findings, annotations, `${path}.annotations`);
  if (Array.isArray(owners)) findings.push(...ownerFindings(owners, `${path}.ownerReferences`));
  if (old === undefined && Array.isArray(finalizers))
    findings.push(...finalizerFindings(finalizers.map(String), `${path}.finalizers`));
  if (Array.isArray(managedFields)) findings.push(...managedFieldFindings(managedFields, `${path}.managedFields`));
  return findings;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function nameFindings(metadata: Metadata, options: MetadataOptions, path: string): FieldError[] {
  const { namespaced, nameErrors = subdomainErrors } = options;
  const name = textOf(metadata["name"]);
  const generateName = textOf(metadata["generateName"]);
  const namespace = textOf(metadata["namespace"]);
  const findings =
    generateName === "" ? [] : all(`${path}.generateName`, generateName, nameErrors(asPrefix(generateName)));
  if (name === "") findings.push(required(`${path}.name`, "name or generateName is required"));
  else findings.push(...all(`${path}.name`, name, nameErrors(name)));
  if (namespaced && namespace === "") findings.push(required(`${path}.namespace`, ""));
  if (namespaced && namespace !== "") findings.push(...all(`${path}.namespace`, namespace, labelErrors(namespace)));
  if (!namespaced && namespace !== "") findings.push(forbidden(`${path}.namespace`, "not allowed on this type"));
  const generation = metadata["generation"];
  if (typeof generation === "number" && generation < 0)
    findings.push(invalid(`${path}.generation`, generation, "must be greater than or equal to 0"));
  return findings;
}

/** A dash at the end of a prefix is fine: the generated part follows it. */
function asPrefix(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

const immutable = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];

function updateFindings(metadata: Metadata, old: Metadata, path: string): FieldError[] {
  const findings: FieldError[] = [];
  const known = list(old["finalizers"]);
  const added = list(metadata["finalizers"]).filter(finalizer => !known.includes(finalizer));
  if (old["deletionTimestamp"] !== undefined && added.length > 0) {
    const shown = `[]string{${[...new Set(added.map(name => JSON.stringify(name)))].sort().join(", ")}}`;
    const rule = "no new finalizers can be added if the object is being deleted";
    findings.push(forbidden(`${path}.finalizers`, `${rule}, found new finalizers ${shown}`));
  }
  if (textOf(metadata["resourceVersion"]) === "")
    findings.push(invalid(`${path}.resourceVersion`, "", "must be specified for an update"));
  const generation = Number(metadata["generation"] ?? 0);
  if (generation < Number(old["generation"] ?? 0))
    findings.push(invalid(`${path}.generation`, generation, "must not be decremented"));
  for (const field of immutable)
    if (!isEqual(metadata[field], old[field]))
      findings.push(
        invalid(`${path}.${field}`, metadata[field] ?? (textFields.has(field) ? "" : null), "field is immutable"),
      );
  return findings;
}

const textFields: ReadonlySet<string> = new Set(["name", "namespace", "uid"]);

function all(path: string, value: unknown, complaints: readonly string[]): FieldError[] {
  return complaints.map(complaint => invalid(path, value, complaint));
}

type Fields = Readonly<Record<string, unknown>>;

function addLabelFindings(findings: FieldError[], labels: Fields, path: string): void {
  for (const key in labels) {
    const value = textOf(labels[key]);
    const [ofKey, ofValue] = [qualifiedNameErrors(key), labelValueErrors(value)];
    if (ofKey.length + ofValue.length > 0) findings.push(...all(path, key, ofKey), ...all(path, value, ofValue));
  }
}

function addAnnotationFindings(findings: FieldError[], annotations: Fields, path: string): void {
  let charCount = 0;
  for (const key in annotations) {
    const complaints = qualifiedNameErrors(key.toLowerCase());
    if (complaints.length > 0) findings.push(...all(path, key, complaints));
    charCount += key.length + textOf(annotations[key]).length;
  }
  const isTooLong = 3 * charCount > annotationsMaxBytes && isLongerThan(annotationsMaxBytes, textsOf(annotations));
  if (isTooLong) findings.push(tooLong(path, annotationsMaxBytes));
}

const textsOf = (fields: Fields): string[] => Object.entries(fields).flatMap(([key, value]) => [key, textOf(value)]);

/** In bytes of UTF-8, of which a character has three at most (a pair of halves four, so two each). */
function isLongerThan(maxBytes: number, texts: readonly string[]): boolean {
  if (texts.reduce((sum, text) => sum + 3 * text.length, 0) <= maxBytes) return false;
  const encoder = new TextEncoder();
  return texts.reduce((sum, text) => sum + encoder.encode(text).length, 0) > maxBytes;
}

function ownerFindings(owners: readonly unknown[], path: string): FieldError[] {
  const findings: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    if (!isFields(owner)) continue;
    const { version } = parseApiVersion(textOf(owner["apiVersion"]));
    if (version === "")
      findings.push(invalid(`${path}.apiVersion`, textOf(owner["apiVersion"]), "version must not be empty"));
    for (const field of ["kind", "name", "uid"])
      if (textOf(owner[field]) === "") findings.push(invalid(`${path}.${field}`, "", "must not be empty"));
    if (owner["apiVersion"] === "v1" && owner["kind"] === "Event")
      findings.push(invalid(path, ownerStruct(owner), "/v1, Kind=Event is disallowed from being an owner"));
    if (owner["controller"] !== true) continue;
    const named = `${textOf(owner["kind"])}/${textOf(owner["name"])}`;
    const rule = 'Only one reference can have Controller set to true. Found "true" in references for';
    if (controller !== undefined)
      findings.push(invalid(path, owners.map(ownerStruct), `${rule} ${controller} and ${named}`));
    controller ??= named;
  }
  return findings;
}

/** metav1.OwnerReference, in the order in which Go writes its fields; the first four are always there. */
function ownerStruct(owner: unknown): Map<string, unknown> {
  const fields = isFields(owner) ? owner : {};
  const always = ["apiVersion", "kind", "name", "uid"].map(field => [field, textOf(fields[field])] as const);
  const sometimes = ["controller", "blockOwnerDeletion"].filter(field => typeof fields[field] === "boolean");
  return new Map<string, unknown>([...always, ...sometimes.map(field => [field, fields[field]] as const)]);
}

function finalizerFindings(finalizers: readonly string[], path: string): FieldError[] {
  const findings = finalizers.flatMap(finalizer => all(path, finalizer, qualifiedNameErrors(finalizer)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion"))
    findings.push(invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  return findings;
}

function managedFieldFindings(entries: readonly unknown[], path: string): FieldError[] {
  return entries.flatMap((entry, i) => {
    const at = `${path}[${i}]`;
    if (!isFields(entry)) return [];
    const { operation, fieldsType, manager, subresource } = entry;
    const findings: FieldError[] = [];
    if (operation !== "Apply" && operation !== "Update")
      findings.push(invalid(`${at}.operation`, textOf(operation), "must be `Apply` or `Update`"));
    if (textOf(fieldsType) !== "" && fieldsType !== "FieldsV1")
      findings.push(invalid(`${at}.fieldsType`, fieldsType, "must be `FieldsV1`"));
    if (isLongerThan(managerMaxBytes, [textOf(manager)])) findings.push(tooLong(`${at}.manager`, managerMaxBytes));
    if (isLongerThan(subresourceMaxBytes, [textOf(subresource)]))
      findings.push(tooLong(`${at}.subresource`, subresourceMaxBytes));
    return findings;
  });
}
