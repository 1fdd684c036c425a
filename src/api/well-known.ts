// The names by which a node's life is written on objects: Karpenter's where it has them, ours under fettle.dev.

import type { Taint } from "./taint.ts";

/** On claims, and on the nodes of registered ones. */
export const terminationFinalizer = "karpenter.sh/termination";

export const registeredKey = "karpenter.sh/registered";
export const initializedKey = "karpenter.sh/initialized";
/** On a node, "true": whoever made it looks after its taints. */
export const doNotSyncTaintsKey = "karpenter.sh/do-not-sync-taints";

export const doNotDisruptKey = "karpenter.sh/do-not-disrupt";
/** On a node, a claim or a pool: "true", or the time until which none of it is repaired. */
export const doNotRepairKey = "karpenter.sh/do-not-repair";
/** On a claim: when what is left on its node goes by force. */
export const terminationTimestampKey = "karpenter.sh/nodeclaim-termination-timestamp";

/** On a node: the NodeAction that has cordoned it, and whose end lifts the cordon. */
export const cordonedByKey = "fettle.dev/cordoned-by";

/** On a node: the NodeAction that has declared it out of service, and whose end takes that back. */
export const outOfServiceByKey = "fettle.dev/out-of-service-by";

/** On a claim: the batch of NodeActions for whose nodes it was made, before any of them goes. */
export const replacementForKey = "fettle.dev/replacement-for";

/** On a pool: how its latest launches went (decide/launch-record.ts). */
export const launchRecordKey = "fettle.dev/launch-record";

/** A node starts with it, so that no pod comes before the claim's labels and taints are there. */
export const unregisteredTaint: Taint = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
export const disruptedTaint: Taint = { key: "karpenter.sh/disrupted", effect: "NoSchedule" };
/** Kubernetes' own: what is bound to the node is given up, and its volumes move. */
export const outOfServiceTaint: Taint = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};

/** The label that names an object's node class, such as fettle.dev/simulatednodeclass. */
export function nodeClassKey({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind.toLowerCase()}`;
}
