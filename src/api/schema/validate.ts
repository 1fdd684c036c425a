// Judges one object against a structural schema in the API server's order and words: values, embedded metadata, list
// types, then CEL rules. On update, findings about unchanged values are tolerated as Kubernetes 1.36 does. The
// object's own apiVersion, kind and metadata are the caller's matter (object-meta.ts).

import { hasRules, ruleErrors } from "./cel.ts";
import { isFields, Pair } from "./correlate.ts";
import { invalid } from "./field-error.ts";
import { listTypeErrors } from "./list-type.ts";
import { embeddedErrors } from "./embedded.ts";
import type { FieldError, Schema } from "./schema.ts";
import { valueErrors } from "./values.ts";

export type ValidateOptions = {
  /** The stored object, on update: switches on ratcheting and transition rules. */
  old?: unknown;
  /** A write to the status subresource checks the values of `status` alone (CEL rules see the whole object). */
  subresource?: "status";
  /** What was found about the object's metadata: like any finding it may keep the rules from being checked. */
  metadata?: readonly FieldError[];
};

export function validate(value: unknown, schema: Schema, options: ValidateOptions = {}): FieldError[] {
  const { old } = options;
  const pair = old === undefined ? undefined : new Pair(value, old, schema);
  const status = options.subresource === "status";
  const findings = status ? statusErrors(value, schema, pair) : valueErrors(value, schema, pair);
  if (!status) findings.push(...embeddedErrors(value, schema));
  // A list that was already wrong does not keep anybody from writing the object.
  const lists = listTypeErrors(value, schema, old);
  if (lists.length > 0 && (old === undefined || listTypeErrors(old, schema).length === 0)) findings.push(...lists);
  if (!hasRules(schema)) return findings;
  if ([...(options.metadata ?? []), ...findings].some(({ reason }) => blocking.has(reason)))
    return [...findings, rulesNotChecked];
  return [...findings, ...ruleErrors(schema, { value, old, pair })];
}

const blocking: ReadonlySet<FieldError["reason"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const rulesNotChecked = invalid(
  "",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

function statusErrors(value: unknown, schema: Schema, pair: Pair | undefined): FieldError[] {
  const known = schema.properties?.["status"];
  if (!isFields(value) || !Object.hasOwn(value, "status") || known === undefined) return [];
  return valueErrors(value["status"], known, pair?.key("status"), "status");
}
