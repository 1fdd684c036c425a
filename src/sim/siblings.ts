// What siblings have in common is kept once: the pods of a replica set differ in their names alone, so each takes over
// the parts of the one made before it that are equal. Whoever keeps something of a spec then knows it again by sight,
// and a comparison of two of them is over at the first look. Stored objects are never changed, so nobody can tell.

import type { KubeObject } from "../api/meta.ts";
import { deepEqual, type JsonObject } from "./json-value.ts";

/** Owners whose latest dependent is remembered; with more of them it starts anew, which costs memory and nothing else. */
const ownersMax = 512;
const metadataShared = ["labels", "annotations", "ownerReferences"];
const shared = ["spec"];

export class Siblings {
  readonly #latestByOwner = new Map<string, KubeObject>();

  /** Of a new object, right before it is stored. */
  share(object: KubeObject): void {
    const owner = object.metadata.ownerReferences?.[0]?.uid;
    if (owner === undefined) return;
    const before = this.#latestByOwner.get(owner);
    if (before !== undefined) {
      takeOver(object, before, shared);
      takeOver(object.metadata, before.metadata, metadataShared);
    } else if (this.#latestByOwner.size >= ownersMax) this.#latestByOwner.clear();
    this.#latestByOwner.set(owner, object);
  }
}

function takeOver(object: object, before: object, fields: readonly string[]): void {
  const [own, other] = [object as JsonObject, before as JsonObject];
  for (const field of fields)
    if (own[field] !== undefined && deepEqual(own[field], other[field])) own[field] = other[field];
}
