// Views by key, alone or in groups, always walked in the order of the keys: no answer depends on who came first.

export class Ordered<V> {
  readonly #byKey = new Map<string, V>();
  // Both are made when somebody asks. Keys are sorted again only after one has come or gone.
  #keys: readonly string[] | undefined;
  #values: readonly V[] | undefined;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, value: V): void {
    const sizeBefore = this.#byKey.size;
    this.#byKey.set(key, value);
    this.#values = undefined;
    if (this.#byKey.size !== sizeBefore) this.#keys = undefined;
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#keys = undefined;
    this.#values = undefined;
  }

  values(): readonly V[] {
    this.#keys ??= [...this.#byKey.keys()].sort();
    this.#values ??= this.#keys.map(key => this.#byKey.get(key) as V);
    return this.#values;
  }
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
