// How a command's end is told: errors become outcomes here, once. What may have happened all the same says so, and is
// tried again until the answer is definite.

import { ApiError } from "../api/status.ts";
import type { Outcome } from "../decide/decision.ts";
import type { ProviderError } from "../snapshot/instance.ts";

/** The command may not go on: its time is up, or its term as leader. It has sent nothing more. */
export class CutShort extends Error {
  override readonly name = "CutShort";
}

/** The object is not the one, or not in the state, that the command was decided for. */
export class Stale extends Error {
  override readonly name = "Stale";
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404;
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.reason !== "AlreadyExists";
}

/** Also said of a patch of which a test fails. */
export function isUnprocessable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 422;
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "AlreadyExists";
}

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof Stale) return { result: "stale" };
  if (error instanceof ApiError) return outcomeOfRefusal(error);
  // Reset or timed out: nobody knows.
  return {
    result: "retry",
    reason: "",
    message: error instanceof Error ? error.message : String(error),
    unknown: true,
  };
}

function outcomeOfRefusal(error: ApiError): Outcome {
  const { code, reason, message } = error;
  if (isNotFound(error)) return { result: "already-so" };
  if (isConflict(error) || isOtherUid(error)) return { result: "stale" };
  const retryAfterSeconds = error.status.details?.retryAfterSeconds;
  const afterMs = retryAfterSeconds === undefined ? {} : { afterMs: retryAfterSeconds * 1000 };
  if (code === 429) return { result: "retry", reason: reason || "TooManyRequests", message, ...afterMs };
  // A server that fails may have written first (etcd timed out, a gateway gave up).
  if (code >= 500) return { result: "retry", reason: reason || "InternalError", message, ...afterMs, unknown: true };
  return { result: "refused", reason: reason || `HTTP ${code}`, message };
}

/** A merge patch with another uid is not a conflict to the server, but a change of what never changes. */
function isOtherUid(error: ApiError): boolean {
  return error.status.details?.causes?.some(({ field }) => field === "metadata.uid") ?? false;
}

export function outcomeOfProvider({ error, message, retryAfterMs }: ProviderError): Outcome {
  const afterMs = retryAfterMs === undefined ? {} : { afterMs: retryAfterMs };
  switch (error) {
    case "Unknown":
      return { result: "retry", reason: error, message, ...afterMs, unknown: true };
    case "Throttled":
      return { result: "retry", reason: error, message, ...afterMs };
    case "InsufficientCapacity":
    case "QuotaExceeded":
    case "NodeClassNotReady":
    case "NotSupported":
    case "Invalid":
      return { result: "refused", reason: error, message };
  }
}
