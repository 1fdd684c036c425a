// The query parameters of a request, judged before anything is read: what contradicts itself is 422.

import type { FieldError } from "../api/schema/schema.ts";
import { invalid } from "./refusal.ts";
import type { ApiRequest, RequestOptions, Verb } from "./request.ts";

const optionsKind: Partial<Record<Verb, string>> = {
  list: "ListOptions",
  watch: "ListOptions",
  deletecollection: "ListOptions",
  create: "CreateOptions",
  update: "UpdateOptions",
  patch: "PatchOptions",
};

export function refuseOptions({ verb, options }: ApiRequest): void {
  const name = optionsKind[verb];
  if (name === undefined) return;
  const errors =
    name !== "ListOptions" ? writeErrors(options) : verb === "watch" ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", name }, "", errors);
}

function writeErrors({ fieldManager = "", fieldValidation }: RequestOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (fieldManager.length > 128) {
    errors.push({
      path: "fieldManager",
      reason: "FieldValueTooLong",
      message: "Too long: may not be more than 128 bytes",
    });
  }
  if (fieldValidation !== undefined && !["Ignore", "Strict", "Warn"].includes(fieldValidation)) {
    const message = `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`;
    errors.push({ path: "fieldValidation", reason: "FieldValueNotSupported", message });
  }
  return errors;
}

function listErrors(options: RequestOptions): FieldError[] {
  const { resourceVersionMatch: match = "", resourceVersion = "" } = options;
  const errors: FieldError[] = [];
  if (match !== "") {
    if (resourceVersion === "")
      errors.push(forbiddenMatch("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (options.continue) errors.push(forbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.push(unsupportedMatch(match, `"Exact", "NotOlderThan", ""`));
    if (match === "Exact" && resourceVersion === "0") {
      errors.push(forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    const message = "Forbidden: sendInitialEvents is forbidden for list";
    errors.push({ path: "sendInitialEvents", reason: "FieldValueForbidden", message });
  }
  return errors;
}

function watchErrors(options: RequestOptions): FieldError[] {
  const { resourceVersionMatch: match = "", sendInitialEvents } = options;
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(forbiddenMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (sendInitialEvents === undefined) {
      errors.push(forbiddenMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") errors.push(unsupportedMatch(match, `"NotOlderThan"`));
    if (options.continue) errors.push(forbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
  }
  return errors;
}

function forbiddenMatch(why: string): FieldError {
  return { path: "resourceVersionMatch", reason: "FieldValueForbidden", message: `Forbidden: ${why}` };
}

function unsupportedMatch(match: string, supported: string): FieldError {
  const message = `Unsupported value: ${JSON.stringify(match)}: supported values: ${supported}`;
  return { path: "resourceVersionMatch", reason: "FieldValueNotSupported", message };
}
