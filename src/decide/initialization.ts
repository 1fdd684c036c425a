// A registered node is initialized once it is Ready, rid of the taints of its start, and has what was asked for. What
// is missing is named. It is judged once: a node that falls sick later stays initialized.

import { parseQuantity } from "../api/quantity.ts";
import { formatTaint, isSameTaint, type Taint } from "../api/taint.ts";
import { formatTime } from "../api/time.ts";
import { initializedKey, unregisteredTaint } from "../api/well-known.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import type { Command, ConditionChange, Notice, Refusal } from "./decision.ts";

/** What one step of a claim's life comes to. */
export type Step = {
  /** The claim's condition from now on; absent: it stays. */
  readonly condition?: ConditionChange;
  readonly commands: readonly Command[];
  readonly refusals: readonly Refusal[];
  readonly notices: readonly Notice[];
};

/** Taints that Kubernetes and providers put on a node that has only just come. */
const ephemeralTaints: readonly Taint[] = [
  { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
  { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" },
  unregisteredTaint,
];
const ephemeralPrefix = "readiness.k8s.io/";

/** What a node is without. */
export type Want = {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly liftedBy: string;
};

export function initialization(claim: ClaimView, node: NodeView): Step {
  const wasInitialized = isTrue(claim.conditions, "Initialized");
  const isLabelled = node.labels[initializedKey] === "true";
  if (wasInitialized && isLabelled) return { commands: [], refusals: [], notices: [] };
  const [want] = wantsOf(claim, node);
  if (want !== undefined) return notYet(claim, want, wasInitialized);
  if (isLabelled) return initialized;
  const target = { name: node.name, uid: node.uid };
  const change = { labels: { [initializedKey]: "true" } };
  const why = `Node ${node.name} has all that claim ${claim.name} asks for.`;
  return { commands: [{ kind: "update-node", node: target, change, why }], refusals: [], notices: [] };
}

/**
 * When the node was first Ready, by the clock of whoever reports its conditions, but not before the node existed.
 * Nothing counts from it: what matters is that it is there, and a node that lies about it spares only itself.
 */
export function firstReadyTime(claim: ClaimView, node: NodeView): string | undefined {
  const ready = conditionOf(node.conditions, "Ready");
  if (claim.status.firstReadyTime !== undefined || ready?.status !== "True") return undefined;
  return formatTime(Math.max(ready.since ?? node.createdAt, node.createdAt));
}

const initialized: Step = {
  condition: { type: "Initialized", status: "True", reason: "Initialized", message: "" },
  commands: [],
  refusals: [],
  notices: [],
};

function notYet(claim: ClaimView, { code, reason, message, liftedBy }: Want, wasInitialized: boolean): Step {
  return {
    ...(wasInitialized ? {} : { condition: { type: "Initialized", status: "Unknown", reason, message } }),
    commands: [],
    refusals: [{ subject: `claim/${claim.name}`, code, message, liftedBy }],
    notices: [],
  };
}

/** None: it has all that the claim asks for. */
export function wantsOf(claim: ClaimView, node: NodeView): readonly Want[] {
  const wants = [notReady(node), startupTaint(claim, node), ephemeralTaint(node), missingResource(claim, node)];
  return wants.filter(want => want !== undefined);
}

function notReady({ name, conditions }: NodeView): Want | undefined {
  const ready = conditionOf(conditions, "Ready");
  if (ready?.status === "True") return undefined;
  const state = ready ? `Ready is ${ready.status} (${ready.reason})` : "it says nothing of Ready";
  return {
    code: "node-not-ready",
    reason: "NodeNotReady",
    message: `Node ${name} is not Ready: ${state}.`,
    liftedBy: "its kubelet reporting Ready",
  };
}

export function startupTaint({ spec }: ClaimView, { name, taints }: NodeView): Want | undefined {
  const taint = taints.find(present => spec.startupTaints.some(startup => isSameTaint(startup, present)));
  if (taint === undefined) return undefined;
  return {
    code: "startup-taints-exist",
    reason: "StartupTaintsExist",
    message: `Node ${name} still has the startup taint ${formatTaint(taint)}.`,
    liftedBy: "whoever sets the node up taking the taint off",
  };
}

/** Pods can come, but for the taint that we take off ourselves. */
export function isUp(node: NodeView): boolean {
  const taints = node.taints.filter(taint => !isSameTaint(taint, unregisteredTaint));
  return notReady(node) === undefined && ephemeralTaint({ ...node, taints }) === undefined;
}

/** Goes by itself when the node has come up. */
export function isEphemeralTaint(taint: Taint): boolean {
  return taint.key.startsWith(ephemeralPrefix) || ephemeralTaints.some(known => isSameTaint(known, taint));
}

function ephemeralTaint({ name, taints }: NodeView): Want | undefined {
  const taint = taints.find(isEphemeralTaint);
  if (taint === undefined) return undefined;
  return {
    code: "ephemeral-taints-exist",
    reason: "KnownEphemeralTaintsExist",
    message: `Node ${name} still has the taint ${formatTaint(taint)} of a node that has only just come.`,
    liftedBy: "Kubernetes or the provider taking the taint off",
  };
}

function missingResource({ spec }: ClaimView, { name, allocatable }: NodeView): Want | undefined {
  const resource = Object.keys(spec.requests).find(
    key => isSome(String(spec.requests[key]), true) && !isSome(allocatable[key] ?? "", false),
  );
  if (resource === undefined) return undefined;
  return {
    code: "resource-not-registered",
    reason: "ResourceNotRegistered",
    message: `Node ${name} does not offer ${resource} yet.`,
    liftedBy: `the device plugin or driver of ${resource} registering with the kubelet`,
  };
}

// What cannot be read is taken for what makes us wait: asked for, and not there.
function isSome(quantity: string, unreadable: boolean): boolean {
  const parsed = parseQuantity(quantity);
  return parsed.ok ? parsed.value.digits > 0n : unreadable;
}
