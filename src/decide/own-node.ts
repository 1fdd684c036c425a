// Whether a node with a claim's providerID is the claim's own: something of ours is on it, or the claim names it. A
// providerID alone is a word that anybody can write; a node with nothing else is seen and never touched.

import { isSameTaint } from "../api/taint.ts";
import { terminationFinalizer, unregisteredTaint } from "../api/well-known.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";

/** Whose word holds for the node. A stranger's providerID makes it nobody's. */
export function ownClaimOf(node: NodeView, picture: Picture): ClaimView | undefined {
  const claim = picture.claimOf(node);
  return claim !== undefined && isOwnNode(node, claim) ? claim : undefined;
}

export function isOwnNode(node: NodeView, claim: ClaimView): boolean {
  const { name, owners, finalizers, taints } = node;
  return (
    owners.some(({ uid }) => uid === claim.uid) ||
    claim.status.nodeName === name ||
    finalizers.includes(terminationFinalizer) ||
    // Its machine was started for a claim, and whoever was to register it did not come to it.
    taints.some(taint => isSameTaint(taint, unregisteredTaint))
  );
}
