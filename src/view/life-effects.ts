// What a command does to the nodes of a cluster, in the words of Karpenter's metrics (v1): so that boards and alerts
// made for it keep working. Pure; whoever counts does so once the command has ended well.

import { plannedActions } from "../api/budget.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { capacityTypeKey, nodePoolKey } from "../api/node.ts";
import { apiVersionOf } from "../api/meta.ts";
import { type Instant, parseDuration } from "../api/time.ts";
import { registeredKey, terminationFinalizer } from "../api/well-known.ts";
import { conditionOf, isTrue } from "../decide/conditions.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { isDryRun } from "../decide/ledger.ts";
import type { MoveScore } from "../snapshot/moves.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";

export type Effect = {
  readonly metric: EffectMetric;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a duration, or what else is measured. */
  readonly seconds?: number;
  /** Of a count; absent: one. */
  readonly amount?: number;
};

export type EffectMetric =
  | "karpenter_nodeclaims_created_total"
  | "karpenter_nodeclaims_terminated_total"
  | "karpenter_nodeclaims_unhealthy_disrupted_total"
  | "karpenter_nodeclaims_disrupted_total"
  | "karpenter_nodeclaims_termination_duration_seconds"
  | "karpenter_nodeclaims_instance_termination_duration_seconds"
  | "karpenter_nodes_created_total"
  | "karpenter_nodes_drained_total"
  | "karpenter_nodes_terminated_total"
  | "karpenter_nodes_termination_duration_seconds"
  | "karpenter_nodes_lifetime_duration_seconds"
  | "karpenter_voluntary_disruption_decision_evaluation_duration_seconds"
  | "karpenter_voluntary_disruption_decisions_total"
  | "karpenter_voluntary_disruption_decisions_by_nodepool_total"
  | "karpenter_voluntary_disruption_queue_failures_total"
  | "karpenter_voluntary_disruption_failed_validations_total"
  | "karpenter_voluntary_disruption_consolidation_timeouts_total"
  | "karpenter_consolidation_score"
  | "karpenter_consolidation_moves_total"
  | "karpenter_pods_eviction_requests_total"
  | "karpenter_pods_disruption_initiated_total"
  | "karpenter_pods_drained_total"
  | "fettle_readiness_timeouts_total"
  | "fettle_nodeclaims_reached_seconds"
  | "nodehealthcheck_unhealthy_node_duration_seconds"
  | "fettle_action_duration_seconds";

type Decided = { readonly rule: string; readonly command: Command; readonly at: Instant };

