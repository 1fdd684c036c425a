// Which objects of a collection have which value in one of their fields: a node's pods are found without a look at all
// others.

import type { KubeObject } from "../api/meta.ts";
import { isObject } from "./json-value.ts";
import type { StoredObject } from "./stored.ts";

const none: ReadonlySet<string> = new Set();

export class FieldIndex {
  readonly #part: string;
  readonly #field: string;
  readonly #keysByValue = new Map<string, Set<string>>();

  /** `path` is a field of a field: "spec.nodeName". */
  constructor(path: string) {
    const [part = "", field = ""] = path.split(".");
    this.#part = part;
    this.#field = field;
  }

  /** A part that was handed on from the version before is not looked into: it may be unread. */
  valueOf(object: KubeObject, previous: StoredObject | undefined): string {
    const part = object[this.#part];
    if (previous?.indexed !== undefined && part === previous.object[this.#part]) return previous.indexed;
    const value = isObject(part) ? part[this.#field] : undefined;
    return typeof value === "string" ? value : "";
  }

  keys(value: string): ReadonlySet<string> {
    return this.#keysByValue.get(value) ?? none;
  }

  move(key: string, from: string | undefined, to: string | undefined): void {
    if (from === to) return;
    if (from !== undefined) this.#remove(key, from);
    if (to === undefined) return;
    const keys = this.#keysByValue.get(to);
    if (keys === undefined) this.#keysByValue.set(to, new Set([key]));
    else keys.add(key);
  }

  #remove(key: string, value: string): void {
    const keys = this.#keysByValue.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByValue.delete(value);
  }
}
