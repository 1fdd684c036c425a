// Commands on nodes and their pods.

import type { OwnerReference } from "../api/meta.ts";
import type { Taint } from "../api/taint.ts";
import { registeredKey } from "../api/well-known.ts";
import type { Command, NodeChange, Outcome } from "../decide/decision.ts";
import { adoptionPatch } from "./adoption-patch.ts";
import { alreadySo, done, type Execution, type Live, overLive, sawDeletion, sawGone } from "./execution.ts";
import { isConflict, isNotFound, isUnprocessable } from "./outcome.ts";
import { keyOf, metadataBody, ownersAfter, patchBound, taintsAfter, needsLive } from "./patch.ts";
import { nodes, pods } from "./resources.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export async function updateNode({ node, change }: Of<"update-node">, execution: Execution): Promise<Outcome> {
  const { api, picture } = execution;
  if (needsLive(change)) {
    const adopted = await adoptAsSeen(node, change, execution);
    if (adopted !== undefined) return adopted;
    return overLive(execution, { resource: nodes, target: node }, live => changeNode(live, change, execution));
  }
  const metadata = metadataBody(change, []);
  if (metadata === undefined) return alreadySo;
  picture.answered("node", await patchBound(api, nodes, { bound: node, body: { metadata } }));
  return done;
}

/**
 * A node that has only just joined is changed as the watch has shown it, without being read once more. Undefined: it is not
 * new, or somebody was quicker.
 */
async function adoptAsSeen(
  node: Of<"update-node">["node"],
  change: NodeChange,
  { api, picture }: Execution,
): Promise<Outcome | undefined> {
  const view = picture.node(node.name);
  const isNew = view?.uid === node.uid && view.owners.length === 0 && view.labels[registeredKey] === undefined;
  if (!isNew || change.owner === undefined || change.isCordoned !== undefined) return undefined;
  try {
    const body = adoptionPatch(change, view);
    picture.answered("node", await api.patch(nodes, keyOf(node), { type: "json", body }));
    return done;
  } catch (error) {
    if (!isConflict(error) && !isUnprocessable(error)) throw error;
    return undefined;
  }
}

async function changeNode(live: Live, change: NodeChange, { api, picture }: Execution): Promise<Outcome> {
  const { finalizers = [], ownerReferences = [] } = live.metadata;
  const { taints = [], unschedulable = false } = live.spec ?? {};
  // Whoever was quicker has cordoned it: nothing of it is ours, nor ours to undo.
  const isTheirs = change.isCordoned === true && unschedulable;
  const lists = { finalizers, owners: ownerReferences, taints, isCordoned: unschedulable };
  const body = isTheirs ? undefined : nodeBody(change, lists);
  const raw = body === undefined ? live : await patchBound(api, nodes, { bound: live.metadata, body });
  picture.answered("node", raw);
  return body === undefined ? alreadySo : done;
}

type Lists = { finalizers: readonly string[]; owners: readonly OwnerReference[]; taints: readonly Taint[] };

function nodeBody(
  change: NodeChange,
  lists: Lists & { isCordoned: boolean },
): { metadata: object; spec?: object } | undefined {
  const metadata = metadataBody(change, lists.finalizers);
  const owners = ownersAfter(lists.owners, change.owner);
  const taints = taintsAfter(lists.taints, change);
  const isSwitched = change.isCordoned !== undefined && change.isCordoned !== lists.isCordoned;
  const spec = {
    ...(taints === undefined ? {} : { taints }),
    ...(isSwitched ? { unschedulable: change.isCordoned || null } : {}),
  };
  const hasSpec = Object.keys(spec).length > 0;
  if (metadata === undefined && owners === undefined && !hasSpec) return undefined;
  return {
    metadata: { ...metadata, ...(owners === undefined ? {} : { ownerReferences: owners }) },
    ...(hasSpec ? { spec } : {}),
  };
}

export async function deleteNode({ node }: Of<"delete-node">, execution: Execution): Promise<Outcome> {
  try {
    const answer = await execution.api.delete(nodes, keyOf(node), { preconditions: { uid: node.uid } });
    sawDeletion(execution.picture, { kind: "node", target: node, answer });
    return done;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "node", node);
    throw error;
  }
}

/** Once the pod is bound the server refuses it: then there is nothing left to tell. */
export async function nominatePod({ pod, nodeName }: Of<"nominate-pod">, execution: Execution): Promise<Outcome> {
  const body = { status: { nominatedNodeName: nodeName } };
  execution.picture.named(pod.uid, nodeName);
  try {
    const raw = await patchBound(execution.api, pods, { bound: pod, body, subresource: "status" });
    execution.picture.answered("pod", raw);
    return done;
  } catch (error) {
    if (isUnprocessable(error)) return { result: "stale" };
    throw error;
  }
}

/** Its effect comes by the watch alone: the answer holds no pod. */
export async function evictPod({ pod }: Of<"evict-pod">, execution: Execution): Promise<Outcome> {
  const { name, namespace, uid } = pod;
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await execution.api.create(pods, { name, namespace }, eviction, { subresource: "eviction" });
    return done;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "pod", pod);
    throw error;
  }
}

export async function deletePod(command: Of<"delete-pod">, execution: Execution): Promise<Outcome> {
  const { pod, deadline, isMachineGone = false } = command;
  const { api, clock } = execution;
  const leftSeconds = Math.floor((deadline - clock.now()) / 1000);
  const gracePeriodSeconds = isMachineGone ? 0 : Math.max(1, leftSeconds);
  try {
    const answer = await api.delete(pods, keyOf(pod), { preconditions: { uid: pod.uid }, gracePeriodSeconds });
    sawDeletion(execution.picture, { kind: "pod", target: pod, answer });
    return done;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "pod", pod);
    throw error;
  }
}
