// From a request's body to an object of the kind: version and kind checked, unknown fields dropped and reported,
// defaults filled in. It never looks at other objects and never judges values.

import { apiVersionOf, type KubeObject } from "../api/meta.ts";
import { applyDefaults } from "../api/schema/defaults.ts";
import { invalid as wrong } from "../api/schema/field-error.ts";
import { objectMetaSchema, typeComplaint } from "../api/schema/metadata-shape.ts";
import { coerceMetadata } from "../api/schema/object-meta.ts";
import { prune } from "../api/schema/prune.ts";
import type { Schema } from "../api/schema/schema.ts";
import { ApiError } from "../api/status.ts";
import { deepCopy, deepEqual, isObject, type JsonObject, setField } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { badRequest, invalid } from "./refusal.ts";
import type { RequestOptions } from "./request.ts";

export type Decoded = { object: KubeObject; warnings: string[] };

export type BodyOptions = {
  validation: RequestOptions["fieldValidation"];
  /** What the object replaces: fields that are the same need not be read again. */
  existing?: KubeObject | undefined;
};

/** The body of a create or an update. */
export function decodeBody(kind: ServedKind, body: unknown, { validation, existing }: BodyOptions): Decoded {
  const asked = typed(kind, body);
  const refused = (why: string) => cannotHandle(kind, asked, why);
  const { object, unknown } = readChanged(kind, asked, { existing, refused });
  if (unknown.length > 0 && validation === "Strict") throw refused(`strict decoding error: ${unknown.join(", ")}`);
  return { object, warnings: validation === "Ignore" ? [] : unknown };
}

/** The outcome of a patch: the same reading, but what cannot be read is the patch's fault. */
export function decodePatched(kind: ServedKind, patched: unknown, options: PatchedOptions): Decoded {
  const refused = (why: string) => {
    const message = `Invalid value: ${JSON.stringify(options.shownAs())}: ${why}`;
    return invalid({ group: "", name: "" }, "", [{ path: "patch", reason: "FieldValueInvalid", message }]);
  };
  if (!isObject(patched)) throw refused("the patched document is not an object");
  const asked = { ...patched } as KubeObject;
  if (!isObject(asked.metadata)) asked.metadata = {} as KubeObject["metadata"];
  if (options.isStrategic) Object.assign(asked, { apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind });
  else if (kind.strategic) {
    assumeType(kind, asked);
    refuseOtherKind(kind, asked, refused);
  } else {
    const missing = missingType(asked);
    if (missing !== undefined) throw refused(`Object '${missing}' is missing in '${JSON.stringify(patched)}'`);
    refuseOtherType(kind, asked);
  }
  const { object, unknown: dropped } = readChanged(kind, asked, { existing: options.existing, refused });
  const unknown = [...options.unknown, ...dropped];
  if (unknown.length > 0 && options.validation === "Strict")
    throw refused(`strict decoding error: ${unknown.join(", ")}`);
  return { object, warnings: options.validation === "Ignore" ? [] : unknown };
}

export type PatchedOptions = BodyOptions & {
  /** Findings about the patch document itself. */
  unknown: readonly string[];
  /** A strategic merge patch cannot change what the object is. */
  isStrategic: boolean;
  /** How the refusal quotes what it could not read. */
  shownAs(): string;
};

type Reading = { existing: KubeObject | undefined; refused: (why: string) => ApiError };

type Read = { object: KubeObject; unknown: string[] };

/**
 * Reads what differs from the stored object and takes over the rest, which was read when it was stored. What is read is
 * copied first, because a patch leaves in its outcome what it did not touch.
 */
function readChanged(kind: ServedKind, asked: KubeObject, { existing, refused }: Reading): Read {
  if (existing === undefined) return { object: asked, unknown: readFields(kind, asked, { refused }) };
  const fields = Object.keys(asked);
  const kept = new Set(fields.filter(field => isKept(kind, field, { asked, existing })));
  const read = {} as KubeObject;
  for (const field of fields) if (!kept.has(field)) setField(read, field, deepCopy(asked[field]));
  // Of its own, since the server writes into it; what lies below is never changed in place.
  const metadata = kept.delete("metadata") ? { ...existing.metadata } : undefined;
  const unknown = readFields(kind, read, { metadata, refused });
  const object = {} as KubeObject;
  for (const field of fields) {
    if (kept.has(field)) setField(object, field, existing[field]);
    else if (Object.hasOwn(read, field)) setField(object, field, read[field]);
  }
  for (const field of Object.keys(read)) if (!Object.hasOwn(object, field)) setField(object, field, read[field]);
  return { object, unknown };
}

const identity: ReadonlySet<string> = new Set(["apiVersion", "kind"]);
/** By which schema a part of a custom object was read: another one may read it otherwise. */
const schemaByPart = new WeakMap<object, Schema>();

function isKept(
  { rules, schema }: ServedKind,
  field: string,
  { asked, existing }: { asked: KubeObject; existing: KubeObject },
): boolean {
  if (identity.has(field)) return false;
  const part = existing[field];
  // No schema says how metadata is read. A patch that names the uid it means has it copied, and nothing of it changed.
  if (field === "metadata" || rules.decode !== undefined) return deepEqual(asked[field], part);
  return asked[field] === part && typeof part === "object" && part !== null && schemaByPart.get(part) === schema;
}

