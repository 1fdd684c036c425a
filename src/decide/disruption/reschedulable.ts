// Which pods must run elsewhere once their node is gone. Whatever a pod's deletion cost: one that runs is never nothing.

import type { Picture } from "../../snapshot/picture.ts";
import type { PodView } from "../../snapshot/views.ts";

/** Daemons and static pods belong to the node; of those that are ending only a StatefulSet's is waited for. */
export function isReschedulable({ tier, isStatic, phase, deletionAt, ownerKind }: PodView): boolean {
  if (tier === "daemon" || tier === "critical-daemon" || isStatic) return false;
  if (phase === "Succeeded" || phase === "Failed") return false;
  return deletionAt === undefined || ownerKind === "StatefulSet";
}

export function isEmpty(nodeName: string, picture: Pick<Picture, "podsOn">): boolean {
  for (const pod of picture.podsOn(nodeName)) if (isReschedulable(pod)) return false;
  return true;
}
