// Keys of a collection's objects by something that they bear: a label, the node of a pod. Kept with every change, so
// that whoever looks for a few does not go through all of them.

import type { Change } from "../history.ts";
import type { Collection } from "../store.ts";
import type { StoredObject } from "../stored.ts";

type ValueOf = (stored: StoredObject) => string | undefined;

export class ObjectIndex {
  readonly #valueOf: ValueOf;
  readonly #keysByValue = new Map<string, Set<string>>();

  constructor(collection: Collection, valueOf: ValueOf) {
    this.#valueOf = valueOf;
    for (const key of collection.keys.range("")) {
      const stored = collection.get(key);
      if (stored !== undefined) this.#add(key, valueOf(stored));
    }
  }

  /** In the order of a list. */
  keys(value: string): readonly string[] {
    return [...(this.#keysByValue.get(value) ?? [])].sort();
  }

  changed({ type, key, stored, previous }: Change): void {
    const before = previous && this.#valueOf(previous);
    const after = type === "DELETED" ? undefined : this.#valueOf(stored);
    if (before === after) return;
    this.#remove(key, before);
    this.#add(key, after);
  }

  #add(key: string, value: string | undefined): void {
    if (value === undefined) return;
    const keys = this.#keysByValue.get(value) ?? new Set();
    this.#keysByValue.set(value, keys.add(key));
  }

  #remove(key: string, value: string | undefined): void {
    if (value === undefined) return;
    const keys = this.#keysByValue.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByValue.delete(value);
  }
}
