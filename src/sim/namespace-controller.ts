// Empties namespaces that are being deleted and lets them go when nothing is left in them.

import type { KubeObject } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import { type Backend, save } from "./backend.ts";
import { remove } from "./delete.ts";
import type { Change } from "./history.ts";
import { deepCopy, deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { type NamespaceCondition, namespaceConditions, type Remaining } from "./namespace-conditions.ts";
import { finalizersOf, isNamespace, namespaceObject } from "./namespaces.ts";
import { timestamp } from "./object-meta.ts";
import { collectionOf, groupResource } from "./served-kinds.ts";
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
    const kind = [...this.#backend.kinds.stored()].find(isNamespace);
    if (kind === undefined) return;
    const remaining = this.#emptied(name);
    const object = withConditions(namespace, remaining, timestamp(this.#backend.clock.now()));
    const isEmpty = remaining.countByResource.size === 0;
    const finalizers = finalizersOf(namespace).filter(finalizer => finalizer !== ownFinalizer);
    if (isEmpty && finalizers.length === 0 && (namespace.metadata.finalizers ?? []).length === 0) {
      this.#backend.store.remove(collectionOf(this.#backend.store, kind), name);
      return;
    }
    if (isEmpty) object.spec = finalizers.length > 0 ? { finalizers } : {};
    if (!deepEqual(object, namespace)) save(this.#backend, { kind, namespace: undefined, name }, object, false);
  }

  /** Deletes everything; what finalizers or grace still hold is counted. */
  #emptied(namespace: string): Remaining {
    const countByResource = new Map<string, number>();
    const countByFinalizer = new Map<string, number>();
    for (const kind of Array.from(this.#backend.kinds.stored())) {
      if (!kind.resource.namespaced) continue;
      const held = this.#empty(kind, namespace);
      if (held.length > 0) countByResource.set(groupResource(kind.resource), held.length);
      for (const finalizer of held.flatMap(({ metadata }) => metadata.finalizers ?? []))
        countByFinalizer.set(finalizer, (countByFinalizer.get(finalizer) ?? 0) + 1);
    }
    return { countByResource, countByFinalizer };
  }

  #empty(kind: ServedKind, namespace: string): KubeObject[] {
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
    return Array.from(collection.keys.range(`${namespace}/`), key => collection.get(key)?.object).filter(isHeld);
  }
}

const isHeld = (object: KubeObject | undefined): object is KubeObject => object !== undefined;

function withConditions(namespace: KubeObject, remaining: Remaining, now: string): KubeObject {
  const object = deepCopy(namespace);
  const status = (object.status ?? {}) as { conditions?: NamespaceCondition[] };
  object.status = { ...status, conditions: namespaceConditions(status.conditions ?? [], remaining, now) };
  return object;
}
