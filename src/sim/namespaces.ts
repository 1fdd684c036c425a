// Namespaces: nothing is created in one that is missing or going, and one that is going is emptied before it is gone.

import type { KubeObject } from "../api/meta.ts";
import { type Backend, get, save, type Target } from "./backend.ts";
import type { DeleteOptions, Removed } from "./delete-options.ts";
import { deepCopy } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { timestamp } from "./object-meta.ts";
import { conflict, forbidden, notFound } from "./refusal.ts";
import { resourceName } from "./served-kinds.ts";

const immortal = new Set(["default", "kube-system", "kube-public"]);
const namespaces = { group: "", name: "namespaces" };

export function isNamespace({ resource }: ServedKind): boolean {
  return resource.group === "" && resource.plural === "namespaces";
}

export function namespaceObject({ store }: Backend, name: string): KubeObject | undefined {
  return store.collection("namespaces").get(name)?.object;
}

/** Throws 404 for a namespace that does not exist and 403 for one that is terminating. */
export function admitToNamespace(backend: Backend, { kind, namespace }: Omit<Target, "name">, name: string): void {
  if (!kind.resource.namespaced || namespace === undefined) return;
  const found = namespaceObject(backend, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (phaseOf(found) !== "Terminating") return;
  throw forbidden(
    resourceName(kind),
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}

/** Updates are let into a terminating namespace, but not into one that is gone. */
export function requireNamespace(backend: Backend, { kind, namespace }: Target): void {
  if (!kind.resource.namespaced || namespace === undefined) return;
  if (namespaceObject(backend, namespace) === undefined) throw notFound(namespaces, namespace);
}

/** The first deletion marks it; the finalizer in its spec keeps it until the namespace controller has emptied it. */
export function removeNamespace(backend: Backend, target: Target, options: DeleteOptions): Removed | undefined {
  if (immortal.has(target.name)) throw forbidden(namespaces, target.name, "this namespace may not be deleted");
  const existing = get(backend, target);
  refuseOther(existing.object, options);
  if (existing.object.metadata.deletionTimestamp === undefined) {
    const object = deepCopy(existing.object);
    object.metadata.deletionTimestamp = timestamp(backend.clock.now());
    object.status = { ...(object.status as object), phase: "Terminating" };
    settleFinalizers(object, options);
    return { stored: save(backend, target, object, options.dryRun), deleted: false, asObject: true };
  }
  return finalizersOf(existing.object).length > 0 ? { stored: existing, deleted: false, asObject: true } : undefined;
}

function refuseOther({ metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const failed = (what: string, asked: string, actual: string) =>
    conflict(
      namespaces,
      metadata.name,
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${actual}`,
    );
  if (uid !== undefined && uid !== metadata.uid) throw failed("UID", uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw failed("ResourceVersion", resourceVersion, metadata.resourceVersion);
  }
}

// Namespaces read the deprecated orphanDependents in their own way: false waits for the dependents.
function settleFinalizers({ metadata }: KubeObject, options: DeleteOptions): void {
  const { orphanDependents } = options;
  const propagation = orphanDependents === undefined ? options.propagation : orphanDependents ? "Orphan" : "Foreground";
  if (propagation === undefined) return;
  const others = (metadata.finalizers ?? []).filter(name => name !== "orphan" && name !== "foregroundDeletion");
  if (propagation === "Orphan") others.push("orphan");
  if (propagation === "Foreground") others.push("foregroundDeletion");
  if (others.length > 0) metadata.finalizers = others;
  else delete metadata.finalizers;
}

export function finalizersOf(namespace: KubeObject): readonly string[] {
  return (namespace.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
}

export function phaseOf(namespace: KubeObject): string | undefined {
  return (namespace.status as { phase?: string } | undefined)?.phase;
}
