// What pods rest on beside nodes: claims for volumes, volumes, classes of storage, and the labels of namespaces. Kept up to
// date one by one: a change names those whose needs must be found out anew.

import type { Pod } from "../../api/pod.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/storage.ts";
import type { Namespace, Problem } from "./problem.ts";
import { claimKeys, type Storage, storageOf } from "./volumes.ts";

/** Without its object: it is gone. */
export type GroundChange =
  | { readonly kind: "claim"; readonly key: string; readonly claim: PersistentVolumeClaim | undefined }
  | { readonly kind: "volume"; readonly key: string; readonly volume: PersistentVolume | undefined }
  | { readonly kind: "class"; readonly key: string; readonly storageClass: StorageClass | undefined }
  | { readonly kind: "namespace"; readonly key: string; readonly namespace: Namespace | undefined };

export class Ground {
  readonly storage: Storage;
  readonly #namespaces: Map<string, Namespace>;
  /** Kinds of pods by their signatures: by the claims that they use, and those that select namespaces. */
  readonly #signaturesByClaim = new Map<string, Set<string>>();
  readonly #selecting = new Set<string>();
  /** Those of them that are on hosts, by key. */
  readonly #podsBySignature = new Map<string, Map<string, Pod>>();

  constructor(problem: Problem) {
    this.storage = storageOf(problem);
    this.#namespaces = new Map(problem.namespaces.map(one => [one.metadata.name, one]));
  }

  get namespaces(): Iterable<Namespace> {
    return this.#namespaces.values();
  }

  /** What a kind of pods rests on. */
  note(signature: string, pod: Pod): void {
    const claims = claimKeys(pod);
    const isResting = claims.length > 0 || isSelecting(pod);
    if (isResting && !this.#podsBySignature.has(signature)) this.#podsBySignature.set(signature, new Map());
    for (const claim of claims) {
      const signatures = this.#signaturesByClaim.get(claim) ?? new Set();
      this.#signaturesByClaim.set(claim, signatures.add(signature));
    }
    if (isSelecting(pod)) this.#selecting.add(signature);
  }

  enter(signature: string, key: string, pod: Pod): void {
    this.#podsBySignature.get(signature)?.set(key, pod);
  }

  leave(signature: string, key: string): void {
    this.#podsBySignature.get(signature)?.delete(key);
  }

  podsOf(signature: string): readonly Pod[] {
    return [...(this.#podsBySignature.get(signature)?.values() ?? [])];
  }

  /** Takes it in; the kinds of pods that rest on it. */
  put(change: GroundChange): ReadonlySet<string> {
    const { claimByKey, volumeByName, classByName } = this.storage;
    switch (change.kind) {
      case "claim":
        replace(claimByKey, change.key, change.claim);
        return this.#signaturesByClaim.get(change.key) ?? new Set();
      case "volume":
        replace(volumeByName, change.key, change.volume);
        return this.#restingOn(claim => claim?.spec.volumeName === change.key);
      case "class":
        replace(classByName, change.key, change.storageClass);
        return this.#restingOn(claim => claim !== undefined && !claim.spec.volumeName);
      case "namespace":
        replace(this.#namespaces, change.key, change.namespace);
        return this.#selecting;
    }
  }

  #restingOn(isMeant: (claim: PersistentVolumeClaim | undefined) => boolean): ReadonlySet<string> {
    const found = [...this.#signaturesByClaim].filter(([key]) => isMeant(this.storage.claimByKey.get(key)));
    return new Set(found.flatMap(([, signatures]) => [...signatures]));
  }
}

function isSelecting({ spec }: Pod): boolean {
  const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.some(({ namespaceSelector }) => namespaceSelector !== undefined);
}

function replace<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
