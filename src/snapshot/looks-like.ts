// Whether two states of an object are one to every rule.

import { isEqual } from "../api/schema/correlate.ts";

/** Equal in all but the version. */
export function looksLike<V extends object>(a: V, b: V): boolean {
  // Loops, since it is asked of every object that comes.
  let count = 0;
  for (const key in b) if (key !== "resourceVersion") count++;
  for (const key in a) {
    if (key === "resourceVersion") continue;
    if (!Object.hasOwn(b, key) || !isEqual(a[key], b[key])) return false;
    count--;
  }
  return count === 0;
}
