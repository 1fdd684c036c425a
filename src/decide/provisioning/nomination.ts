// Of pools with podPlacement: Planned the scheduler is told where a pod that waits shall go, by the pod's
// status.nominatedNodeName: it keeps the room for the pod and puts it there. Left to itself it spreads pods as they come, and
// of machines that were chosen for certain pods each gets some of all. A try that fails makes kube-scheduler take the name
// out again: nobody is told again before the node is up, and those whose place depends on where others run not at all.

import { isSameTaint } from "../../api/taint.ts";
import { unregisteredTaint } from "../../api/well-known.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { Placement } from "../../snapshot/placement.ts";
import type { NodeView, PodView } from "../../snapshot/views.ts";
import type { Command } from "../decision.ts";
import { laneOf } from "../lane.ts";
import { isUp, startupTaint } from "../initialization.ts";

export function nomination(
  pod: PodView,
  placement: Placement & { readonly on: "claim" | "node" },
  picture: Picture,
): readonly Command[] {
  const node = placement.on === "node" ? picture.node(placement.name) : nodeOf(placement.name, picture);
  if (node === undefined || !isToBeTold(pod, node, picture)) return [];
  // Once we have taken off our own taint the node opens by itself, and there is no telling when: it is told before, once.
  const isAdopted = !node.taints.some(taint => isSameTaint(taint, unregisteredTaint));
  const isOpening = isAdopted && picture.namedFor(pod.uid) !== node.name;
  return isOpening || isOpen(node, picture) ? [nominate(pod, node)] : [];
}

/** But for our own taint: those of its start are taken off by somebody else, and until then every try fails. */
function isOpen(node: NodeView, picture: Picture): boolean {
  const claim = picture.claimOf(node);
  return isUp(node) && (claim === undefined || startupTaint(claim, node) === undefined);
}

/** How many are still to be told that the claim's node is for them. Those whom that could not be told are not counted. */
export function untoldCount(claimName: string, node: NodeView, picture: Picture): number {
  const untold = picture
    .expectedOn(claimName)
    .filter(pod => isToBeTold(pod, node, picture) && !picture.failure(laneOf(nominate(pod, node))));
  return untold.length;
}

function isToBeTold(pod: PodView, node: NodeView, picture: Picture): boolean {
  // One that runs on a node that goes is told nothing: its successor is another pod.
  if (pod.nodeName !== undefined || pod.nominatedNode === node.name || dependsOnOthers(pod)) return false;
  const pool = picture.pool(picture.claimOf(node)?.pool ?? "");
  return pool?.effective.podPlacement === "Planned" && !pool.effective.dryRun;
}

function dependsOnOthers({ needs }: PodView): boolean {
  const { affinity, topologySpreadConstraints = [] } = needs?.spec ?? {};
  const isSpread = topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable !== "ScheduleAnyway");
  return isSpread || (affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
}

function nominate({ namespace, name, uid }: PodView, { name: nodeName }: NodeView): Command {
  const why = `Node ${nodeName} has room for it.`;
  return { kind: "nominate-pod", pod: { namespace, name, uid }, nodeName, why };
}

function nodeOf(claimName: string, picture: Picture): NodeView | undefined {
  const claim = picture.claim(claimName);
  const [node, ...others] = claim === undefined ? [] : picture.nodesOf(claim);
  return others.length === 0 ? node : undefined;
}
