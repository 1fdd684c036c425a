// The objects of the cluster, their one global revision and the changes that led here. It knows keys and versions,
// nothing of kinds, validity or deletion rules.

import type { KubeObject } from "../api/meta.ts";
import { FieldIndex } from "./field-index.ts";
import { type Change, History, type HistoryBounds } from "./history.ts";
import { OrderedKeys } from "./ordered-keys.ts";
import { RecentlyUsed, StoredObject } from "./stored.ts";

export type StoreOptions = { history?: Partial<HistoryBounds>; parsedObjectCountMax?: number };

const defaultBounds: HistoryBounds = { changeCountMax: 16_384, bytesMax: 64 * 1024 * 1024 };

/** "default/web-1", or "node-1" for a cluster-scoped object: etcd's order is the order of these. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export type Watcher = { change(change: Change): void; end(): void };

export class Collection {
  readonly name: string;
  readonly keys = new OrderedKeys();
  readonly history: History;
  readonly watchers = new Set<Watcher>();
  readonly #byKey = new Map<string, StoredObject>();
  #index: FieldIndex | undefined;

  constructor(name: string, history: History) {
    this.name = name;
    this.history = history;
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key);
  }

  /** Before there is anything in it. */
  indexBy(path: string): void {
    this.#index = new FieldIndex(path);
  }

  /** By what an object is to be found in the index, if there is one. */
  indexedValue(object: KubeObject, previous: StoredObject | undefined): string | undefined {
    return this.#index?.valueOf(object, previous);
  }

  /** In order, from `from` on: those with the prefix, or of them those that the index knows by that value. */
  selected({ prefix, indexed }: { prefix: string; indexed?: string | undefined }, from = prefix): Iterable<string> {
    if (indexed === undefined || this.#index === undefined) return this.keys.range(prefix, from);
    return [...this.#index.keys(indexed)].filter(key => key >= from && key.startsWith(prefix)).sort();
  }

  *all(): Generator<StoredObject> {
    for (const key of this.keys.range("")) yield this.#byKey.get(key) as StoredObject; // both hold the same keys
  }

  set(key: string, stored: StoredObject, previous: StoredObject | undefined): void {
    if (previous === undefined) this.keys.add(key);
    this.#index?.move(key, previous?.indexed, stored.indexed);
    this.#byKey.set(key, stored);
  }

  /** The kind is no longer served. */
  endWatches(): void {
    for (const watcher of Array.from(this.watchers)) watcher.end();
  }

  delete(key: string): void {
    this.keys.remove(key);
    this.#index?.move(key, this.#byKey.get(key)?.indexed, undefined);
    this.#byKey.delete(key);
  }
}

export class Store {
  /** Like etcd, the first write is revision 2: a resourceVersion of 0 or 1 is never an object's. */
  #revision = 1;
  #compactedAt = 0;
  readonly #collectionByName = new Map<string, Collection>();
  readonly #listeners: ((collection: Collection, change: Change) => void)[] = [];
  readonly #bounds: HistoryBounds;
  readonly #recent: RecentlyUsed;

  constructor({ history, parsedObjectCountMax = 4096 }: StoreOptions = {}) {
    this.#bounds = { ...defaultBounds, ...history };
    this.#recent = new RecentlyUsed(parsedObjectCountMax);
  }

  get revision(): number {
    return this.#revision;
  }

  collection(name: string): Collection {
    let collection = this.#collectionByName.get(name);
    if (collection === undefined) {
      collection = new Collection(name, new History(this.#compactedAt, this.#bounds));
      this.#collectionByName.set(name, collection);
    }
    return collection;
  }

  collections(): Iterable<Collection> {
    return this.#collectionByName.values();
  }

  /** Called after each change, before the watchers of its collection. */
  onChange(listener: (collection: Collection, change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** Takes the object over: it must not be changed afterwards. */
  put(collection: Collection, key: string, object: KubeObject): StoredObject {
    const revision = ++this.#revision;
    const previous = collection.get(key);
    object.metadata.resourceVersion = String(revision);
    const indexed = collection.indexedValue(object, previous);
    const stored = new StoredObject(object, this.#recent, { isInUse: previous?.isInUse === true, indexed });
    collection.set(key, stored, previous);
    previous?.supersede();
    this.#record(collection, { type: previous ? "MODIFIED" : "ADDED", revision, key, stored, previous });
    return stored;
  }

  remove(collection: Collection, key: string): StoredObject | undefined {
    const previous = collection.get(key);
    if (previous === undefined) return undefined;
    const revision = ++this.#revision;
    const { object } = previous;
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const stored = new StoredObject(last, this.#recent);
    collection.delete(key);
    previous.supersede();
    stored.supersede();
    this.#record(collection, { type: "DELETED", revision, key, stored, previous });
    return stored;
  }

  /** An object that is answered but not kept: dry runs, subresources, bookmarks. */
  unstored(object: KubeObject): StoredObject {
    return new StoredObject(object, this.#recent);
  }

  /** Forgets the history up to now: watches and lists at older versions are expired. */
  compact(): void {
    this.#compactedAt = this.#revision;
    for (const collection of this.#collectionByName.values()) collection.history.compact(this.#revision);
  }

  #record(collection: Collection, change: Change): void {
    collection.history.add(change);
    for (const listener of this.#listeners) listener(collection, change);
    for (const watcher of collection.watchers) watcher.change(change);
  }
}
