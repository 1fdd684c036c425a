// How many pods a set of pods should have: asked of their controllers, as PodDisruptionBudgets do.

import { apiVersionOf, type KubeObject, type OwnerReference, parseApiVersion } from "../api/meta.ts";
import type { Backend } from "./backend.ts";
import { replicasAt, workloadPaths } from "./scale.ts";
import { collectionOf, groupResource } from "./served-kinds.ts";
import { keyOf } from "./store.ts";

export type ControllerRef = Pick<OwnerReference, "apiVersion" | "kind" | "name" | "uid">;

export function controllerOf({ metadata }: KubeObject): ControllerRef | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner && { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid };
}

/** Whose the pods of a set are: each controller with its pods, in the order in which the first of them came. */
export class Controllers {
  readonly #byUid = new Map<string, { readonly controller: ControllerRef; readonly pods: Set<string> }>();

  values(): Iterable<{ readonly controller: ControllerRef; readonly pods: ReadonlySet<string> }> {
    return this.#byUid.values();
  }

  move(pod: string, from: ControllerRef | undefined, to: ControllerRef | undefined): void {
    if (from?.uid === to?.uid) return;
    const left = this.#byUid.get(from?.uid ?? "");
    left?.pods.delete(pod);
    if (from !== undefined && left?.pods.size === 0) this.#byUid.delete(from.uid);
    if (to === undefined) return;
    const joined = this.#byUid.get(to.uid) ?? { controller: to, pods: new Set() };
    joined.pods.add(pod);
    this.#byUid.set(to.uid, joined);
  }
}

/** The sum over the pods' controllers, each once; pods without one count nothing. A sentence when one has no scale. */
export function expectedScale(backend: Backend, namespace: string, controllers: Controllers): number | string {
  const scaleByUid = new Map<string, number>();
  for (const { controller, pods } of controllers.values()) {
    const found = scaleFor(backend, namespace, controller);
    if (typeof found === "string") return found;
    if (found === undefined) return `found no controllers for pod "${[...pods][0]}"`;
    scaleByUid.set(found.uid, found.scale);
  }
  return [...scaleByUid.values()].reduce((sum, scale) => sum + scale, 0);
}

type Scale = { uid: string; scale: number };

function scaleFor(backend: Backend, namespace: string, controller: ControllerRef): Scale | string | undefined {
  const owner = find(backend, namespace, controller);
  if (typeof owner === "string") return owner;
  if (owner === undefined || owner.object.metadata.uid !== controller.uid) return undefined;
  // A ReplicaSet of a Deployment answers with the Deployment's scale: between them there may be several.
  const above = controller.kind === "ReplicaSet" ? controllerOf(owner.object) : undefined;
  if (above?.kind === "Deployment") return scaleFor(backend, namespace, above);
  const { kind } = owner;
  if (!kind.subresources.includes("scale"))
    return `${groupResource(kind.resource)} does not implement the scale subresource`;
  return { uid: controller.uid, scale: replicasAt(owner.object, kind.scale ?? workloadPaths) };
}

function find(
  { kinds, store }: Backend,
  namespace: string,
  { apiVersion, kind: name, name: objectName }: ControllerRef,
) {
  const kind = kinds.findByKind(apiVersion, name);
  if (kind === undefined) {
    const { group, version } = parseApiVersion(apiVersion);
    return `no matches for kind "${name}" in version "${apiVersionOf({ group, version })}"`;
  }
  const object = collectionOf(store, kind).get(
    keyOf(kind.resource.namespaced ? namespace : undefined, objectName),
  )?.object;
  return object && { kind, object };
}
