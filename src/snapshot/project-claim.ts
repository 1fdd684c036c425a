// What is kept of a NodeClaim. Every change is one, so that its version is good as a precondition.

import { effectiveNodeClaim } from "../api/effective-node-pool.ts";
import type { KubeObject } from "../api/meta.ts";
import { nodePoolKey, zoneKey } from "../api/node.ts";
import { terminationTimestampKey } from "../api/well-known.ts";
import { conditionsOf, metaOf, ownersOf } from "./project-meta.ts";
import { fields, present, time, word } from "./raw.ts";
import type { ClaimView } from "./views.ts";

export function projectClaim(raw: KubeObject, previous: ClaimView | undefined): ClaimView {
  const meta = metaOf(raw);
  const status = fields(raw["status"]);
  const generation = raw.metadata.generation ?? 0;
  // A claim's spec never changes; were it to, the generation would say so.
  const isKnown = previous?.uid === meta.uid && previous.generation === generation;
  return {
    generation,
    ...meta,
    owners: ownersOf(raw),
    spec: isKnown ? previous.spec : specOf(raw),
    status,
    conditions: conditionsOf(status["conditions"]),
    ...present({
      pool: word(meta.labels[nodePoolKey]),
      zone: word(meta.labels[zoneKey]),
      providerID: word(status["providerID"]),
      terminationAt: time(meta.annotations[terminationTimestampKey]),
    }),
  };
}

const meaningOf = new WeakMap<object, ClaimView["spec"]>();

// What a claim means is made of its spec with some work. One that we make is read more than once, by its answer and
// before its launch; and who keeps the spec that a pool's claims have in common once, hands out that one.
function specOf(raw: KubeObject): ClaimView["spec"] {
  const written = fields(raw["spec"]);
  let meaning = meaningOf.get(written);
  if (meaning === undefined) meaningOf.set(written, (meaning = effectiveNodeClaim(written)));
  return meaning;
}
