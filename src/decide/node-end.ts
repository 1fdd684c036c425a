// The first and the last thing done to the objects of a node: nobody new comes, and, once the machine is gone, nothing is
// left of it.

import { isSameTaint } from "../api/taint.ts";
import { disruptedTaint, terminationFinalizer } from "../api/well-known.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { Command, Context, NodeChange } from "./decision.ts";
import { withTheMachine } from "./drain.ts";
import { type Departing, done, type Step, type StepResult, type Wait } from "./termination-step.ts";

const excludedKey = "node.kubernetes.io/exclude-from-external-load-balancers";

export const taint: Step = { name: "taint", take: taintNodes };
export const finalize: Step = { name: "finalize", take: finalizeObjects };

/** The drain begins beside the delete. Of a silent node at once: nobody comes there, and its pods run elsewhere the sooner. */
function taintNodes({ drained, isDead, isEnding, isSilent, why }: Departing): StepResult {
  if (isDead || isEnding) return done;
  return { isDone: isSilent || drained.every(isClosed), commands: drained.flatMap(node => closing(node, why)) };
}

/** Taint and finalizer before the delete: without our finalizer the object would be gone at once, and its pods with it. */
function closing(node: NodeView, why: string): Command[] {
  if (!isClosed(node)) return [{ kind: "update-node", node: target(node), change: closed(node), why }];
  return node.deletingSince === undefined ? [{ kind: "delete-node", node: target(node), why }] : [];
}

function isClosed(node: NodeView): boolean {
  return Object.keys(closed(node)).length === 0;
}

/** What is missing on it. */
function closed(node: NodeView): NodeChange {
  return {
    ...(isTainted(node) ? {} : { addTaints: [disruptedTaint] }),
    ...(node.labels[excludedKey] === undefined ? { labels: { [excludedKey]: "karpenter" } } : {}),
    // No finalizer can be added to what is being deleted.
    ...(isHeld(node) || node.deletingSince !== undefined ? {} : { addFinalizers: [terminationFinalizer] }),
  };
}

function finalizeObjects(departing: Departing, context: Context): StepResult {
  const { claim, nodes, why } = departing;
  if (nodes.length === 0) return { isDone: false, metadata: { removeFinalizers: [terminationFinalizer] } };
  const isGone = claim.providerID !== undefined && context.picture.instance(claim.providerID)?.state === "gone";
  return {
    isDone: false,
    commands: [...(isGone ? withTheMachine(departing, context) : []), ...nodes.flatMap(node => releasing(node, why))],
    waits: nodes.flatMap(heldByOthers),
  };
}

/** Also of one that never registered: what it stood for is gone. */
function releasing(node: NodeView, why: string): Command[] {
  const removeFinalizers = [terminationFinalizer];
  if (node.deletingSince === undefined) return [{ kind: "delete-node", node: target(node), why }];
  return isHeld(node) ? [{ kind: "update-node", node: target(node), change: { removeFinalizers }, why }] : [];
}

function heldByOthers({ name, finalizers }: NodeView): Wait[] {
  const others = finalizers.filter(one => one !== terminationFinalizer);
  if (others.length === 0) return [];
  const message = `Node ${name} is held by the finalizer ${others.join(", ")}; its instance is gone.`;
  return [{ code: "foreign-finalizer", message, liftedBy: "Whoever set it taking it off the node." }];
}

function isTainted({ taints }: NodeView): boolean {
  return taints.some(one => isSameTaint(one, disruptedTaint));
}

function isHeld({ finalizers }: NodeView): boolean {
  return finalizers.includes(terminationFinalizer);
}

function target({ name, uid }: NodeView) {
  return { name, uid };
}
