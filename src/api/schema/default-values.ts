// The defaults of a schema: each must fit the schema it stands on, as if a user had written it.

import { ruleErrors } from "./cel.ts";
import { isEqual } from "./correlate.ts";
import { embeddedErrors } from "./embedded.ts";
import { invalid } from "./field-error.ts";
import { coerceMetadata } from "./object-meta.ts";
import { prune } from "./prune.ts";
import type { FieldError, Schema } from "./schema.ts";
import { valueErrors } from "./values.ts";

/** Builds the smallest resource around a value that stands inside its metadata. */
type Surround = (value: unknown) => Record<string, unknown>;
type Place = { path: string; root: boolean; insideMeta: boolean; resource: Schema; surround: Surround };

export function defaultErrors(schema: Schema, path: string): FieldError[] {
  return errorsAt(schema, { path, root: true, insideMeta: false, resource: schema, surround: asResource });
}

const asResource: Surround = value => ({
  apiVersion: "validation/v1",
  kind: "Validation",
  ...(value as Record<string, unknown>),
});

function errorsAt(schema: Schema, outer: Place): FieldError[] {
  const isResource = outer.root || schema["x-kubernetes-embedded-resource"] === true;
  const place = isResource ? { ...outer, insideMeta: false, resource: schema, surround: asResource } : outer;
  const { path, surround, insideMeta } = place;
  const own = schema.default === undefined || schema.default === null ? [] : ownErrors(schema, place, isResource);
  // Defaults below additionalProperties are not followed: there is no key to try them under.
  const items =
    schema.items === undefined
      ? []
      : errorsAt(schema.items, { ...place, root: false, path: `${path}.items`, surround: value => surround([value]) });
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const isMeta = isResource && ["metadata", "apiVersion", "kind"].includes(key);
    return errorsAt(property, {
      ...place,
      root: false,
      path: `${path}.properties[${key}]`,
      insideMeta: insideMeta || isMeta,
      surround: value => surround({ [key]: value }),
    });
  });
  return [...own, ...items, ...fields];
}

function ownErrors(schema: Schema, place: Place, isResource: boolean): FieldError[] {
  const path = `${place.path}.default`;
  const value = structuredClone(schema.default);
  const meta = place.insideMeta ? metaErrors(schema, place, path) : resourceErrors(schema, value, path, isResource);
  if (meta.stop) return meta.findings;
  const values = valueErrors(value, schema, undefined, path);
  if (values.length > 0) return [...meta.findings, ...values];
  // Once as an unchanged value and once as a new one, for rules that look at oldSelf.
  const unchanged = ruleErrors(schema, { value, old: value, path }, isResource);
  const rules = unchanged.length > 0 ? unchanged : ruleErrors(schema, { value, path }, isResource);
  return [...meta.findings, ...rules];
}

type Outcome = { findings: FieldError[]; stop: boolean };

function metaErrors(schema: Schema, { resource, surround }: Place, path: string): Outcome {
  const object = surround(structuredClone(schema.default));
  const { error } = coerceMetadata(object, resource);
  const first = error ?? embeddedErrors(object, resource, "", true)[0];
  if (first === undefined) return { findings: [], stop: false };
  const complaint = `must result in valid metadata: ${first.path}: ${first.message}`;
  return { findings: [invalid(path, schema.default, complaint)], stop: true };
}

function resourceErrors(schema: Schema, value: unknown, path: string, isResource: boolean): Outcome {
  const embedded = isResource && schema["x-kubernetes-embedded-resource"] === true;
  const pruned = structuredClone(value);
  prune(pruned, schema, { root: embedded });
  const findings = isEqual(pruned, value) ? [] : [invalid(path, schema.default, "must not have unknown fields")];
  const metadata = embeddedErrors(value, schema, path, embedded);
  return { findings: [...findings, ...metadata], stop: metadata.length > 0 };
}
