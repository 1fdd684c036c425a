// A node joins its claim: found by its providerID, it gets the claim's labels, annotations and taints, and loses the
// taint that kept pods away until then. Whatever leaves a doubt which node it is touches none. A node that has only just
// joined is given a moment to come up: then it is registered and initialized by one write, and before that the scheduler
// is told which pods are for it (provisioning/nomination.ts).

import { isSameTaint } from "../api/taint.ts";
import {
  doNotSyncTaintsKey,
  initializedKey,
  registeredKey,
  terminationFinalizer,
  unregisteredTaint,
} from "../api/well-known.ts";
import { formatTime, type Instant, type Millis, secondMs } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, type Doubt } from "./conditions.ts";
import type { ConditionChange, NodeChange } from "./decision.ts";
import { type Step, type Want, wantsOf } from "./initialization.ts";
import { untoldCount } from "./provisioning/nomination.ts";

/** `node`: the one that is registered; `doubt`: why a claim that was registered is not ready now. */
export type Registration = Step & { readonly node?: NodeView; readonly doubt?: Doubt; readonly wakeAt?: Instant };

type Obstacle = Doubt & { readonly code: string; readonly liftedBy: string };

const nodeNotFound = "NodeNotFound";
/** From a node's creation, whose time is in whole seconds. No pod comes to it before it is Ready, so none waits for this. */
const comingUpMs: Millis = 5 * secondMs;
/** Of the condition Initialized. */
export const notRegistered = "Its node has not registered.";

/** What a claim says whose instance has just been launched. */
export function awaitingNode(providerID: string): readonly Omit<ConditionChange, "since">[] {
  return [
    {
      type: "Registered",
      status: "Unknown",
      reason: nodeNotFound,
      message: `No node has the providerID ${providerID}.`,
    },
    { type: "Initialized", status: "Unknown", reason: nodeNotFound, message: notRegistered },
  ];
}

/** Since when a claim that was registered has had no node; undefined: it has one, or never had. */
export function nodelessSince(claim: ClaimView): Instant | undefined {
  const ready = conditionOf(claim.conditions, "Ready");
  return wasRegistered(claim) && ready?.status === "False" && ready.reason === nodeNotFound ? ready.since : undefined;
}

export function registration(claim: ClaimView, { picture, now }: { picture: Picture; now: Instant }): Registration {
  const [node, ...others] = picture.nodesOf(claim);
  if (node === undefined) return unregistered(claim, noNode(claim));
  if (others.length > 0) return unregistered(claim, severalNodes(claim, [node, ...others]), "False");
  if (picture.claimOf(node)?.uid !== claim.uid) return unregistered(claim, severalClaims(claim, node));
  if (node.deletingSince !== undefined) return deleting(claim, node);
  if (!isAdopted(node)) return comingUp(claim, node, { picture, now }) ?? adopt(claim, node);
  const condition = { type: "Registered", status: "True", reason: "Registered", message: "" };
  return { condition, node, commands: [], refusals: [], notices: [] };
}

// Once registered a claim stays so: what has gone wrong since makes it unready, and is for others to judge.
function unregistered(claim: ClaimView, obstacle: Obstacle, status: "Unknown" | "False" = "Unknown"): Registration {
  const { code, reason, message, liftedBy } = obstacle;
  return {
    ...(wasRegistered(claim)
      ? { doubt: { reason, message } }
      : { condition: { type: "Registered", status, reason, message } }),
    commands: [],
    refusals: [{ subject: `claim/${claim.name}`, code, message, liftedBy }],
    notices: [],
  };
}

// A kubelet that still runs makes its node anew: one that has vanished is waited for as one that has not come yet.
function noNode(claim: ClaimView): Obstacle {
  const { providerID, status } = claim;
  const lacking = `No node has the providerID ${providerID}`;
  return {
    code: "node-not-found",
    reason: nodeNotFound,
    message: wasRegistered(claim) ? `${lacking} any more; ${status.nodeName ?? "the claim's"} is gone.` : `${lacking}.`,
    liftedBy: "the node joining the cluster",
  };
}

function severalNodes({ providerID }: ClaimView, nodes: readonly NodeView[]): Obstacle {
  const names = nodes.map(({ name }) => name).join(", ");
  return {
    code: "multiple-nodes-found",
    reason: "MultipleNodesFound",
    message: `${nodes.length} nodes have the providerID ${providerID}: ${names}.`,
    liftedBy: "deleting the nodes that are not the instance's",
  };
}

