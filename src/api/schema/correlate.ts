// Pairs a value with its predecessor in the stored object, as ratcheting and transition rules need it: fields by name,
// items only of lists that are maps, by their keys. What cannot be paired counts as new.

import type { Schema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

export class Pair {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: Schema;
  readonly #children = new Map<string | number, Pair | undefined>();
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
      const predecessor = correlatedItem(value[i], old, this.#schema);
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
    if (!this.#children.has(key)) this.#children.set(key, make());
    return this.#children.get(key);
  }
}

/** The item of `old` with the same keys, for lists that are maps; undefined for all other lists. */
export function correlatedItem(item: unknown, old: readonly unknown[], schema: Schema): unknown {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0) return undefined;
  const wanted = compositeKey(item, keys);
  return wanted === undefined ? undefined : old.find(candidate => compositeKey(candidate, keys) === wanted);
}

function compositeKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isFields(item)) return undefined;
  const values = keys.map(key => item[key]);
  const scalar = values.every(value => ["string", "number", "boolean"].includes(typeof value));
  return scalar ? JSON.stringify(values) : undefined;
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
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}
