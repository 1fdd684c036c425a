// Objects of a mirror by something they have in common: pods by node, pods by controller. Kept by what changes.

import type { KubeObject } from "../../api/meta.ts";
import type { Mirror } from "./mirror.ts";

export class Grouping<T extends KubeObject> {
  readonly #membersByGroup = new Map<string, Map<string, T>>();

  constructor(mirror: Mirror<T>, groupOf: (object: T) => string | undefined) {
    mirror.onChange(({ key, object, previous, isGone }) => {
      const before = previous && groupOf(previous);
      const after = isGone ? undefined : groupOf(object);
      if (before !== undefined && before !== after) this.#leave(before, key);
      if (after !== undefined) this.#join(after, key, object);
    });
  }

  /** In the order in which they came. */
  of(group: string): readonly T[] {
    return [...(this.#membersByGroup.get(group)?.values() ?? [])];
  }

  #join(group: string, key: string, object: T): void {
    const members = this.#membersByGroup.get(group) ?? new Map<string, T>();
    this.#membersByGroup.set(group, members.set(key, object));
  }

  #leave(group: string, key: string): void {
    const members = this.#membersByGroup.get(group);
    members?.delete(key);
    if (members?.size === 0) this.#membersByGroup.delete(group);
  }
}
