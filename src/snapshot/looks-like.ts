// Whether two states of an object are one to every rule.

import { isEqual } from "../api/schema/correlate.ts";

/** Equal in all but the version. */
export function looksLike<V extends object>(a: V, b: V): boolean {
  return isEqual({ ...a, resourceVersion: "" }, { ...b, resourceVersion: "" });
}
