// Deleting: preconditions, grace, finalizers and what becomes of dependents, in the order of the API server's
// registry (1.36). What is only marked here is finished by an update that empties the finalizers, or by the collector.

import type { KubeObject } from "../api/meta.ts";
import type { Status } from "../api/status.ts";
import { type Backend, get, save, type Target } from "./backend.ts";
import type { ServedKind } from "./kind.ts";
import { isCrd } from "./crd.ts";
import { removeCrd } from "./crd-rules.ts";
import type { DeleteOptions, Removed } from "./delete-options.ts";
import { isNamespace, removeNamespace } from "./namespaces.ts";
import { timestamp } from "./object-meta.ts";
import { conflict } from "./refusal.ts";
import type { ApiResponse } from "./request.ts";
import { collectionOf, groupResource, kindName, presented, resourceName } from "./served-kinds.ts";
import { keyOf } from "./store.ts";
import type { StoredObject } from "./stored.ts";
import { storageKey } from "./write.ts";

export function remove(backend: Backend, target: Target, options: DeleteOptions): Removed {
  const existing = get(backend, target);
  const marked = markOwnWay(backend, target, options);
  if (marked !== undefined) return marked;
  const { kind } = target;
  refuseOther(kind, existing.object, options);
  const grace = graceOf(kind, existing.object, { asked: options.gracePeriodSeconds, now: backend.clock.now() });
  if (grace.kind === "pending") return { stored: existing, deleted: false, asObject: true };

  const object = withGrace(existing.object, grace);
  const finalizers = finalizersFor(kind, existing.object, options);
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  else delete object.metadata.finalizers;
  if (grace.kind === "none" && finalizers.length > 0) markDeleting(object, backend.clock.now());

  const mustWait = finalizers.length > 0 || (grace.kind === "graceful" && grace.seconds > 0);
  const isWritten = grace.kind === "graceful" || finalizers.length > 0;
  if (!isWritten && hasFinalizers(existing.object)) refuseVersionOfNone(target, existing.object, options);
  const written = isWritten ? saveIfChanged(backend, target, { object, existing, dryRun: options.dryRun }) : existing;
  if (mustWait) return { stored: written, deleted: false, asObject: true };
  const asObject = answersWithObject.has(groupResource(kind.resource));
  // A dry run that would have marked the object first, or would have taken its finalizers, answers with the object.
  if (options.dryRun) {
    return { stored: written, deleted: true, asObject: asObject || isWritten || hasFinalizers(existing.object) };
  }
  const { store } = backend;
  const last = store.remove(collectionOf(store, kind), keyOf(target.namespace, target.name));
  return { stored: last === undefined ? written : presented(kind, last), deleted: true, asObject };
}

/**
 * A deletion that drops the last finalizers does so without writing the object, and 1.36 then compares the version that
 * was asked for with that of the object it has not written. Whoever names a version is always refused.
 */
