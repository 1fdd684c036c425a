// What it disturbs that a node goes, by upstream's measure: itself as one, and each pod that has to move by how much it would
// be missed (pod-deletion-cost and priority; 1 for most). What would rather go than stay weighs nothing, and takes nothing off.

import type { Picture } from "../../snapshot/picture.ts";
import { isReschedulable } from "./reschedulable.ts";

export function disturbanceOf(nodeName: string, picture: Pick<Picture, "podsOn">): number {
  let sum = 1;
  for (const pod of picture.podsOn(nodeName)) if (isReschedulable(pod)) sum += Math.max(0, pod.evictionCost ?? 1);
  return sum;
}