function severalClaims({ providerID }: ClaimView, { name }: NodeView): Obstacle {
  return {
    code: "multiple-claims-found",
    reason: "MultipleClaimsFound",
    message: `Node ${name} has the providerID ${providerID}, and so have several claims.`,
    liftedBy: "deleting the claims that are not the instance's",
  };
}

// Its claim follows it, which says more than an unready one would.
function deleting(claim: ClaimView, { name }: NodeView): Registration {
  const message = `Node ${name} is being deleted.`;
  const liftedBy = "nothing: a node that is being deleted goes";
  const obstacle = { code: "node-deleting", reason: "NodeTerminating", message, liftedBy };
  const { doubt: _, ...step } = unregistered(claim, obstacle);
  return step;
}

// The finalizer too: a kubelet may have been told to bring the label along.
function isAdopted({ labels, finalizers }: NodeView): boolean {
  return labels[registeredKey] === "true" && finalizers.includes(terminationFinalizer);
}

type Seen = { readonly picture: Picture; readonly now: Instant };

function comingUp(claim: ClaimView, node: NodeView, { picture, now }: Seen): Registration | undefined {
  const until = node.createdAt + comingUpMs;
  // Without the taint pods come before those of its claim do; under a registered claim they may be there already.
  if (until <= now || !isUnregistered(node) || wasRegistered(claim)) return undefined;
  const wants = wantsOf(claim, adopted(node, adoption(claim, node)));
  const [want = untoldPods(claim, node, picture)] = wants;
  if (want === undefined || !wants.every(isAwaited)) return undefined;
  const message = `Node ${node.name} has only just joined; claim ${claim.name} takes it at ${formatTime(until)}, or when it is up: ${want.message}`;
  const { liftedBy } = want;
  return {
    commands: [],
    refusals: [{ subject: `claim/${claim.name}`, code: "node-coming-up", message, until, liftedBy }],
    notices: [],
    wakeAt: until,
  };
}

function untoldPods(
  { name }: ClaimView,
  node: NodeView,
  picture: Picture,
): Pick<Want, "message" | "liftedBy"> | undefined {
  const count = untoldCount(name, node, picture);
  if (count === 0) return undefined;
  const message = `The scheduler is being told that it is for ${count} pods.`;
  return { message, liftedBy: "their status.nominatedNodeName" };
}

// What comes by itself; whoever takes startup taints off, or brings a resource, may wait for the claim's labels.
function isAwaited({ code }: Want): boolean {
  return code === "node-not-ready" || code === "ephemeral-taints-exist";
}

function isUnregistered({ taints }: NodeView): boolean {
  return taints.some(taint => isSameTaint(taint, unregisteredTaint));
}

function adopt(claim: ClaimView, node: NodeView): Registration {
  const isFirst = !wasRegistered(claim);
  const target = { name: node.name, uid: node.uid };
  const message = `Node ${node.name} joined without the taint ${unregisteredTaint.key}; pods may have come before its taints.`;
  const change = adoption(claim, node);
  const isUp = wantsOf(claim, adopted(node, change)).length === 0;
  const labels = { ...change.labels, ...(isUp ? { [initializedKey]: "true" } : {}) };
  return {
    commands: [
      {
        kind: "update-node",
        node: target,
        change: { ...change, labels },
        why: `Claim ${claim.name} takes its node.`,
      },
    ],
    refusals: [],
    notices:
      isFirst && !isUnregistered(node)
        ? [{ about: { kind: "Node", ...target }, type: "Warning", reason: "UnregisteredTaintMissing", message }]
        : [],
  };
}

/**
 * Startup taints come once, with the first registration: whoever took them off would not do so again for a node whose
 * object was made anew.
 */
function adoption(claim: ClaimView, node: NodeView): NodeChange {
  const { taints, startupTaints } = claim.spec;
  const wanted = wasRegistered(claim) ? taints : [...taints, ...startupTaints];
  const addTaints = wanted.filter(taint => !node.taints.some(present => isSameTaint(present, taint)));
  return {
    owner: { name: claim.name, uid: claim.uid },
    labels: { ...claim.labels, [registeredKey]: "true" },
    annotations: claim.annotations,
    addFinalizers: [terminationFinalizer],
    removeTaints: [unregisteredTaint],
    ...(node.labels[doNotSyncTaintsKey] === "true" ? {} : { addTaints }),
  };
}

/** The node's taints as they will be. */
function adopted(node: NodeView, { addTaints = [] }: NodeChange): NodeView {
  const kept = node.taints.filter(taint => !isSameTaint(taint, unregisteredTaint));
  return { ...node, taints: [...kept, ...addTaints] };
}

function wasRegistered({ conditions }: ClaimView): boolean {
  return conditionOf(conditions, "Registered")?.status === "True";
}
