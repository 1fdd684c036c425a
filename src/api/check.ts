// What is wrong with a manifest: what the API server would refuse, in its order and words, and what only we can know.
// Pure, so that the command line, the tests and the controller judge alike.

import type { KindDefinition } from "./kind-definition.ts";
import { kinds } from "./kinds.ts";
import { apiVersionOf, parseApiVersion } from "./meta.ts";
import { nearest } from "./nearest.ts";
import { offlineFindings } from "./offline.ts";
import { isFields } from "./schema/correlate.ts";
import { applyDefaults } from "./schema/defaults.ts";
import { coerceMetadata, metadataErrors } from "./schema/object-meta.ts";
import { prune } from "./schema/prune.ts";
import type { FieldError, Schema } from "./schema/schema.ts";
import { validate } from "./schema/validate.ts";

export type Finding = {
  severity: "error" | "warning";
  /** The server's spelling of the field; empty for the object as a whole. */
  path: string;
  message: string;
  /** True for what an API server would not refuse. */
  offline: boolean;
};

export type CheckedManifest = {
  /** Whether the kind is one of Fettle's, or was meant to be. */
  ours: boolean;
  kind?: string;
  name?: string;
  findings: Finding[];
  /** As the server would store it: unknown fields dropped, defaults filled in. */
  defaulted?: Record<string, unknown>;
};

const definitionByKind = new Map(kinds.map(kind => [`${kind.resource.group}/${kind.resource.kind}`, kind]));
const ourGroups = new Set(kinds.map(kind => kind.resource.group));

export function checkManifest(value: unknown): CheckedManifest {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ours: true, findings: [error("", "an object is expected, with apiVersion, kind and metadata")] };
  }
  const { apiVersion, kind } = value as Record<string, unknown>;
  for (const [field, text] of Object.entries({ apiVersion, kind })) {
    if (text === undefined || text === null || text === "") {
      return { ours: true, findings: [error(field, "Required value")] };
    }
    if (typeof text !== "string") {
      return { ours: true, findings: [error(field, `Invalid value: ${JSON.stringify(text)}: must be a string`)] };
    }
  }
  return checkKind(value as Record<string, unknown>, String(apiVersion), String(kind));
}

function checkKind(value: Record<string, unknown>, apiVersion: string, kind: string): CheckedManifest {
  const { group, version } = parseApiVersion(apiVersion);
  if (!ourGroups.has(group)) return { ours: false, kind, findings: [] };
  const definition = definitionByKind.get(`${group}/${kind}`);
  if (definition === undefined) return { ours: true, kind, findings: [unknownKind(group, kind)] };
  if (!definition.versions.includes(version)) {
    return { ours: true, kind, findings: [unknownVersion(definition, apiVersion)] };
  }
  return checkObject(structuredClone(value), definition);
}

function checkObject(object: Record<string, unknown>, definition: KindDefinition): CheckedManifest {
  const { schema, resource } = definition;
  const unknown = prune(object, schema, { root: true });
  const metadata = coerceMetadata(object, schema);
  const unknownFields = unknownFieldsOf([...unknown, ...metadata.unknown], schema);
  applyDefaults(object, schema);
  dropUnread(object, definition);
  const checked = { ours: true, kind: resource.kind, defaulted: object, ...nameOf(object) };
  if (metadata.error !== undefined) return { ...checked, findings: [...unknownFields, refused(metadata.error)] };
  const refusals = serverErrors(object, definition);
  return { ...checked, findings: [...unknownFields, ...refusals, ...offline(object, definition, refusals)] };
}

/** A status is written by controllers and a namespace has no meaning here: the server looks at neither. */
function dropUnread(object: Record<string, unknown>, { schema, resource }: KindDefinition): void {
  if (schema.properties?.["status"] !== undefined) delete object["status"];
  // Read before: it is an object, or there is none.
  const metadata = object["metadata"] as Record<string, unknown> | undefined;
  if (!resource.namespaced) delete metadata?.["namespace"];
}

/** What a server makes of generateName: part of it, if need be, and five characters that nobody can know. */
function withGeneratedName(object: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = object;
  if (!isFields(metadata) || metadata["name"] !== undefined) return object;
  const { generateName } = metadata;
  if (typeof generateName !== "string") return object;
  return { ...object, metadata: { ...metadata, name: `${generateName.slice(0, 58)}xxxxx` } };
}

function serverErrors(written: Record<string, unknown>, { schema, resource }: KindDefinition): Finding[] {
  const object = withGeneratedName(written);
  const metadata = (object["metadata"] ?? {}) as Record<string, unknown>;
  const { namespaced } = resource;
  return [...metadataErrors(metadata, { namespaced, path: "metadata" }), ...validate(object, schema)].map(refused);
}

// Offline judgements read the object as its type says; one that the server refuses may be anything.
function offline(object: Record<string, unknown>, { resource }: KindDefinition, refusals: Finding[]): Finding[] {
  if (refusals.length > 0) return [];
  return offlineFindings(resource.kind, object).map(finding => ({ ...finding, offline: true }));
}

function unknownKind(group: string, kind: string): Finding {
  const known = kinds.filter(({ resource }) => resource.group === group).map(({ resource }) => resource.kind);
  return error(
    "kind",
    `${group} has no kind "${kind}"${suggestion(nearest(kind, known)) || `; it has ${list(known)}`}`,
  );
}

function unknownVersion({ resource, versions }: KindDefinition, apiVersion: string): Finding {
  const served = versions.map(version => apiVersionOf({ ...resource, version }));
  return error("apiVersion", `${resource.kind} is not served as ${apiVersion}; use ${list(served)}`);
}

/** Whoever sends the wrong file altogether is not helped by a hundred thousand lines. */
const unknownFieldsMax = 100;

function unknownFieldsOf(paths: readonly string[], schema: Schema): Finding[] {
  const findings = paths.slice(0, unknownFieldsMax).map(path => unknownField(path, schema));
  const more = paths.length - unknownFieldsMax;
  return more > 0 ? [...findings, error("", `${more} more unknown fields`)] : findings;
}

function unknownField(path: string, schema: Schema): Finding {
  const { parent, name } = lastField(path);
  const known = Object.keys(schemaAt(schema, parent)?.properties ?? {});
  return error(path, `unknown field "${path}"${suggestion(nearest(name, known))}`);
}

function lastField(path: string): { parent: string; name: string } {
  const dot = path.lastIndexOf(".");
  return { parent: path.slice(0, Math.max(dot, 0)), name: path.slice(dot + 1) };
}

/** The schema under a path of fields and indices, as far as fields are named and not keys of a map. */
function schemaAt(schema: Schema, path: string): Schema | undefined {
  let at: Schema | undefined = schema;
  for (const step of path.split(/\.|(?=\[)/)) {
    if (step === "") continue;
    const additional: Schema | boolean | undefined = at?.additionalProperties;
    at = step.startsWith("[")
      ? at?.items
      : (at?.properties?.[step] ?? (typeof additional === "object" ? additional : undefined));
  }
  return at;
}

function nameOf(object: Record<string, unknown>): { name?: string } {
  const name = (object["metadata"] as { name?: unknown } | undefined)?.name;
  return typeof name === "string" ? { name } : {};
}

const error = (path: string, message: string): Finding => ({ severity: "error", path, message, offline: false });
const refused = ({ path, message }: FieldError): Finding => error(path, message);
const suggestion = (meant: string | undefined): string => (meant === undefined ? "" : `; did you mean "${meant}"?`);
const list = (words: readonly string[]): string => words.join(", ");
