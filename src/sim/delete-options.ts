// How a deletion is wanted (the DeleteOptions of the body or of the query, checked) and what came of it.

import type { FieldError } from "../api/schema/schema.ts";
import { isObject, type JsonObject } from "./json-value.ts";
import { badRequest, invalid } from "./refusal.ts";
import type { ApiRequest } from "./request.ts";
import type { StoredObject } from "./stored.ts";

export type DeleteOptions = {
  dryRun: boolean;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  gracePeriodSeconds?: number | undefined;
  propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  /** The old spelling of propagation, which also changes the answer's code. */
  orphanDependents?: boolean | undefined;
};

export type Removed = {
  /** As marked, or the last state of what is gone. */
  stored: StoredObject;
  deleted: boolean;
  /** The answer is the object, not a Status. */
  asObject: boolean;
};

/** From the body if there is one, else from the query. */
export function deleteOptionsOf({ options, body }: Pick<ApiRequest, "options" | "body">): DeleteOptions {
  const given = bodyOptions(body);
  const asked: JsonObject = given ?? { ...options };
  const preconditions = isObject(asked.preconditions) ? asked.preconditions : {};
  const { propagationPolicy: policy, orphanDependents } = asked;
  refuseIf(policyErrors(policy, orphanDependents));
  return {
    // The query counts only where there is no body, here too.
    dryRun: given === undefined ? options.dryRun === true : isDryRun(given.dryRun),
    uid: optional(preconditions.uid, "string"),
    resourceVersion: optional(preconditions.resourceVersion, "string"),
    gracePeriodSeconds: optional(asked.gracePeriodSeconds, "number"),
    propagation: policy as DeleteOptions["propagation"],
    orphanDependents: optional(orphanDependents, "boolean"),
  };
}

function bodyOptions(body: unknown): JsonObject | undefined {
  if (body === undefined || body === null) return undefined;
  if (!isObject(body)) throw badRequest("the body of a delete request must be a DeleteOptions object");
  if (body.kind !== undefined && body.kind !== "DeleteOptions")
    throw badRequest("decoded object cannot be converted to DeleteOptions");
  return body;
}

function isDryRun(value: unknown): boolean {
  if (value === undefined || (Array.isArray(value) && value.every(item => item === "All")))
    return Array.isArray(value) && value.length > 0;
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`;
  throw invalid(deleteOptionsName, "", [{ path: "dryRun", reason: "FieldValueNotSupported", message }]);
}

const deleteOptionsName = { group: "meta.k8s.io", name: "DeleteOptions" };

function policyErrors(policy: unknown, orphanDependents: unknown): FieldError[] {
  const errors: FieldError[] = [];
  if (policy === undefined) return errors;
  const path = "propagationPolicy";
  if (orphanDependents !== undefined) {
    const message = `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`;
    errors.push({ path, reason: "FieldValueInvalid", message });
  }
  if (!["Foreground", "Background", "Orphan"].includes(String(policy))) {
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    errors.push({ path, reason: "FieldValueNotSupported", message });
  }
  return errors;
}

function refuseIf(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid(deleteOptionsName, "", errors);
}

function optional(value: unknown, type: "string"): string | undefined;
function optional(value: unknown, type: "number"): number | undefined;
function optional(value: unknown, type: "boolean"): boolean | undefined;
function optional(value: unknown, type: string): unknown {
  if (value === undefined || value === null || typeof value === type) return value ?? undefined;
  throw badRequest(`a delete option is ${JSON.stringify(value)}, but must be a ${type}`);
}
