// Owners and dependents: what happens to an object when its owner goes, as kube-controller-manager's garbage collector
// (1.36) decides it. Dependents are indexed by their owners' uids, so a change costs what depends on it and no scan.

import type { KubeObject, OwnerReference } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import type { Backend, Target } from "./backend.ts";
import { remove } from "./delete.ts";
import type { DeleteOptions } from "./delete-options.ts";
import type { Change } from "./history.ts";
import { deepCopy, deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { collectionOf } from "./served-kinds.ts";
import { type Collection, keyOf } from "./store.ts";
import { WorkQueue } from "./work-queue.ts";
import { update } from "./write.ts";

const orphanFinalizer = "orphan";
const foregroundFinalizer = "foregroundDeletion";
/** Between the name of a collection and a key; neither contains it. */
const separator = " ";

export class GarbageCollector {
  readonly #backend: Backend;
  readonly #queue: WorkQueue;
  readonly #dependentsByUid = new Map<string, Set<string>>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#queue = new WorkQueue(backend.clock, item => this.#sync(item));
  }

  start(): void {
    this.#backend.store.onChange((collection, change) => this.#onChange(collection, change));
  }

  #onChange({ name }: Collection, { type, key, stored, previous }: Change): void {
    const item = name + separator + key;
    const { object } = stored;
    const isGone = type === "DELETED";
    const before = previous?.object.metadata.ownerReferences;
    const after = isGone ? undefined : object.metadata.ownerReferences;
    const isNewlyOwned = !deepEqual(before, after);
    if (isNewlyOwned) this.#index(item, before ?? [], after ?? []);
    const wakesDependents = isGone || isDeletingWith(object, foregroundFinalizer);
    if (wakesDependents) for (const dependent of this.#dependents(object)) this.#queue.add(dependent);
    // Whoever waits for its dependents looks again when one of them changed hands or went.
    if (isGone) for (const owner of before ?? []) this.#wakeOwner(object, owner);
    if (!isGone && (isNewlyOwned || hasCollectorFinalizer(object))) this.#queue.add(item);
  }

  #index(item: string, before: readonly OwnerReference[], after: readonly OwnerReference[]): void {
    for (const { uid } of before) {
      const dependents = this.#dependentsByUid.get(uid);
      dependents?.delete(item);
      if (dependents?.size === 0) this.#dependentsByUid.delete(uid);
    }
    for (const { uid } of after) {
      const dependents = this.#dependentsByUid.get(uid) ?? new Set();
      this.#dependentsByUid.set(uid, dependents.add(item));
    }
  }

  #dependents({ metadata }: KubeObject): readonly string[] {
    return [...(this.#dependentsByUid.get(metadata.uid) ?? [])];
  }

  #wakeOwner(dependent: KubeObject, reference: OwnerReference): void {
    const found = this.#owner(dependent, reference);
    if (found.kind === "present") this.#queue.add(found.item);
  }

  #sync(item: string): void {
    const found = this.#find(item);
    if (found === undefined) return;
    const { target, object } = found;
    try {
      if (isDeletingWith(object, orphanFinalizer)) this.#orphan(target, object);
      else if (isDeletingWith(object, foregroundFinalizer)) this.#finishForeground(target, object);
      else if (object.metadata.deletionTimestamp === undefined) this.#judge(target, object);
    } catch (error) {
      // A write that a kind's rules refuse is tried again when the object next changes.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Dependents outlive the owner: they forget it, then it may go. */
  #orphan(target: Target, object: KubeObject): void {
    for (const item of this.#dependents(object)) {
      const dependent = this.#find(item);
      if (dependent !== undefined) this.#release(dependent.target, new Set([object.metadata.uid]));
    }
    this.#dropFinalizer(target, orphanFinalizer);
  }

  /** The owner goes when none is left of those that said they block it. */
  #finishForeground(target: Target, object: KubeObject): void {
    const isBlocked = this.#dependents(object).some(item => {
      const owners = this.#find(item)?.object.metadata.ownerReferences ?? [];
      return owners.some(({ uid, blockOwnerDeletion }) => uid === object.metadata.uid && blockOwnerDeletion === true);
    });
    if (!isBlocked) this.#dropFinalizer(target, foregroundFinalizer);
  }

  #judge(target: Target, object: KubeObject): void {
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const standing = owners.map(reference => ({ uid: reference.uid, ...this.#owner(object, reference) }));
    if (standing.some(({ kind }) => kind === "unknown")) return;
    const waiting = standing.filter(owner => owner.kind === "present" && owner.isWaiting);
    const gone = standing.filter(({ kind }) => kind === "absent");
    if (waiting.length + gone.length < standing.length) {
      if (waiting.length + gone.length > 0) this.#release(target, new Set([...waiting, ...gone].map(({ uid }) => uid)));
      return;
    }
    const hasDependents = this.#dependents(object).length > 0;
    remove(this.#backend, target, this.#options(object, waiting.length > 0 && hasDependents));
  }

  #options({ metadata }: KubeObject, isForeground: boolean): DeleteOptions {
    const finalizers = metadata.finalizers ?? [];
    const propagation =
      isForeground || finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : finalizers.includes(orphanFinalizer)
          ? "Orphan"
          : "Background";
    return { dryRun: false, uid: metadata.uid, propagation };
  }

  #release(target: Target, uids: ReadonlySet<string>): void {
    const released = (old: KubeObject | undefined) => {
      const object = deepCopy(old as KubeObject); // an update of what exists
      const kept = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
      if (kept.length > 0) object.metadata.ownerReferences = kept;
      else delete object.metadata.ownerReferences;
      return object;
    };
    update(this.#backend, target, released, { dryRun: false });
  }

  #dropFinalizer(target: Target, finalizer: string): void {
    const without = (old: KubeObject | undefined) => {
      const object = deepCopy(old as KubeObject); // an update of what exists
      const kept = (object.metadata.finalizers ?? []).filter(name => name !== finalizer);
      if (kept.length > 0) object.metadata.finalizers = kept;
      else delete object.metadata.finalizers;
      return object;
    };
    update(this.#backend, target, without, { dryRun: false });
  }

  /** An owner is looked for where the dependent is; of a kind that nobody serves, nothing can be said. */
  #owner({ metadata }: KubeObject, { apiVersion, kind: name, name: ownerName, uid }: OwnerReference) {
    const kind = this.#backend.kinds.findByKind(apiVersion, name);
    if (kind === undefined || (kind.resource.namespaced && metadata.namespace === undefined))
      return { kind: "unknown" } as const;
    const collection = collectionOf(this.#backend.store, kind);
    const key = keyOf(kind.resource.namespaced ? metadata.namespace : undefined, ownerName);
    const owner = collection.get(key)?.object;
    if (owner?.metadata.uid !== uid) return { kind: "absent" } as const;
    return {
      kind: "present",
      item: collection.name + separator + key,
      isWaiting: isDeletingWith(owner, foregroundFinalizer),
    } as const;
  }

  #find(item: string): { target: Target; object: KubeObject } | undefined {
    const [name = "", key = ""] = item.split(separator);
    const object = this.#backend.store.collection(name).get(key)?.object;
    const kind = object && this.#kindOf(name);
    return kind && { target: { kind, namespace: object.metadata.namespace, name: object.metadata.name }, object };
  }

  #kindOf(collection: string): ServedKind | undefined {
    return this.#backend.kinds.ofCollection(collection);
  }
}

function hasCollectorFinalizer({ metadata }: KubeObject): boolean {
  const finalizers = metadata.finalizers ?? [];
  return finalizers.includes(orphanFinalizer) || finalizers.includes(foregroundFinalizer);
}

function isDeletingWith({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}
