// The projected objects of one kind, kept by name and told apart by uid. Takes lists and events as they come, twice or
// late, changes itself first and then calls the handlers, all in the caller's tick. Never asks for anything.

import type { KubeObject } from "../api/meta.ts";
import { isOlder } from "../api/resource-version.ts";
import type { ObjectKey } from "../control/ports.ts";

export type CacheHandlers<T> = {
  added(value: T): void;
  updated(value: T, previous: T): void;
  /** The last state known: the one it was deleted with, if the deletion itself was seen. */
  deleted(value: T): void;
};

/**
 * What is kept of an object. `previous` is what was kept so far of the same one (same uid): returning it says that
 * nothing of interest has changed, and no handler is called.
 */
export type Project<T> = (raw: KubeObject, previous: T | undefined) => T;

type Entry<T> = { uid: string; resourceVersion: string; value: T; listing: number };

export class WatchCache<T> {
  readonly #project: Project<T>;
  readonly #handlers: CacheHandlers<T>;
  readonly #entryByKey = new Map<string, Entry<T>>();
  // A uid never comes back: an event for one of these is a repetition. Forgotten at the next bookmark, before which the
  // server has sent everything older.
  readonly #deletedUids = new Set<string>();
  #listing = 0;

  constructor(project: Project<T>, handlers: CacheHandlers<T>) {
    this.#project = project;
    this.#handlers = handlers;
  }

  get size(): number {
    return this.#entryByKey.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#entryByKey.get(keyOf(key))?.value;
  }

  *values(): IterableIterator<T> {
    for (const entry of this.#entryByKey.values()) yield entry.value;
  }

  /** From here to `endListing` the items of a new list come in; what is in the cache stays until the list is whole. */
  beginListing(): void {
    this.#listing++;
    this.#deletedUids.clear();
  }

  /** True if the cache did not hold this very version. */
  listed(raw: KubeObject): boolean {
    const entry = this.#entryByKey.get(keyOf(raw.metadata));
    // A second look at an object within one list is a live event between the listed ones.
    const again = entry?.listing === this.#listing;
    return this.#put(raw, again ? "event" : "list");
  }

  /** What the list did not have is gone. Returns how many that were. */
  endListing(): number {
    let goneCount = 0;
    for (const [key, entry] of this.#entryByKey) {
      if (entry.listing === this.#listing) continue;
      this.#entryByKey.delete(key);
      goneCount++;
      this.#handlers.deleted(entry.value);
    }
    return goneCount;
  }

  changed(raw: KubeObject): void {
    this.#put(raw, "event");
  }

  removed(raw: KubeObject): void {
    const key = keyOf(raw.metadata);
    const entry = this.#entryByKey.get(key);
    this.#deletedUids.add(raw.metadata.uid);
    // Of another uid: the deletion of an earlier object of this name comes late.
    if (entry === undefined || entry.uid !== raw.metadata.uid) return;
    this.#entryByKey.delete(key);
    this.#handlers.deleted(this.#project(raw, entry.value));
  }

  /** The server has sent all that is older than this point. */
  bookmarked(): void {
    this.#deletedUids.clear();
  }

  #put(raw: KubeObject, from: "list" | "event"): boolean {
    const { uid, resourceVersion } = raw.metadata;
    const key = keyOf(raw.metadata);
    const entry = this.#entryByKey.get(key);
    if (this.#deletedUids.has(uid)) return false;
    // A list is the server's present, even where versions went backwards (etcd restored from a backup).
    if (from === "event" && entry !== undefined && isOlder(resourceVersion, entry.resourceVersion)) return false;
    if (entry?.uid === uid) return this.#update(entry, raw);

    // Deleted and created again under one name: two objects, whatever the event was called.
    const value = this.#project(raw, undefined);
    this.#entryByKey.set(key, { uid, resourceVersion, value, listing: this.#listing });
    if (entry !== undefined) this.#handlers.deleted(entry.value);
    this.#handlers.added(value);
    return true;
  }

  #update(entry: Entry<T>, raw: KubeObject): boolean {
    entry.listing = this.#listing;
    if (entry.resourceVersion === raw.metadata.resourceVersion) return false;
    const previous = entry.value;
    const value = this.#project(raw, previous);
    entry.value = value;
    entry.resourceVersion = raw.metadata.resourceVersion;
    if (value !== previous) this.#handlers.updated(value, previous);
    return true;
  }
}

function keyOf({ name, namespace }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