function refuseVersionOfNone(target: Target, { metadata }: KubeObject, options: DeleteOptions): void {
  if (options.resourceVersion === undefined || options.dryRun) return;
  const key = storageKey(target.kind, keyOf(target.namespace, target.name));
  const why =
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: ${metadata.resourceVersion}`;
  throw conflict(resourceName(target.kind), target.name, why);
}

/** Namespaces and CustomResourceDefinitions are emptied first; undefined: nothing special about this one (any more). */
function markOwnWay(backend: Backend, target: Target, options: DeleteOptions): Removed | undefined {
  if (isNamespace(target.kind)) return removeNamespace(backend, target, options);
  return isCrd(target.kind) ? removeCrd(backend, target, options) : undefined;
}

function saveIfChanged(
  backend: Backend,
  target: Target,
  change: { object: KubeObject; existing: StoredObject; dryRun: boolean },
): StoredObject {
  const { object, existing, dryRun } = change;
  const isSame = JSON.stringify(object.metadata) === JSON.stringify(existing.object.metadata);
  return isSame ? existing : save(backend, target, object, dryRun);
}

/** Grace is asked for once; a second deletion may only shorten it. */
type Grace =
  | { kind: "none" }
  | { kind: "pending" }
  | { kind: "graceful"; seconds: number; deletionTimestamp: string; isFirst: boolean };

function graceOf(
  kind: ServedKind,
  object: KubeObject,
  { asked, now }: { asked: number | undefined; now: number },
): Grace {
  const { rules } = kind;
  if (rules.gracePeriodSeconds === undefined) return { kind: "none" };
  const wanted = asked !== undefined && asked < 0 ? 1 : asked;
  const { deletionTimestamp, deletionGracePeriodSeconds: current } = object.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = rules.gracePeriodSeconds(object, wanted);
    if (seconds === undefined) return { kind: "none" };
    return { kind: "graceful", seconds, deletionTimestamp: timestamp(now + seconds * 1000), isFirst: true };
  }
  if (!current) return { kind: "none" };
  if (wanted === undefined || wanted >= current) return { kind: "pending" };
  const shortenedAt = Date.parse(deletionTimestamp) - current * 1000 + wanted * 1000;
  // Time that has passed already counts: never back into the past, and one second is the least that is still graceful.
  if (shortenedAt >= now)
    return { kind: "graceful", seconds: wanted, deletionTimestamp: timestamp(shortenedAt), isFirst: false };
  return { kind: "graceful", seconds: wanted === 0 ? 0 : 1, deletionTimestamp: timestamp(now), isFirst: false };
}

function withGrace(object: KubeObject, grace: Grace): KubeObject {
  const metadata = { ...object.metadata };
  if (grace.kind === "graceful") {
    if (grace.isFirst && metadata.generation) metadata.generation++;
    metadata.deletionTimestamp = grace.deletionTimestamp;
    metadata.deletionGracePeriodSeconds = grace.seconds;
  }
  return { ...object, metadata };
}

function markDeleting({ metadata }: KubeObject, now: number): void {
  if (metadata.deletionTimestamp === undefined && metadata.generation) metadata.generation++;
  if (metadata.deletionTimestamp === undefined || Date.parse(metadata.deletionTimestamp) > now) {
    metadata.deletionTimestamp = timestamp(now);
  }
  metadata.deletionGracePeriodSeconds = 0;
}

function hasFinalizers({ metadata }: KubeObject): boolean {
  return (metadata.finalizers ?? []).length > 0;
}

const collectorFinalizers = ["orphan", "foregroundDeletion"];

/** The finalizers with which the deletion goes on: the object's own, and the collector's as the request wants them. */
function finalizersFor(kind: ServedKind, { metadata }: KubeObject, options: DeleteOptions): string[] {
  const current = metadata.finalizers ?? [];
  const propagation = propagationFor(kind, current, options);
  const finalizers = current.filter(name => !collectorFinalizers.includes(name));
  if (propagation === "Orphan") finalizers.push("orphan");
  if (propagation === "Foreground") finalizers.push("foregroundDeletion");
  const isSameSet = finalizers.length === current.length && finalizers.every(name => current.includes(name));
  return isSameSet ? current : finalizers;
}

function propagationFor(
  kind: ServedKind,
  finalizers: readonly string[],
  options: DeleteOptions,
): DeleteOptions["propagation"] {
  const name = groupResource(kind.resource);
  if (name.startsWith("events")) return "Background"; // never owners, so never finalized by the collector
  if (options.orphanDependents !== undefined) return options.orphanDependents ? "Orphan" : "Background";
  if (options.propagation !== undefined) return options.propagation;
  if (finalizers.includes("orphan")) return "Orphan";
  if (finalizers.includes("foregroundDeletion")) return "Foreground";
  return name === "jobs.batch" ? "Orphan" : "Background";
}

function refuseOther(kind: ServedKind, { metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      kindName(kind),
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      kindName(kind),
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

// These kinds answer a finished deletion with the object, the others with a Status (`ReturnDeletedObject`, 1.36).
const answersWithObject = new Set([
  "pods",
  "namespaces",
  "serviceaccounts",
  "persistentvolumes",
  "persistentvolumeclaims",
  "storageclasses.storage.k8s.io",
  "volumeattachments.storage.k8s.io",
  "csinodes.storage.k8s.io",
]);

export function deleteResponse({ kind }: Target, removed: Removed, options: DeleteOptions): ApiResponse {
  const code = !removed.deleted && options.orphanDependents === false ? 202 : 200;
  if (removed.asObject) return { kind: "object", code, stored: removed.stored, warnings: [] };
  return { kind: "status", code, status: success(kind, removed.stored.object), warnings: [] };
}

function success({ resource }: ServedKind, { metadata }: KubeObject): Status {
  const details = {
    name: metadata.name,
    ...(resource.group !== "" && { group: resource.group }),
    kind: resource.plural,
    uid: metadata.uid,
  };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
