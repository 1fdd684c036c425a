// Empties namespaces that are being deleted and lets them go when nothing is left in them.

import { ApiError } from "../api/status.ts";
import { type Backend, save } from "./backend.ts";
import { remove } from "./delete.ts";
import type { Change } from "./history.ts";
import { deepCopy } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { finalizersOf, isNamespace, namespaceObject } from "./namespaces.ts";
import { collectionOf } from "./served-kinds.ts";
import type { Collection } from "./store.ts";
import { WorkQueue } from "./work-queue.ts";

const ownFinalizer = "kubernetes";

export class NamespaceController {
  readonly #backend: Backend;
  readonly #queue: WorkQueue;
  readonly #terminating = new Set<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#queue = new WorkQueue(backend.clock, name => this.#sync(name));
  }

  start(): void {
    this.#backend.store.onChange((collection, change) => this.#onChange(collection, change));
  }

  #onChange({ name }: Collection, { type, key, stored }: Change): void {
    if (name === "namespaces") {
      if (type === "DELETED") this.#terminating.delete(key);
      else if (stored.object.metadata.deletionTimestamp !== undefined) {
        this.#terminating.add(key);
        this.#queue.add(key);
      }
    } else if (type === "DELETED" && this.#terminating.size > 0) {
      const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
      if (this.#terminating.has(namespace)) this.#queue.add(namespace);
    }
  }

  #sync(name: string): void {
    const namespace = namespaceObject(this.#backend, name);
    if (namespace?.metadata.deletionTimestamp === undefined || !finalizersOf(namespace).includes(ownFinalizer)) return;
    let left = 0;
    for (const kind of Array.from(this.#backend.kinds.stored()))
      if (kind.resource.namespaced) left += this.#empty(kind, name);
    if (left > 0) return;
    const kind = [...this.#backend.kinds.stored()].find(isNamespace);
    if (kind === undefined) return;
    const finalizers = finalizersOf(namespace).filter(finalizer => finalizer !== ownFinalizer);
    if (finalizers.length > 0 || (namespace.metadata.finalizers ?? []).length > 0) {
      const object = deepCopy(namespace);
      object.spec = finalizers.length > 0 ? { finalizers } : {};
      save(this.#backend, { kind, namespace: undefined, name }, object, false);
    } else {
      this.#backend.store.remove(collectionOf(this.#backend.store, kind), name);
    }
  }

  /** Deletes what is there; returns how many objects finalizers or grace still hold. */
  #empty(kind: ServedKind, namespace: string): number {
    const collection = collectionOf(this.#backend.store, kind);
    for (const key of Array.from(collection.keys.range(`${namespace}/`))) {
      try {
        remove(
          this.#backend,
          { kind, namespace, name: key.slice(namespace.length + 1) },
          { dryRun: false, propagation: "Background" },
        );
      } catch (error) {
        // What cannot be deleted now holds the namespace, as on a real cluster.
        if (!(error instanceof ApiError)) throw error;
      }
    }
    return collection.keys.countFrom(`${namespace}/`);
  }
}
