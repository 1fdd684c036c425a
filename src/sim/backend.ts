// What every verb of the embedded API server works on.

import type { KubeObject } from "../api/meta.ts";
import type { Clock } from "../control/ports.ts";
import type { Cluster, ServedKind } from "./kind.ts";
import type { Random } from "./random.ts";
import { notFound } from "./refusal.ts";
import { collectionOf, presented, resourceName, type ServedKinds, toStored } from "./served-kinds.ts";
import type { Siblings } from "./siblings.ts";
import { keyOf, type Store } from "./store.ts";
import type { StoredObject, Texts } from "./stored.ts";

export type Backend = { store: Store; kinds: ServedKinds; clock: Clock; random: Random; siblings: Siblings };

/** One object that a request names. */
export type Target = { kind: ServedKind; namespace: string | undefined; name: string };

export function find({ store }: Backend, { kind, namespace, name }: Target): StoredObject | undefined {
  const stored = collectionOf(store, kind).get(keyOf(namespace, name));
  return stored && presented(kind, stored);
}

export function get(backend: Backend, target: Target): StoredObject {
  const stored = find(backend, target);
  if (stored === undefined) throw notFound(resourceName(target.kind), target.name);
  return stored;
}

/** Writes without judging; takes the object over. */
export function save(backend: Backend, target: Target, object: KubeObject, dryRun: boolean): StoredObject {
  const { store } = backend;
  const { kind, namespace, name } = target;
  if (dryRun) return store.unstored(object);
  return presented(kind, store.put(collectionOf(store, kind), keyOf(namespace, name), toStored(kind, object)));
}

/** The other objects, as far as admission rules look at them. */
export function clusterOf(backend: Backend): Cluster {
  return new OtherObjects(backend);
}

// A class, since one is made with every write: a literal with a generator in it costs more than what it is asked.
class OtherObjects implements Cluster {
  readonly #store: Store;
  readonly #kinds: ServedKinds;

  constructor({ store, kinds }: Backend) {
    this.#store = store;
    this.#kinds = kinds;
  }

  *list(plural: string): Generator<KubeObject> {
    for (const kind of this.#kinds.own(plural)) {
      const collection = collectionOf(this.#store, kind);
      if (collection.keys.count > 0) for (const stored of collection.all()) yield stored.object;
    }
  }

  labels(plural: string, name: string): Texts | undefined {
    const kind = this.#kinds.find({ group: "", version: "v1", plural });
    return kind && collectionOf(this.#store, kind).get(keyOf(undefined, name))?.labels;
  }
}