/** Judged when the command is decided, since afterwards its object may be gone. */
export function effectsOf({ rule, command, at }: Decided, picture: Picture): readonly Effect[] {
  switch (command.kind) {
    case "create-claim": {
      const nodepool = command.manifest.metadata.labels?.[nodePoolKey] ?? "";
      const labels = { reason: rule, nodepool, min_values_relaxed: "false" };
      return [{ metric: "karpenter_nodeclaims_created_total", labels }];
    }
    case "delete-claim": {
      const claim = picture.claim(command.claim.name);
      if (claim === undefined) return [];
      return [
        disrupted(claim, deletionReason(claim, rule), picture),
        ...(rule === "readiness" ? [timedOut(claim)] : []),
      ];
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
    case "launch-instance": {
      const claim = picture.claim(command.claim.name);
      return claim === undefined ? [] : reached(claim, "Launched", at);
    }
    case "open-action":
      return command.phase === "DryRun" ? [] : decided(command.spec, picture);
    case "update-action": {
      const action = picture.action(command.action.name);
      return action === undefined ? [] : [...ofAction(action, command, at), ...givenUp(action, command, picture)];
    }
    case "delete-remediation":
      return ofRemediation(command, picture, at);
    case "evict-pod":
    case "delete-pod": {
      const pod = picture.pod(command.pod.namespace, command.pod.name);
      // One that stops already was counted when it was told to.
      if (pod === undefined || pod.deletionAt !== undefined) return [];
      return [{ metric: "karpenter_pods_drained_total", labels: { reason: reasonOf(pod.nodeName, picture) } }];
    }
    default:
      return [];
  }
}

/** What only the end of a command can tell. */
export function effectsOfEnd(command: Command, outcome: Outcome, picture: Picture): readonly Effect[] {
  if (command.kind === "evict-pod") {
    return [{ metric: "karpenter_pods_eviction_requests_total", labels: { code: codeOf(outcome) } }];
  }
  if (command.kind === "search") return evaluated(outcome);
  if (command.kind !== "start-action" || outcome.result !== "done") return [];
  const action = picture.action(command.action.name);
  const claim = action?.spec.claim && picture.claim(action.spec.claim.name);
  // An action that was abandoned at the last look took nothing away.
  if (action?.status.phase !== "Running" || claim === undefined) return [];
  // The claim and its pods outlive a reboot.
  if (action.spec.method !== "Terminate") return [];
  const reason = reasonByAction[action.spec.action];
  const pods = [...picture.podsOn(action.spec.node.name)].length;
  return [
    disrupted(claim, reason, picture),
    ...(action.spec.action === "Repair" ? [unhealthy(claim, action), ...neverReady(claim, action)] : []),
    { metric: "karpenter_pods_disruption_initiated_total", labels: { reason }, amount: pods },
  ];
}

/** One search answers for all of them. */
function evaluated(outcome: Outcome): Effect[] {
  if (outcome.result !== "done" || outcome.tookMs === undefined) return [];
  const labels = { reason: "all", consolidation_type: "all" };
  const metric = "karpenter_voluntary_disruption_decision_evaluation_duration_seconds";
  const scores = (outcome.scores ?? []).flatMap(scored);
  const effects: Effect[] = [{ metric, labels, seconds: outcome.tookMs / 1000 }, ...scores];
  if (outcome.isCutShort !== true) return effects;
  const type = { consolidation_type: "all" };
  return [...effects, { metric: "karpenter_voluntary_disruption_consolidation_timeouts_total", labels: type }];
}

function scored({ pool, score, isApproved }: MoveScore): readonly Effect[] {
  const labels = { decision: isApproved ? "approved" : "rejected", nodepool: pool, policy: "Balanced" };
  return [
    { metric: "karpenter_consolidation_score", labels, seconds: score },
    { metric: "karpenter_consolidation_moves_total", labels },
  ];
}

function ofClaim(claim: ClaimView, command: Extract<Command, { kind: "update-claim" }>, at: Instant): Effect[] {
  const nodepool = claim.pool ?? "";
  const comesTrue = (type: string) => isTrue(command.status?.conditions ?? [], type) && !isTrue(claim.conditions, type);
  const effects: Effect[] = (["Registered", "Initialized"] as const).flatMap(type =>
    comesTrue(type) ? reached(claim, type, at) : [],
  );
  if (comesTrue("Drained")) effects.push({ metric: "karpenter_nodes_drained_total", labels: { nodepool } });
  if (!command.metadata?.removeFinalizers?.includes(terminationFinalizer)) return effects;
  const labels = { nodepool, capacity_type: capacityTypeOf(claim), zone: claim.zone ?? "" };
  const instanceEndingSince = conditionOf(claim.conditions, "InstanceTerminating")?.since;
  return [
    ...effects,
    { metric: "karpenter_nodeclaims_terminated_total", labels },
    ...lasted("karpenter_nodeclaims_termination_duration_seconds", { nodepool, since: claim.deletingSince, at }),
    ...lasted("karpenter_nodeclaims_instance_termination_duration_seconds", {
      nodepool,
      since: instanceEndingSince,
      at,
    }),
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
    effects.push({ metric: "karpenter_nodes_created_total", labels: { nodepool } });
  }
  if (!change.removeFinalizers?.includes(terminationFinalizer)) return effects;
  return [
    ...effects,
    { metric: "karpenter_nodes_terminated_total", labels: { nodepool } },
    ...lasted("karpenter_nodes_termination_duration_seconds", { nodepool, since: node.deletingSince, at }),
    ...lasted("karpenter_nodes_lifetime_duration_seconds", { nodepool, since: node.createdAt, at }),
  ];
}

/** From a claim's creation. */
function reached(claim: ClaimView, condition: "Launched" | "Registered" | "Initialized", at: Instant): Effect[] {
  const labels = { nodepool: claim.pool ?? "", condition };
  return [{ metric: "fettle_nodeclaims_reached_seconds", labels, seconds: secondsBetween(claim.createdAt, at) }];
}

function ofAction(action: ActionView, command: Extract<Command, { kind: "update-action" }>, at: Instant): Effect[] {
  const { phase } = command.progress ?? {};
  const isEnd = phase === "Done" || phase === "Failed" || phase === "Abandoned";
  if (!isEnd || isDryRun(action)) return [];
  const labels = { action: action.spec.action, phase };
  return [{ metric: "fettle_action_duration_seconds", labels, seconds: secondsBetween(action.createdAt, at) }];
}

/** Nodes that were decided on as one count once, with the first of them, and once for each pool that they are of. */
function decided(spec: NodeActionSpec, picture: Picture): Effect[] {
  const move = picture.moveOf(spec.node.uid);
  const nodes = move === undefined || move.batch !== spec.batch ? [spec.node] : move.nodes;
  if (!isPlan(spec) || nodes[0]?.uid !== spec.node.uid) return [];
  const labels = planLabels(spec, nodes.length);
  const claims = nodes.flatMap(({ name }) => picture.node(name) ?? []).map(node => picture.claimOf(node));
  const pools = new Set([spec.askedBy.name, ...claims.flatMap(claim => claim?.pool ?? [])]);
  const byPool = [...pools].map((nodepool): Effect => {
    return { metric: "karpenter_voluntary_disruption_decisions_by_nodepool_total", labels: { nodepool, ...labels } };
  });
  return [{ metric: "karpenter_voluntary_disruption_decisions_total", labels }, ...byPool];
}

function givenUp(
  action: ActionView,
  { progress }: Extract<Command, { kind: "update-action" }>,
  picture: Picture,
): Effect[] {
  const { name, spec, status } = action;
  if (!isPlan(spec) || progress?.phase !== "Abandoned" || status.startedAt !== undefined) return [];
  const batch = picture.actionsOfBatch(spec.batch ?? "").filter(one => !isDryRun(one));
  const labels = planLabels(spec, batch.length);
  const invalid = hasReplacements(action, picture) ? [refuted(labels)] : [];
  if (batch.length > 0 && batch[0]?.name !== name) return invalid;
  return [...invalid, { metric: "karpenter_voluntary_disruption_queue_failures_total", labels }];
}

/** Counted for each node, as Karpenter has it. */
function refuted({ consolidation_type = "" }: Effect["labels"]): Effect {
  return { metric: "karpenter_voluntary_disruption_failed_validations_total", labels: { consolidation_type } };
}

/** All that it asked for has come: what gave it up is the second look. */
function hasReplacements({ spec }: ActionView, picture: Picture): boolean {
  return (spec.replacements ?? []).every(({ name }) => {
    const claim = picture.claim(name);
    return claim !== undefined && claim.deletingSince === undefined && isTrue(claim.conditions, "Initialized");
  });
}

function isPlan({ action, askedBy }: NodeActionSpec): boolean {
  return askedBy.kind === "NodePool" && (plannedActions as readonly string[]).includes(action);
}

function planLabels({ action, replacements = [] }: NodeActionSpec, nodeCount: number): Effect["labels"] {
  const manner = { Emptiness: "empty", Consolidation: nodeCount > 1 ? "multi" : "single" } as Record<string, string>;
  return {
    decision: replacements.length > 0 ? "replace" : "delete",
    reason: reasonByAction[action],
    consolidation_type: manner[action] ?? "",
  };
}

function ofRemediation(
  { remediation: { resource, name, namespace } }: Extract<Command, { kind: "delete-remediation" }>,
  picture: Picture,
  at: Instant,
): Effect[] {
  const { kind } = resource;
  const object = { apiVersion: apiVersionOf(resource), kind, name, ...(namespace === undefined ? {} : { namespace }) };
  const made = picture.checks.remediation(object);
  if (made === undefined) return [];
  const seconds = secondsBetween(made.createdAt, at);
  return [{ metric: "nodehealthcheck_unhealthy_node_duration_seconds", labels: { remediation: kind }, seconds }];
}

/** Why a node's pods are moved. */
function reasonOf(nodeName: string | undefined, picture: Picture): string {
  const node = nodeName === undefined ? undefined : picture.node(nodeName);
  const action = node && picture.openActionOn(node.uid);
  return reasonByAction[action?.spec.action ?? "Deletion"];
}

type Span = { nodepool: string; since: Instant | undefined; at: Instant };

function lasted(metric: EffectMetric, { nodepool, since, at }: Span): Effect[] {
  return since === undefined ? [] : [{ metric, labels: { nodepool }, seconds: secondsBetween(since, at) }];
}

function secondsBetween(since: Instant, at: Instant): number {
  // Times on objects are whole seconds of the server's clock: a short span may come out below nothing.
  return Math.max(0, at - since) / 1000;
}

function disrupted(claim: ClaimView, reason: string, picture: Picture): Effect {
  const pool = claim.pool === undefined ? undefined : picture.pool(claim.pool);
  const labels = {
    reason,
    nodepool: claim.pool ?? "",
    capacity_type: capacityTypeOf(claim),
    consolidation_policy: pool?.effective.disruption.consolidationPolicy ?? "",
    termination_mode: terminationModeOf(claim),
  };
  return { metric: "karpenter_nodeclaims_disrupted_total", labels };
}

/** By the claim's own grace alone, as Karpenter has it. */
function terminationModeOf({ spec: { terminationGracePeriod } }: ClaimView): "graceful" | "forceful" | "eventual" {
  if (terminationGracePeriod === undefined) return "graceful";
  const parsed = parseDuration(terminationGracePeriod);
  return parsed.ok && parsed.value <= 0 ? "forceful" : "eventual";
}

function unhealthy(claim: ClaimView, { spec }: ActionView): Effect {
  const labels = {
    condition: spec.evidence[0]?.conditionType ?? "",
    nodepool: claim.pool ?? "",
    capacity_type: capacityTypeOf(claim),
    image_id: claim.status.imageID ?? "",
  };
  return { metric: "karpenter_nodeclaims_unhealthy_disrupted_total", labels };
}

/** How far it was when its readinessTTL ended. */
function timedOut(claim: ClaimView, stage = claim.providerID === undefined ? "launch" : "registration"): Effect {
  return { metric: "fettle_readiness_timeouts_total", labels: { nodepool: claim.pool ?? "", stage } };
}

function neverReady(claim: ClaimView, { spec }: ActionView): Effect[] {
  return spec.evidence[0]?.kind === "NeverReady" ? [timedOut(claim, "ready")] : [];
}

function capacityTypeOf({ labels }: ClaimView): string {
  return labels[capacityTypeKey] ?? "";
}

/** Karpenter's words where it has them. */
export const reasonByAction: Readonly<Record<NodeActionSpec["action"], string>> = {
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

function deletionReason({ conditions, providerID }: ClaimView, rule: string): string {
  if (rule === "readiness") return providerID === undefined ? "launch_timeout" : "registration_timeout";
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
