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
    spec: isKnown ? previous.spec : effectiveNodeClaim(fields(raw["spec"])),
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
