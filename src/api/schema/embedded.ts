// Resources inside a resource (x-kubernetes-embedded-resource): each needs apiVersion and kind, and metadata as good as
// an object's own.

import { label1035Errors } from "../name.ts";
import { fieldSchema, isFields } from "./correlate.ts";
import { invalid, required } from "./field-error.ts";
import { objectMetaSchema, typeComplaint } from "./metadata-shape.ts";
import { metadataErrors } from "./object-meta.ts";
import { reaches } from "./reaches.ts";
import type { FieldError, Schema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function all(path: string, value: unknown, complaints: readonly string[]): FieldError[] {
  return complaints.map(complaint => invalid(path, value, complaint));
}

const isEmbedded = (schema: Schema): boolean => schema["x-kubernetes-embedded-resource"] === true;
const hasEmbedded = reaches(isEmbedded);

/** Embedded resources below the root: what they must have, and their own metadata. `root` asks it of the value too. */
export function embeddedErrors(value: unknown, schema: Schema, path = "", root = false): FieldError[] {
  if (!root && !hasEmbedded(schema)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.flatMap((item, i) => embeddedErrors(item, items, `${path}[${i}]`, isEmbedded(items)));
  }
  if (!isFields(value)) return [];
  const below = Object.keys(value).flatMap(key => {
    const known = fieldSchema(schema, key);
    if (known === undefined) return [];
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const at = named ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
    return embeddedErrors(value[key], known, at, isEmbedded(known));
  });
  return root ? [...resourceErrors(value, path), ...below] : below;
}

function resourceErrors(value: Fields, path: string): FieldError[] {
  const at = (field: string): string => (path === "" ? field : `${path}.${field}`);
  const findings: FieldError[] = [];
  for (const field of ["apiVersion", "kind"]) {
    const given = value[field];
    if (!Object.hasOwn(value, field)) findings.push(required(at(field), ""));
    else if (typeof given !== "string") findings.push(invalid(at(field), given, "must be a string"));
    else if (given === "") findings.push(invalid(at(field), given, "must not be empty"));
    else findings.push(...all(at(field), given, field === "kind" ? kindComplaints(given) : versionComplaints(given)));
  }
  if (!Object.hasOwn(value, "metadata")) return findings;
  return [...findings, ...embeddedMetadataErrors(value["metadata"], at("metadata"))];
}

function kindComplaints(kind: string): string[] {
  const errors = label1035Errors(kind.toLowerCase());
  return errors.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${errors.join(",")}`];
}

function versionComplaints(apiVersion: string): string[] {
  return apiVersion.split("/").length > 2 ? [`unexpected GroupVersion string: ${apiVersion}`] : [];
}

function embeddedMetadataErrors(metadata: unknown, path: string): FieldError[] {
  const complaint = typeComplaint(metadata, objectMetaSchema, "");
  if (complaint !== undefined) return [invalid(path, metadata, complaint)];
  const fields: Fields = isFields(metadata) ? metadata : {};
  const named = textOf(fields["name"]) === "" ? { ...fields, name: "fakename" } : fields;
  return metadataErrors(named, { namespaced: textOf(fields["namespace"]) !== "", path, nameErrors: segmentErrors });
}

/** Kinds inside others are unknown, so their names must only be fit for a URL. */
function segmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter(part => name.includes(part)).map(part => `may not contain '${part}'`);
}
