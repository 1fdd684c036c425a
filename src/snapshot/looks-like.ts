// Whether two states of an object are one to every rule.

import { isEqual } from "../api/schema/correlate.ts";

/** Equal in all but the version. */
export function looksLike<V extends object>(a: V, b: V): boolean {
  const keys = Object.keys(a).filter(isSeen);
  if (keys.length !== Object.keys(b).filter(isSeen).length) return false;
  for (const key of keys) if (!Object.hasOwn(b, key) || !isEqual(a[key as keyof V], b[key as keyof V])) return false;
  return true;
}

const isSeen = (key: string) => key !== "resourceVersion";
