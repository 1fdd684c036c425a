// What a command does to the nodes of a cluster, in the words of Karpenter's metrics (v1): so that boards and alerts
// made for it keep working. Pure; whoever counts does so once the command has ended well.

import type { NodeActionSpec } from "../api/node-action.ts";
import { capacityTypeKey, nodePoolKey } from "../api/node.ts";
import type { Instant } from "../api/time.ts";
import { registeredKey, terminationFinalizer } from "../api/well-known.ts";
import { conditionOf, isTrue } from "../decide/conditions.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";

export type Effect = {
  readonly metric: EffectMetric;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a duration. */
  readonly seconds?: number;
};

export type EffectMetric =
  | "nodeclaims_created_total"
  | "nodeclaims_terminated_total"
  | "nodeclaims_disrupted_total"
  | "nodeclaims_termination_duration_seconds"
  | "nodeclaims_instance_termination_duration_seconds"
  | "nodes_created_total"
  | "nodes_drained_total"
  | "nodes_terminated_total"
  | "nodes_termination_duration_seconds"
  | "nodes_lifetime_duration_seconds"
  | "pods_eviction_requests_total";

type Decided = { readonly rule: string; readonly command: Command; readonly at: Instant };

/** Judged when the command is decided, since afterwards its object may be gone. */
export function effectsOf({ rule, command, at }: Decided, picture: Picture): readonly Effect[] {
  switch (command.kind) {
    case "create-claim": {
      const nodepool = command.manifest.metadata.labels?.[nodePoolKey] ?? "";
      const labels = { reason: rule, nodepool, min_values_relaxed: "false" };
      return [{ metric: "nodeclaims_created_total", labels }];
    }
    case "delete-claim": {
      const claim = picture.claim(command.claim.name);
      return claim === undefined ? [] : [disrupted(claim, deletionReason(claim, rule))];
    }
    case "update-claim": {
      const claim = picture.claim(command.claim.name);
      return claim === undefined ? [] : ofClaim(claim, command, at);
    }
    case "update-node": {
      const node = picture.node(command.node.name);
      const claim = node && picture.claimOf(node);
      return node === undefined ? [] : ofNode(node, claim?.pool ?? "", { change: command.change, at });
    }
    default:
      return [];
  }
}

/** What only the end of a command can tell. */
export function effectsOfEnd(command: Command, outcome: Outcome, picture: Picture): readonly Effect[] {
  if (command.kind === "evict-pod") {
    return [{ metric: "pods_eviction_requests_total", labels: { code: codeOf(outcome) } }];
  }
  if (command.kind !== "start-action" || outcome.result !== "done") return [];
  const action = picture.action(command.action.name);
  const claim = action?.spec.claim && picture.claim(action.spec.claim.name);
  // An action that was abandoned at the last look took nothing away.
  if (action?.status.phase !== "Running" || claim === undefined) return [];
  return [disrupted(claim, reasonByAction[action.spec.action])];
}

function ofClaim(claim: ClaimView, command: Extract<Command, { kind: "update-claim" }>, at: Instant): Effect[] {
  const effects: Effect[] = [];
  const nodepool = claim.pool ?? "";
  if (isTrue(command.status?.conditions ?? [], "Drained") && !isTrue(claim.conditions, "Drained")) {
    effects.push({ metric: "nodes_drained_total", labels: { nodepool } });
  }
  if (!command.metadata?.removeFinalizers?.includes(terminationFinalizer)) return effects;
  const labels = { nodepool, capacity_type: capacityTypeOf(claim), zone: claim.zone ?? "" };
  const instanceEndingSince = conditionOf(claim.conditions, "InstanceTerminating")?.since;
  return [
    ...effects,
    { metric: "nodeclaims_terminated_total", labels },
    ...lasted("nodeclaims_termination_duration_seconds", { nodepool, since: claim.deletingSince, at }),
    ...lasted("nodeclaims_instance_termination_duration_seconds", { nodepool, since: instanceEndingSince, at }),
  ];
}

type NodeCommand = Extract<Command, { kind: "update-node" }>;

function ofNode(
  node: NodeView,
  nodepool: string,
  { change, at }: Pick<NodeCommand, "change"> & { at: Instant },
): Effect[] {
  const effects: Effect[] = [];
  if (change.labels?.[registeredKey] === "true" && node.labels[registeredKey] !== "true") {
    effects.push({ metric: "nodes_created_total", labels: { nodepool } });
  }
  if (!change.removeFinalizers?.includes(terminationFinalizer)) return effects;
  return [
    ...effects,
    { metric: "nodes_terminated_total", labels: { nodepool } },
    ...lasted("nodes_termination_duration_seconds", { nodepool, since: node.deletingSince, at }),
    ...lasted("nodes_lifetime_duration_seconds", { nodepool, since: node.createdAt, at }),
  ];
}

type Span = { nodepool: string; since: Instant | undefined; at: Instant };

function lasted(metric: EffectMetric, { nodepool, since, at }: Span): Effect[] {
  // Times on objects are whole seconds of the server's clock: a short span may come out below nothing.
  return since === undefined ? [] : [{ metric, labels: { nodepool }, seconds: Math.max(0, at - since) / 1000 }];
}

function disrupted(claim: ClaimView, reason: string): Effect {
  const labels = { reason, nodepool: claim.pool ?? "", capacity_type: capacityTypeOf(claim) };
  return { metric: "nodeclaims_disrupted_total", labels };
}

function capacityTypeOf({ labels }: ClaimView): string {
  return labels[capacityTypeKey] ?? "";
}

/** Karpenter's words where it has them. */
const reasonByAction: Readonly<Record<NodeActionSpec["action"], string>> = {
  Repair: "unhealthy",
  Remediation: "remediated",
  Expiration: "expired",
  Drift: "drifted",
  Emptiness: "empty",
  Consolidation: "underutilized",
  GarbageCollection: "garbage_collected",
  ScaleDown: "scaled_down",
  Deletion: "deleted",
};

function deletionReason({ conditions }: ClaimView, rule: string): string {
  switch (conditionOf(conditions, "Launched")?.reason) {
    case "InsufficientCapacity":
      return "insufficient_capacity";
    case "NodeClassNotReady":
      return "nodeclass_not_ready";
    default:
      return rule === "garbage" ? reasonByAction.GarbageCollection : reasonByAction.ScaleDown;
  }
}

/** The answer of the eviction API by its code; 0: there was none. */
function codeOf(outcome: Outcome): string {
  switch (outcome.result) {
    case "done":
      return "201";
    case "already-so":
      return "404";
    case "stale":
      return "409";
    case "retry":
      if (outcome.reason === "TooManyRequests") return "429";
      return outcome.reason === "" ? "0" : "500";
    case "refused":
      return "400";
  }
}
