// Patches: reading the patch document, applying it to the object as it is now, and reading the outcome as the kind.

import type { KubeObject } from "../api/meta.ts";
import { goText } from "../api/go-text.ts";
import { ApiError } from "../api/status.ts";
import { decodePatched } from "./decode.ts";
import { isObject, type JsonObject } from "./json-value.ts";
import { JsonPatchError, jsonPatch } from "./json-patch.ts";
import type { ServedKind } from "./kind.ts";
import { mergePatch } from "./merge-patch.ts";
import { badRequest, unprocessable, unsupportedPatchType } from "./refusal.ts";
import type { ApiRequest, RequestOptions } from "./request.ts";
import { strategicPatch } from "./strategic-patch.ts";

export type Patched = { object: KubeObject; warnings: string[] };

const operationMax = 10_000;
const operationMembers = new Set(["op", "path", "from", "value"]);
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

/** `kind` is that of the object: for a subresource with a body of its own, of that body. */
export function patched(kind: ServedKind, existing: KubeObject, request: ApiRequest): Patched {
  const { patchType, body, options } = request;
  switch (patchType) {
    case "json":
      return readAs(kind, jsonPatched(existing, body), { existing, options, unknown: unknownMembers(body) });
    case "merge":
      return readAs(kind, mergePatch(existing, mergeBody(body)), { existing, options });
    case "strategic":
      if (!kind.strategic) throw unsupportedPatchType(patchTypes);
      return readAs(kind, strategicPatched(kind, existing, body), {
        existing,
        options,
        shown: body,
        isStrategic: true,
      });
    default:
      throw unsupportedPatchType(patchTypes);
  }
}

type Reading = {
  existing: KubeObject;
  options: RequestOptions;
  unknown?: readonly string[];
  shown?: unknown;
  isStrategic?: boolean;
};

function readAs(kind: ServedKind, value: unknown, reading: Reading): Patched {
  const { existing, options, unknown = [], shown, isStrategic = false } = reading;
  // A strategic patch is quoted itself, as Go prints it; of the others the outcome is.
  const shownAs = () => (isStrategic ? goText(shown) : (JSON.stringify(value) ?? ""));
  return decodePatched(kind, value, { validation: options.fieldValidation, existing, unknown, isStrategic, shownAs });
}

function jsonPatched(existing: KubeObject, body: unknown): unknown {
  if (!Array.isArray(body)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${typeName(body)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (body.length > operationMax) throw tooManyOperations(body.length);
  try {
    return jsonPatch(existing, body);
  } catch (error) {
    throw error instanceof JsonPatchError ? unprocessable() : error;
  }
}

function tooManyOperations(count: number): ApiError {
  const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${operationMax}, got ${count}`;
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "RequestEntityTooLarge",
    code: 413,
  });
}

function unknownMembers(body: unknown): string[] {
  if (!Array.isArray(body)) return [];
  return body.flatMap((operation, index) =>
    Object.keys(isObject(operation) ? operation : {})
      .filter(member => !operationMembers.has(member))
      .map(member => `json patch unknown field "[${index}].${member}"`),
  );
}

function mergeBody(body: unknown): JsonObject {
  if (isObject(body)) return body;
  if (body === null) throw badRequest("Invalid JSON Patch");
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${typeName(body)} into Go value of type map[string]interface {}`,
  );
}

function strategicPatched(kind: ServedKind, existing: KubeObject, body: unknown): JsonObject {
  if (!isObject(body)) {
    throw badRequest(`json: cannot unmarshal ${typeName(body)} into Go value of type map[string]interface {}`);
  }
  return strategicPatch(existing, body, kind.schema);
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
