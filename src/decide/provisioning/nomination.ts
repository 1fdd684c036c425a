// Where a pod that waits shall go is told to the scheduler, by the pod's status.nominatedNodeName: it keeps the room for
// the pod and puts it there. Without that it mixes pods as they come, and what was planned for seven goes to five. A try
// that fails makes kube-scheduler take the name out again: nobody is told again before the node is up, and those whose
// place depends on where others run meanwhile not at all.

import type { Picture } from "../../snapshot/picture.ts";
import type { Placement } from "../../snapshot/placement.ts";
import type { NodeView, PodView } from "../../snapshot/views.ts";
import { isSameTaint } from "../../api/taint.ts";
import { unregisteredTaint } from "../../api/well-known.ts";
import { type Command, laneOf } from "../decision.ts";
import { isUp } from "../initialization.ts";

export function nomination(pod: PodView, placement: Placement, picture: Picture): readonly Command[] {
  const nodeName = nodeNameOf(pod, placement, picture);
  return nodeName === undefined || !isOtherwise(pod, nodeName) ? [] : [nominate(pod, nodeName)];
}

/** How many are still to be told that the claim's node is for them. Those whom that could not be told are not counted. */
export function untoldCount(claimName: string, node: NodeView, picture: Picture): number {
  const untold = picture
    .expectedOn(claimName)
    .filter(pod => isOtherwise(pod, node.name) && !picture.failure(laneOf(nominate(pod, node.name))));
  return untold.length;
}

function isOtherwise(pod: PodView, nodeName: string | null): boolean {
  // One that runs on a node that goes is told nothing: its successor is another pod.
  if (pod.nodeName !== undefined || nodeName === (pod.nominatedNode ?? null)) return false;
  return nodeName === null || !dependsOnOthers(pod);
}

function dependsOnOthers({ needs }: PodView): boolean {
  const { affinity, topologySpreadConstraints = [] } = needs?.spec ?? {};
  const isSpread = topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable !== "ScheduleAnyway");
  return isSpread || (affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
}

function nominate({ namespace, name, uid }: PodView, nodeName: string | null): Command {
  const why = nodeName === null ? "No node can take it." : `Node ${nodeName} has room for it.`;
  return { kind: "nominate-pod", pod: { namespace, name, uid }, nodeName, why };
}

/** Undefined: that is not known yet; null: nowhere, and what it was told before keeps room that others could use. */
function nodeNameOf({ uid }: PodView, placement: Placement, picture: Picture): string | null | undefined {
  if (placement.on === "nothing") return null;
  const node = placement.on === "node" ? picture.node(placement.name) : nodeOf(placement.name, picture);
  if (node === undefined) return undefined;
  // Once we have taken off our own taint the node opens by itself, and there is no telling when: it is told before, once.
  const isAdopted = !node.taints.some(taint => isSameTaint(taint, unregisteredTaint));
  const isOpening = isAdopted && picture.namedFor(uid) !== node.name;
  return isOpening || isUp(node) ? node.name : undefined;
}

function nodeOf(claimName: string, picture: Picture): NodeView | undefined {
  const claim = picture.claim(claimName);
  const [node, ...others] = claim === undefined ? [] : picture.nodesOf(claim);
  return others.length === 0 ? node : undefined;
}
