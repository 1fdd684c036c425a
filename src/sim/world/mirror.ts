// One kind's objects as last seen: by a watch, or in the answer to a write of our own, so that a controller reads what
// it wrote. Listeners hear of every change once, in order. Decides nothing.

import type { KubeObject, Manifest, Resource } from "../../api/meta.ts";
import { ApiError, type Status } from "../../api/status.ts";
import type {
  Clock,
  DeleteOptions,
  KubeApi,
  ObjectKey,
  PatchBody,
  WatchEvent,
  WriteOptions,
} from "../../control/ports.ts";
import { keyOf } from "./objects.ts";

const initialEventsEnd = "k8s.io/initial-events-end";
const retryMs = 1000;

/** `previous` is undefined for a new object; of one that is gone, `object` is its last state. */
export type Change<T> = { key: string; object: T; previous: T | undefined; isGone: boolean };
export type Listener<T> = (change: Change<T>) => void;

export type MirrorOptions = {
  api: KubeApi;
  clock: Clock;
  resource: Resource;
  /** Absent: all namespaces. */
  namespace?: string;
};

export class Mirror<T extends KubeObject> {
  readonly synced: Promise<void>;
  readonly #api: KubeApi;
  readonly #clock: Clock;
  readonly #resource: Resource;
  readonly #namespace: { namespace?: string };
  readonly #objectByKey = new Map<string, T>();
  readonly #listeners: Listener<T>[] = [];
  // A uid never comes back: neither an event that is late nor the answer to a write may bring it. Kept for one bookmark
  // more, since answers and events come by different roads.
  #goneUids = new Set<string>();
  #goneBefore = new Set<string>();
  #listed: Set<string> | undefined;
  #resourceVersion: string | undefined;
  #watch: { close(): void } | undefined;
  #isStopped = false;
  #markSynced = () => {};

  constructor({ api, clock, resource, namespace }: MirrorOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#resource = resource;
    this.#namespace = namespace === undefined ? {} : { namespace };
    this.synced = new Promise(resolve => (this.#markSynced = resolve));
    this.#open();
  }

  get(key: string): T | undefined {
    return this.#objectByKey.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objectByKey.values();
  }

  get size(): number {
    return this.#objectByKey.size;
  }

  onChange(listener: Listener<T>): void {
    this.#listeners.push(listener);
  }

  stop(): void {
    this.#isStopped = true;
    this.#watch?.close();
  }

  /** An object that was read beside the watch. */
  saw(object: T): void {
    this.#put(object);
  }

  async create(manifest: Manifest, options: WriteOptions = {}): Promise<T> {
    const { namespace } = manifest.metadata;
    const key = namespace === undefined ? {} : { namespace };
    return this.#written(await this.#api.create<T>(this.#resource, key, manifest, options));
  }

  async patch(object: T, patch: PatchBody, options: WriteOptions = {}): Promise<T> {
    return this.#written(await this.#api.patch<T>(this.#resource, pathOf(object), patch, options));
  }

  /** Refused if the object is no longer the one that was read. */
  async updateStatus(object: T, status: T["status"]): Promise<T> {
    const next = { ...object, status };
    return this.#written(await this.#api.update<T>(this.#resource, pathOf(object), next, { subresource: "status" }));
  }

  /** Only this very object; gone already is as good. */
  async delete(object: T, options: DeleteOptions = {}): Promise<void> {
    const { uid } = object.metadata;
    try {
      const answer = await this.#api.delete(this.#resource, pathOf(object), { preconditions: { uid }, ...options });
      if (isHeld(answer)) this.#written(answer as T);
      else this.#gone(object);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#gone(object);
    }
  }

  #written(object: T): T {
    this.saw(object);
    return object;
  }

  #gone(object: T): void {
    this.#goneUids.add(object.metadata.uid);
    const key = keyOf(object);
    if (this.#objectByKey.get(key)?.metadata.uid === object.metadata.uid) this.#remove(key, object);
  }

  #open(): void {
    if (this.#isStopped) return;
    const from =
      this.#resourceVersion === undefined
        ? ({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const)
        : { resourceVersion: this.#resourceVersion };
    if (this.#resourceVersion === undefined) this.#listed = new Set();
    this.#watch = this.#api.watch<T>(
      this.#resource,
      { ...from, ...this.#namespace, allowWatchBookmarks: true },
      {
        event: event => this.#event(event),
        end: error => this.#ended(error),
      },
    );
  }

  #ended(error: Error | undefined): void {
    if (this.#isStopped) return;
    if (this.#listed !== undefined || (error instanceof ApiError && error.code === 410))
      this.#resourceVersion = undefined;
    this.#clock.after(error === undefined ? 0 : retryMs, () => this.#open());
  }

  #event(event: WatchEvent<T>): void {
    if (event.type === "ERROR") throw new ApiError(event.object);
    if (event.type === "BOOKMARK") {
      this.#goneBefore = this.#goneUids;
      this.#goneUids = new Set();
      if (event.object.metadata.annotations?.[initialEventsEnd] === "true") this.#listEnded();
    } else if (event.type === "DELETED") {
      this.#gone(event.object);
    } else {
      this.#listed?.add(keyOf(event.object));
      this.#put(event.object);
    }
    this.#resourceVersion = event.object.metadata.resourceVersion;
  }

  #listEnded(): void {
    const listed = this.#listed ?? new Set();
    this.#listed = undefined;
    for (const key of this.#objectByKey.keys()) if (!listed.has(key)) this.#remove(key);
    this.#markSynced();
  }

  #put(object: T): void {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    if (this.#goneUids.has(uid) || this.#goneBefore.has(uid)) return;
    const previous = this.#objectByKey.get(key);
    if (previous?.metadata.uid === uid && !isOlder(previous.metadata.resourceVersion, resourceVersion)) return;
    if (previous !== undefined && previous.metadata.uid !== uid) this.#remove(key);
    this.#objectByKey.set(key, object);
    this.#tell({ key, object, previous: previous?.metadata.uid === uid ? previous : undefined, isGone: false });
  }

  #remove(key: string, last?: T): void {
    const previous = this.#objectByKey.get(key);
    if (previous === undefined) return;
    this.#objectByKey.delete(key);
    this.#tell({ key, object: last ?? previous, previous, isGone: true });
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** A delete is answered with the object, held by grace or finalizers or not, or with a Status. */
function isHeld(answer: KubeObject | Status): boolean {
  if (answer.kind === "Status") return false;
  const { deletionGracePeriodSeconds = 0, finalizers = [] } = (answer as KubeObject).metadata;
  return deletionGracePeriodSeconds > 0 || finalizers.length > 0;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404;
}

function pathOf({ metadata }: KubeObject): ObjectKey {
  const { name, namespace } = metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/** Versions are counted by the server; since 1.35 clients may compare them. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
