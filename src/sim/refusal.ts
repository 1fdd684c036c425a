// Every "no" of the API server: the status codes, reasons and sentences of Kubernetes 1.36, in one place.

import type { FieldError } from "../api/schema/schema.ts";
import { ApiError, type Status, type StatusCause } from "../api/status.ts";

/** A group and a resource (`nodepools`) or kind (`NodePool`), whichever the sentence names. */
export type Qualified = { group: string; name: string };

/** "nodepools.karpenter.sh"; the core group has no suffix. */
export function qualified({ group, name }: Qualified): string {
  return group === "" ? name : `${name}.${group}`;
}

type Refusal = { code: number; reason: string; message: string; details?: NonNullable<Status["details"]> };

function refusal({ code, reason, message, details }: Refusal): ApiError {
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason };
  if (details !== undefined) status.details = details;
  status.code = code;
  return new ApiError(status);
}

/** Empty strings are left out, as the server's JSON leaves them out. */
function about(what: Qualified, name: string, more: Partial<NonNullable<Status["details"]>> = {}) {
  return {
    ...(name && { name }),
    ...(what.group && { group: what.group }),
    ...(what.name && { kind: what.name }),
    ...more,
  };
}

export function notFound(what: Qualified, name: string): ApiError {
  const message = `${qualified(what)} "${name}" not found`;
  return refusal({ code: 404, reason: "NotFound", message, details: about(what, name) });
}

/** The path itself is unknown: no such group, version, resource or subresource. */
export function noSuchResource(): ApiError {
  const message = "the server could not find the requested resource";
  return refusal({ code: 404, reason: "NotFound", message, details: {} });
}

export function alreadyExists(what: Qualified, name: string, { deleting = false } = {}): ApiError {
  const prefix = deleting ? "object is being deleted: " : "";
  const message = `${prefix}${qualified(what)} "${name}" already exists`;
  return refusal({ code: 409, reason: "AlreadyExists", message, details: about(what, name) });
}

export function generatedNameTaken(what: Qualified, name: string): ApiError {
  const message = `${qualified(what)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return refusal({ code: 409, reason: "AlreadyExists", message, details: about(what, name, { retryAfterSeconds: 1 }) });
}

export function conflict(what: Qualified, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(what)} "${name}": ${why}`;
  return refusal({ code: 409, reason: "Conflict", message, details: about(what, name) });
}

export const staleVersion =
  "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(what: Qualified, name: string, why: string, causes?: StatusCause[]): ApiError {
  const subject = name === "" ? qualified(what) : `${qualified(what)} "${name}"`;
  const details = about(what, name, causes && { causes });
  return refusal({ code: 403, reason: "Forbidden", message: `${subject} is forbidden: ${why}`, details });
}

export function badRequest(message: string): ApiError {
  return refusal({ code: 400, reason: "BadRequest", message });
}

export function invalid(what: Qualified, name: string, errors: readonly FieldError[]): ApiError {
  const sentences = [...new Set(errors.map(sentence))];
  const why = sentences.length > 1 ? `[${sentences.join(", ")}]` : (sentences[0] ?? "");
  const message = `${qualified(what)} "${name}" is invalid${why && `: ${why}`}`;
  const causes = errors.map(({ reason, message, path }) => ({ reason, message, field: fieldName(path) }));
  return refusal({ code: 422, reason: "Invalid", message, details: about(what, name, { causes }) });
}

function sentence({ path, message }: FieldError): string {
  return `${fieldName(path)}: ${message}`;
}

/** How Go prints the path of the object as a whole. */
function fieldName(path: string): string {
  return path === "" ? "<nil>" : path;
}

/** What a JSON patch that does not apply gets: the server keeps the reason to itself. */
export function unprocessable(): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return refusal({ code: 422, reason: "Invalid", message, details: {} });
}

/** The routes of this path know other verbs only. */
export function verbNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return refusal({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

export function unsupportedPatchType(supported: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${supported.join(", ")}`;
  return refusal({ code: 415, reason: "UnsupportedMediaType", message });
}

export function expired(message: string, continueToken?: string): ApiError {
  const error = refusal({ code: 410, reason: "Expired", message });
  if (continueToken !== undefined) error.status.metadata = { continue: continueToken };
  return error;
}

export function tooLargeVersion(asked: number, current: number): ApiError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return refusal({ code: 504, reason: "Timeout", message, details: { causes, retryAfterSeconds: 1 } });
}

export function tooManyRequests(message: string, details: NonNullable<Status["details"]>): ApiError {
  return refusal({ code: 429, reason: "TooManyRequests", message, details });
}

/** An error that the server does not classify: 500 and the bare sentence. */
export function failure(message: string): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
}

export function internalError(why: string): ApiError {
  const message = `Internal error occurred: ${why}`;
  return refusal({ code: 500, reason: "InternalError", message, details: { causes: [{ message: why }] } });
}
