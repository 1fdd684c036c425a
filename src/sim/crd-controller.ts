// Serves the kinds of CustomResourceDefinitions: at once when one is written, with conditions a moment later, and until
// its objects are gone when it is deleted. A name that another definition of the group holds is not accepted.

import { ApiError } from "../api/status.ts";
import { type Backend, save } from "./backend.ts";
import { cleanupFinalizer, conditionOf, type Crd, type CrdCondition, crdCollection, setCrdCondition } from "./crd.ts";
import { customKinds } from "./custom-kind.ts";
import { remove } from "./delete.ts";
import type { Change } from "./history.ts";
import { deepCopy, deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { forbidden } from "./refusal.ts";
import { resourceName } from "./served-kinds.ts";
import type { Collection } from "./store.ts";
import { WorkQueue } from "./work-queue.ts";
import { update } from "./write.ts";

export class CrdController {
  readonly #backend: Backend;
  readonly #queue: WorkQueue;
  /** Collections whose definition is being deleted: each object that goes may have been the last. */
  readonly #terminating = new Set<string>();
  /** Collections whose definition was changed while there were objects. */
  readonly #mixed = new Set<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#queue = new WorkQueue(backend.clock, name => this.#sync(name));
  }

  start(): void {
    this.#backend.store.onChange((collection, change) => this.#onChange(collection, change));
  }

  #onChange(collection: Collection, change: Change): void {
    if (collection.name === crdCollection) this.#definitionChanged(change);
    else if (change.type === "DELETED" && this.#terminating.has(collection.name)) this.#queue.add(collection.name);
  }

  #definitionChanged({ type, key, stored, previous }: Change): void {
    const crd = stored.object as Crd;
    const { group, names } = crd.spec;
    if (type === "DELETED") {
      this.#terminating.delete(key);
      this.#mixed.delete(key);
      this.#backend.kinds.replace(group, names.plural, []);
      this.#backend.store.collection(key).endWatches();
      for (const other of this.#others(crd)) this.#queue.add(other.metadata.name);
      return;
    }
    if (crd.metadata.deletionTimestamp !== undefined) this.#terminating.add(key);
    if (previous !== undefined) this.#noteChange(crd, previous.object as Crd);
    const isServed = conditionOf(crd, "Established")?.status === "True" || this.#conflictOf(crd) === undefined;
    if (isServed)
      this.#backend.kinds.replace(
        group,
        names.plural,
        customKinds(crd, { isMixed: this.#mixed.has(key) }).map(kind => guarded(kind, crd)),
      );
    this.#queue.add(key);
  }

  /** Objects of another form are read anew, by watchers too: their streams end, as on a real server. */
  #noteChange(crd: Crd, before: Crd): void {
    const { name } = crd.metadata;
    const instances = this.#backend.store.collection(name);
    if (deepEqual(formOf(crd), formOf(before))) return;
    if (instances.keys.count > 0) this.#mixed.add(name);
    instances.endWatches();
  }

  #sync(name: string): void {
    const crd = this.#backend.store.collection(crdCollection).get(name)?.object as Crd | undefined;
    if (crd === undefined) return;
    if (crd.metadata.deletionTimestamp === undefined) this.#settleNames(crd);
    else if (crd.metadata.finalizers?.includes(cleanupFinalizer)) this.#cleanUp(crd);
  }

  #settleNames(crd: Crd): void {
    const now = this.#backend.clock.now();
    const next = deepCopy(crd);
    const conflict = this.#conflictOf(crd);
    const isEstablished = conditionOf(crd, "Established")?.status === "True";
    setCrdCondition(next, conflict ?? namesAccepted, now);
    if (!isEstablished) setCrdCondition(next, conflict === undefined ? established : notAccepted, now);
    if (conflict === undefined && next.status) next.status.acceptedNames = next.spec.names;
    if (deepEqual(next, crd)) return;
    const kind = this.#kind();
    if (kind !== undefined) save(this.#backend, { kind, namespace: undefined, name: crd.metadata.name }, next, false);
    for (const other of this.#others(crd)) this.#queue.add(other.metadata.name);
  }

  #cleanUp(crd: Crd): void {
    const { name } = crd.metadata;
    const instances = this.#backend.store.collection(name);
    this.#setCondition(crd, inProgress);
    const kind = [...this.#backend.kinds.stored()].find(
      ({ resource }) => resource.group === crd.spec.group && resource.plural === crd.spec.names.plural,
    );
    if (kind !== undefined)
      for (const { object } of Array.from(instances.all())) this.#removeInstance(kind, object.metadata);
    if (instances.keys.count > 0) return;
    const definitions = this.#kind();
    if (definitions === undefined) return;
    const without = (old: Crd) => {
      const next = deepCopy(old);
      next.metadata.finalizers = (old.metadata.finalizers ?? []).filter(finalizer => finalizer !== cleanupFinalizer);
      setCrdCondition(next, kind === undefined ? neverEstablished : instancesGone, this.#backend.clock.now());
      return next;
    };
    const target = { kind: definitions, namespace: undefined, name };
    update(this.#backend, target, old => without(old as Crd), { dryRun: false, subresource: "status" });
  }

  #setCondition(crd: Crd, condition: CrdCondition): void {
    const kind = this.#kind();
    const next = deepCopy(crd);
    setCrdCondition(next, condition, this.#backend.clock.now());
    if (kind === undefined || deepEqual(next, crd)) return;
    save(this.#backend, { kind, namespace: undefined, name: crd.metadata.name }, next, false);
  }

  #removeInstance(kind: ServedKind, { namespace, name }: { namespace?: string; name: string }): void {
    try {
      remove(this.#backend, { kind, namespace, name }, { dryRun: false });
    } catch (error) {
      // Gone with another one in the meantime.
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }

  /** The first name that another definition of the group has been granted. */
  #conflictOf(crd: Crd): CrdCondition | undefined {
    const others = this.#others(crd).map(({ status }) => status?.acceptedNames ?? {});
    const resources = new Set(
      others.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
    );
    const kinds = new Set(others.flatMap(({ kind, listKind }) => [kind, listKind]));
    const { names } = crd.spec;
    const taken = (reason: string, name: string | undefined, used: ReadonlySet<string | undefined>) =>
      name && used.has(name) ? [{ reason, message: `"${name}" is already in use` }] : [];
    // The server keeps the last finding.
    const found = [
      ...taken("PluralConflict", names.plural, resources),
      ...taken("SingularConflict", names.singular, resources),
      ...(names.shortNames ?? []).flatMap(name => taken("ShortNamesConflict", name, resources)),
      ...taken("KindConflict", names.kind, kinds),
      ...taken("ListKindConflict", names.listKind, kinds),
    ].at(-1);
    return found && { type: "NamesAccepted", status: "False", ...found };
  }

  #others({ metadata, spec }: Crd): Crd[] {
    const all = [...this.#backend.store.collection(crdCollection).all()].map(({ object }) => object as Crd);
    return all.filter(other => other.spec.group === spec.group && other.metadata.name !== metadata.name);
  }

  #kind(): ServedKind | undefined {
    return this.#backend.kinds.find({
      group: "apiextensions.k8s.io",
      version: "v1",
      plural: "customresourcedefinitions",
    });
  }
}

/** What decides how objects are written and read. */
function formOf({ spec }: Crd): unknown {
  return spec.versions.map(({ name, storage, schema }) => ({ name, storage, schema }));
}

const namesAccepted = { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
const established = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};
const notAccepted = {
  type: "Established",
  status: "False",
  reason: "NotAccepted",
  message: "not all names are accepted",
};
const inProgress = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};
const instancesGone = {
  type: "Terminating",
  status: "False",
  reason: "InstanceDeletionCompleted",
  message: "removed all instances",
};
const neverEstablished = {
  type: "Terminating",
  status: "False",
  reason: "NeverEstablished",
  message: "resource was never established",
};

/** Nothing new is created in a kind that is going. */
function guarded(kind: ServedKind, crd: Crd): ServedKind {
  if (crd.metadata.deletionTimestamp === undefined) return kind;
  const admit: NonNullable<ServedKind["rules"]["admit"]> = ({ metadata }, { old }) => {
    if (old !== undefined) return;
    const why = "create not allowed while custom resource definition is terminating";
    throw forbidden(resourceName(kind), metadata.name, why);
  };
  return { ...kind, rules: { ...kind.rules, admit } };
}
