// JSON values: copies and comparison. Written out because every write does both, and structuredClone is ten times slower.

export type JsonObject = { [field: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  // A spread copies the fields at once, one called `__proto__` among them; only what lies deeper is set by name. Where
  // fields are added to what began with a spread, V8 of Node 20 makes a hidden class for each such object, which is then
  // slow to read for everybody: a field comes first there.
  const copy: JsonObject = { ...(value as JsonObject) };
  for (const key in copy) {
    const part = copy[key];
    if (typeof part === "object" && part !== null) setField(copy, key, deepCopy(part));
  }
  return copy as T;
}

/** A key named `__proto__` in somebody's JSON is a field like any other. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b);
  if (Array.isArray(b)) return false;
  // No lists of keys: every write and every change compares, and mostly a few fields.
  let count = 0;
  for (const _ in b) count++;
  for (const key in a) {
    count--;
    const part = (a as JsonObject)[key];
    const other = (b as JsonObject)[key];
    // Most parts are shared, and what is there need not be asked for.
    if (part === other && part !== undefined) continue;
    if (!Object.hasOwn(b, key) || !deepEqual(part, other)) return false;
  }
  return count === 0;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
  return true;
}

/** Loud where somebody changes what others read. Stops at what is frozen already. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) {
    const part: unknown = value[key];
    if (typeof part === "object" && part !== null) deepFreeze(part);
  }
  return value;
}