type FieldsReading = { metadata?: KubeObject["metadata"] | undefined; refused: (why: string) => ApiError };

/** `metadata` has been read before. Returns `unknown field "…"` for each dropped field. */
function readFields(kind: ServedKind, object: KubeObject, { metadata, refused }: FieldsReading): string[] {
  const { rules } = kind;
  const unknown = rules.decode === undefined ? readCustom(kind, object, refused) : readOwn(kind, object, refused);
  if (metadata !== undefined) object.metadata = metadata;
  rules.defaults?.(object);
  return unknown.map(path => `unknown field "${path}"`);
}

/** The server's own kinds are read by their types; what these cannot read is told without the kind's name. */
function readOwn({ rules, schema }: ServedKind, object: KubeObject, refused: (why: string) => ApiError): string[] {
  try {
    return rules.decode?.(object) ? prune(object, schema, { root: false }) : [];
  } catch (error) {
    throw error instanceof ApiError && error.code === 400 ? refused(error.message) : error;
  }
}

/** A custom kind's schema says nothing of metadata, whose unknown fields come first in the server's sentences. */
function readCustom(kind: ServedKind, object: KubeObject, refused: (why: string) => ApiError): string[] {
  const complaint = typeComplaint(object.metadata, objectMetaSchema, "");
  if (complaint !== undefined) throw refused(complaint);
  const metadata = coerceMetadata(object, kind.schema);
  if (metadata.error !== undefined) throw refused(metadata.error.message);
  const dropped = prune(object, kind.schema, { root: true });
  applyDefaults(object, kind.schema);
  for (const part of Object.values(object)) {
    if (typeof part === "object" && part !== null) schemaByPart.set(part, kind.schema);
  }
  return [...metadata.unknown, ...dropped];
}

function cannotHandle({ resource }: ServedKind, object: JsonObject, why: string): ApiError {
  return badRequest(
    `${String(object.kind)} in version "${versionOf(object)}" cannot be handled as a ${resource.kind}: ${why}`,
  );
}

function typed(kind: ServedKind, body: unknown): KubeObject {
  const { resource } = kind;
  if (!isObject(body)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${resource.kind}): it is not a JSON object`);
  }
  if (kind.strategic) {
    assumeType(kind, body);
    refuseOtherKind(kind, body, why => cannotHandle(kind, body, why));
  } else {
    refuseUntyped(kind, body);
    const complaint = typeComplaint(body.metadata, objectMetaSchema, "");
    if (complaint !== undefined) throw cannotHandle(kind, body, complaint);
  }
  body.metadata ??= {};
  return body as KubeObject;
}

function refuseOtherKind(kind: ServedKind, object: JsonObject, refused: (why: string) => ApiError): void {
  if (object.apiVersion === apiVersionOf(kind.resource) && object.kind === kind.resource.kind) return;
  const [name, apiVersion] = [String(object.kind), String(object.apiVersion)];
  throw refused(`no kind "${name}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`);
}

/** The server's own types know their kind: a body that leaves it out is taken for what the path says. */
function assumeType({ resource }: ServedKind, object: JsonObject): void {
  object.apiVersion ??= apiVersionOf(resource);
  object.kind ??= resource.kind;
}

function missingType(object: JsonObject): string | undefined {
  return !object.kind ? "Kind" : !object.apiVersion ? "apiVersion" : undefined;
}

function refuseUntyped({ resource }: ServedKind, body: JsonObject): void {
  const missing = missingType(body);
  if (missing === undefined) return;
  const text = JSON.stringify(body);
  const summary = text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  throw badRequest(
    `the object provided is unrecognized (must be of type ${resource.kind}): Object '${missing}' is missing in '${text}' (${summary})`,
  );
}

function otherVersion({ resource }: ServedKind, found: string): ApiError {
  return badRequest(
    `the API version in the data (${found}) does not match the expected API version (${apiVersionOf(resource)})`,
  );
}

/** A custom object is read whatever it says it is; its warnings are told also when it is then refused. */
export function refuseOtherVersion(kind: ServedKind, object: KubeObject): void {
  if (kind.strategic) return;
  if (object.apiVersion !== apiVersionOf(kind.resource)) throw otherVersion(kind, object.apiVersion);
  refuseOtherType(kind, object);
}

/** A custom object of another kind passes decoding and fails validation, under its own kind's name. */
function refuseOtherType({ resource }: ServedKind, object: JsonObject): void {
  const must = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const errors = (["kind", "apiVersion"] as const).flatMap(field =>
    object[field] === must[field] ? [] : [wrong(field, object[field], `must be ${must[field]}`)],
  );
  const name = isObject(object.metadata) ? String(object.metadata.name ?? "") : "";
  if (errors.length > 0) throw invalid({ group: resource.group, name: String(object.kind) }, name, errors);
}

function versionOf(object: JsonObject): string {
  return (
    String(object.apiVersion ?? "")
      .split("/")
      .at(-1) ?? ""
  );
}
