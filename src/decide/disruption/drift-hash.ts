// What of a pool's template is written on its claims, so that a later change shows: a hash of all that a node cannot
// follow. Requirements are judged by what they mean instead, and readinessTTL has done its work once a node was Ready.

import type { EffectiveNodePool } from "../../api/effective-node-pool.ts";
import type { NodeClassRef } from "../../snapshot/picture.ts";
import type { ClaimView, PoolView } from "../../snapshot/views.ts";
import { fingerprintOf } from "../fingerprint.ts";

const hashKey = "karpenter.sh/nodepool-hash";
const versionKey = "karpenter.sh/nodepool-hash-version";
/** Our own: a hash of another version says nothing to us, and ours nothing to others. */
const version = "fettle-v1";

/** The annotations of a claim that is made from the template as it is now. `nodeClass`: the template's, or the default. */
export function hashAnnotations(pool: PoolView, nodeClass: NodeClassRef): Readonly<Record<string, string>> {
  return { [hashKey]: templateHash(pool, nodeClass), [versionKey]: version };
}

/** Undefined: it has none of our version. */
export function hashOf({ annotations }: ClaimView): string | undefined {
  return annotations[versionKey] === version ? annotations[hashKey] : undefined;
}

/** A template stays what it is, and is asked about with every look at each of its claims. By the class's name. */
const knownHashes = new WeakMap<EffectiveNodePool["template"], Map<string, string>>();

/** The same for templates that mean the same: the order of taints says nothing, nor does a default that is written out. */
export function templateHash({ effective }: PoolView, nodeClass: NodeClassRef): string {
  const known = knownHashes.get(effective.template) ?? new Map<string, string>();
  knownHashes.set(effective.template, known);
  const named = `${nodeClass.group} ${nodeClass.kind} ${nodeClass.name}`;
  const hash = known.get(named) ?? computedHash(effective, nodeClass);
  known.set(named, hash);
  return hash;
}

function computedHash(effective: EffectiveNodePool, { group, kind, name }: NodeClassRef): string {
  const { labels, annotations, taints, startupTaints, expireAfter, terminationGracePeriod } = effective.template;
  return fingerprintOf({
    labels,
    annotations,
    taints: taints.map(fingerprintOf).sort(),
    startupTaints: startupTaints.map(fingerprintOf).sort(),
    nodeClass: { group, kind, name },
    expireAfter,
    terminationGracePeriod,
  });
}
