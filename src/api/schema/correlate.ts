// Pairs a value with its predecessor in the stored object, as ratcheting and transition rules need it: fields by name,
// items only of lists that are maps, by their keys. What cannot be paired counts as new.

import type { Schema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

export class Pair {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: Schema;
  #children: Map<string | number, Pair | undefined> | undefined;
  #predecessorOf: ((item: unknown) => unknown) | undefined;
  #unchanged: boolean | undefined;

  constructor(value: unknown, old: unknown, schema: Schema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  key(name: string): Pair | undefined {
    if (!isFields(this.value) || !isFields(this.old)) return undefined;
    if (!Object.hasOwn(this.value, name) || !Object.hasOwn(this.old, name)) return undefined;
    const schema = fieldSchema(this.#schema, name);
    if (schema === undefined) return undefined;
    const { value, old } = this as { value: Fields; old: Fields };
    return this.#child(name, () => new Pair(value[name], old[name], schema));
  }

  index(i: number): Pair | undefined {
    const { value, old } = this;
    const items = this.#schema.items;
    if (!Array.isArray(value) || !Array.isArray(old) || items === undefined) return undefined;
    return this.#child(i, () => {
      this.#predecessorOf ??= predecessors(old, this.#schema);
      const predecessor = this.#predecessorOf(value[i]);
      return predecessor === undefined ? undefined : new Pair(value[i], predecessor, items);
    });
  }

  /** Whether old and new are equal; items of a list that is a map may have changed places. */
  unchanged(): boolean {
    this.#unchanged ??= this.#compare();
    return this.#unchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.#schema["x-kubernetes-list-type"] !== "map" || value.length === 0) return isEqual(value, old);
      return value.every((_, i) => this.index(i)?.unchanged() === true);
    }
    if (!isFields(value) || !isFields(old)) return isEqual(value, old);
    const keys = Object.keys(value);
    // A field that the schema does not know cannot be paired, so its parent never counts as unchanged.
    return keys.length === Object.keys(old).length && keys.every(key => this.key(key)?.unchanged() === true);
  }

  #child(key: string | number, make: () => Pair | undefined): Pair | undefined {
    const children = (this.#children ??= new Map());
    let child = children.get(key);
    if (child === undefined && !children.has(key)) {
      child = make();
      children.set(key, child);
    }
    return child;
  }
}

/** Finds the item of `old` with the same keys, for lists that are maps; nothing for all other lists. */
export function predecessors(old: readonly unknown[], schema: Schema): (item: unknown) => unknown {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0) return () => undefined;
  const byKey = new Map<unknown, unknown>();
  for (const candidate of old) {
    const key = compositeKey(candidate, keys);
    // Of those that are alike the first.
    if (key !== undefined && !byKey.has(key)) byKey.set(key, candidate);
  }
  return item => {
    const key = compositeKey(item, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

const scalars: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** The value itself where there is one key. */
function compositeKey(item: unknown, keys: readonly string[]): unknown {
  if (!isFields(item)) return undefined;
  const [first = ""] = keys;
  if (keys.length === 1) return scalars.has(typeof item[first]) ? item[first] : undefined;
  const values = keys.map(key => item[key]);
  return values.every(value => scalars.has(typeof value)) ? JSON.stringify(values) : undefined;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return isSameList(a, b);
  if (!isFields(a) || !isFields(b)) return false;
  // Loops without lists of keys: it is asked of most of what changes, and mostly for a few fields.
  let count = 0;
  for (const _ in b) count++;
  for (const key in a) {
    count--;
    const part = a[key];
    if (part !== undefined && part === b[key]) continue;
    if (!Object.hasOwn(b, key) || !isEqual(part, b[key])) return false;
  }
  return count === 0;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!isEqual(a[i], b[i])) return false;
  return true;
}
