// Views by key, alone or in groups, always walked in the order of the keys: no answer depends on who came first.

/** With more of them, sorting takes less than putting each in its place. */
const touchedMax = 16;

export class Ordered<V> {
  readonly #byKey = new Map<string, V>();
  // Both are made when somebody asks, and mended where only a few keys have been touched since.
  #keys: string[] | undefined;
  #values: readonly V[] = [];
  #touched: string[] | undefined;
  #isFresh = true;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, value: V): void {
    this.#byKey.set(key, value);
    this.#touch(key);
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) this.#touch(key);
  }

  values(): readonly V[] {
    if (this.#isFresh) return this.#values;
    this.#isFresh = true;
    if (this.#byKey.size <= 1) {
      // Most groups are of one, the node of a claim: there is nothing to be put in order.
      this.#keys = undefined;
      this.#values = [...this.#byKey.values()];
    } else if (this.#keys === undefined) {
      this.#keys = [...this.#byKey.keys()].sort();
      this.#values = this.#keys.map(key => this.#byKey.get(key) as V);
    } else if (this.#touched !== undefined) {
      this.#values = this.#mended(this.#keys, this.#touched);
    }
    this.#touched = undefined;
    return this.#values;
  }

  #touch(key: string): void {
    this.#isFresh = false;
    if (this.#keys === undefined) return;
    this.#touched ??= [];
    this.#touched.push(key);
    if (this.#touched.length <= touchedMax) return;
    this.#keys = undefined;
    this.#values = [];
    this.#touched = undefined;
  }

  /** A new list: whoever holds the old one has it as it was. */
  #mended(keys: string[], touched: readonly string[]): readonly V[] {
    const values = this.#values.slice();
    for (const key of touched) {
      const at = placeOf(keys, key);
      const replaced = keys[at] === key ? 1 : 0;
      if (this.#byKey.has(key)) {
        keys.splice(at, replaced, key);
        values.splice(at, replaced, this.#byKey.get(key) as V);
      } else {
        keys.splice(at, replaced);
        values.splice(at, replaced);
      }
    }
    return values;
  }
}

/** Of the first that does not come before `key`. */
function placeOf(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    // middle < high <= length
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How a member's place changes: an undefined group holds nothing, an undefined value is no member. */
type Move<V> = { from: string | undefined; to: string | undefined; value: V | undefined };

export class Grouped<V> {
  readonly #groups = new Map<string, Ordered<V>>();

  move(key: string, { from, to, value }: Move<V>): void {
    const target = value === undefined ? undefined : to;
    if (from !== undefined && from !== target) this.#take(from, key);
    if (target === undefined || value === undefined) return;
    const group = this.#groups.get(target) ?? new Ordered<V>();
    this.#groups.set(target, group);
    group.set(key, value);
  }

  get(group: string, key: string): V | undefined {
    return this.#groups.get(group)?.get(key);
  }

  count(group: string | undefined): number {
    return group === undefined ? 0 : (this.#groups.get(group)?.size ?? 0);
  }

  of(group: string | undefined): readonly V[] {
    return (group === undefined ? undefined : this.#groups.get(group)?.values()) ?? [];
  }

  *all(): IterableIterator<V> {
    for (const group of this.#groups.values()) yield* group.values();
  }

  #take(group: string, key: string): void {
    const members = this.#groups.get(group);
    members?.delete(key);
    if (members?.size === 0) this.#groups.delete(group);
  }
}
