// Our schema engine asked the same questions as a real API server, in the order in which the server works.

import { applyDefaults } from "../../../src/api/schema/defaults.ts";
import { coerceMetadata, metadataErrors } from "../../../src/api/schema/object-meta.ts";
import { prune } from "../../../src/api/schema/prune.ts";
import type { FieldError, Schema } from "../../../src/api/schema/schema.ts";
import { structuralErrors } from "../../../src/api/schema/structural.ts";
import { validate } from "../../../src/api/schema/validate.ts";
import { type Finding, type Verdict, withoutServerFields } from "./server.ts";

type Body = Record<string, unknown>;

export function judge(schema: Schema, given: Body, old?: Body): Verdict {
  const object = JSON.parse(JSON.stringify(given)) as Body; // a generated value may stand in two places
  const unknown = prune(object, schema, { root: true });
  const meta = coerceMetadata(object, schema);
  if (meta.error !== undefined)
    return { findings: [], unknown: [], object: undefined, refusal: `${meta.error.path}: ${meta.error.message}` };
  applyDefaults(object, schema);
  const metadata = object["metadata"] as Body;
  const findings = [
    ...(old === undefined ? metadataErrors(metadata, { namespaced: false }) : []),
    ...validate(object, schema, old === undefined ? {} : { old }),
  ].map(asFinding);
  const paths = [...unknown, ...meta.unknown].sort();
  return findings.length > 0
    ? { findings, unknown: paths, object: undefined, refusal: "" }
    : { findings, unknown: paths, object: withoutServerFields(object), refusal: undefined };
}

export function judgeSchema(schema: Schema): Finding[] {
  return structuralErrors(schema, "spec.validation.openAPIV3Schema").map(asFinding);
}

function asFinding({ path, reason, message }: FieldError): Finding {
  return { reason, field: path, message };
}
