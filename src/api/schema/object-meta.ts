// Metadata of a resource: which fields it has, of which types, and what they may hold. The schema of a custom kind
// never says this; the server knows it, at the root and inside every embedded resource.

import type { FieldError, Schema } from "./schema.ts";

/**
 * Drops unknown fields of `metadata` (at the root and in embedded resources) and returns their paths; `error` is set
 * when a known field has the wrong type, which the server answers with 400.
 */
export function coerceMetadata(_value: unknown, _schema: Schema): { unknown: string[]; error?: FieldError } {
  return { unknown: [] };
}

/** `metadata` of the object itself: names, labels, annotations, finalizers, owners. */
export function metadataErrors(
  _metadata: Record<string, unknown>,
  _options: { namespaced: boolean; path: string; old?: Record<string, unknown> },
): FieldError[] {
  return [];
}
