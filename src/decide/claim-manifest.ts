// The claim that a pool asks for: everything it needs to know is copied from the pool's template, since from then on its
// spec never changes.

import { apiVersionOf, type Manifest } from "../api/meta.ts";
import { nodePoolKey } from "../api/node.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { nodePools } from "../api/node-pool.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { NodeClassRef, Picture } from "../snapshot/picture.ts";
import type { PoolView } from "../snapshot/views.ts";
import { hashAnnotations } from "./disruption/drift-hash.ts";
import { fingerprint } from "./fingerprint.ts";
import { nodeClassLabel } from "./node-class.ts";

const suffixLength = 5;
const suffixes = 36 ** suffixLength;

/** `nodeClass`: the template's, or the provider's default at this time. */
export function claimFor(
  pool: PoolView,
  name: string,
  nodeClass: NodeClassRef,
): Manifest & { metadata: { name: string } } {
  const { labels, annotations, ...template } = pool.effective.template;
  return {
    apiVersion: apiVersionOf(nodeClaims.resource),
    kind: nodeClaims.resource.kind,
    metadata: {
      name,
      labels: { ...labels, ...nodeClassLabel(nodeClass), [nodePoolKey]: pool.name },
      annotations: { ...annotations, ...hashAnnotations(pool, nodeClass) },
      // From the start: once an instance may exist, the claim must not go without it.
      finalizers: [terminationFinalizer],
      ownerReferences: [
        {
          apiVersion: apiVersionOf(nodePools.resource),
          kind: nodePools.resource.kind,
          name: pool.name,
          uid: pool.uid,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { ...template, nodeClassRef: { ...nodeClass } },
  };
}

/** By a claim, or by one that the ledger tells of: a name that came back would be read as the one that is gone. */
export function isNameTaken(name: string, picture: Pick<Picture, "claim" | "actionsOfClaim">): boolean {
  return picture.claim(name) !== undefined || picture.actionsOfClaim(name).length > 0;
}

/**
 * `count` names that are not taken, the same whenever they are asked for again with the same `salt`, so that a command
 * whose answer was lost is repeated and not doubled.
 */
export function claimNames(
  pool: PoolView,
  { count, salt, isTaken }: { count: number; salt: string; isTaken: (name: string) => boolean },
): readonly string[] {
  const names = new Set<string>();
  for (let ordinal = 0; names.size < count; ordinal++) {
    const suffix = (fingerprint(`${pool.uid} ${salt} ${ordinal}`) % suffixes).toString(36).padStart(suffixLength, "0");
    const name = `${pool.name}-${suffix}`;
    if (!isTaken(name)) names.add(name);
  }
  return [...names];
}
