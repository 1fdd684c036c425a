// What is counted when a command has ended well: the lives of claims, nodes and pods, under Karpenter's names where it has
// them.

import type { EffectMetric } from "../view/life-effects.ts";

export type Life = { readonly help: string; readonly labels: readonly string[]; readonly buckets?: readonly number[] };

const longBuckets = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];
const searchBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120];
/** Around 0.5, from which on a Balanced pool approves. */
const scoreBuckets = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2, 5, 10];
/** As medik8s has them, so that its boards go on working. */
const remediationBuckets = [30, 60, 120, 180, 240, 300, 600, 1_200, 2_400, 3_600];
const lifetimeBuckets = [60, 600, 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400, 90 * 86_400];

export const lives: Readonly<Record<EffectMetric, Life>> = {
  karpenter_nodeclaims_created_total: { help: "Claims created.", labels: ["reason", "nodepool", "min_values_relaxed"] },
  karpenter_nodeclaims_terminated_total: {
    help: "Claims gone for good.",
    labels: ["nodepool", "capacity_type", "zone"],
  },
  karpenter_nodeclaims_disrupted_total: {
    help: "Claims that were deleted by the controller, by reason.",
    labels: ["reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"],
  },
  karpenter_nodeclaims_unhealthy_disrupted_total: {
    help: "Claims whose node was repaired, by the condition that was due first.",
    labels: ["condition", "nodepool", "capacity_type", "image_id"],
  },
  karpenter_nodeclaims_termination_duration_seconds: {
    help: "From a claim's deletion to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  karpenter_nodeclaims_instance_termination_duration_seconds: {
    help: "From asking for an instance's end to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  karpenter_nodes_created_total: { help: "Nodes registered.", labels: ["nodepool"] },
  karpenter_nodes_drained_total: { help: "Nodes drained.", labels: ["nodepool"] },
  karpenter_nodes_terminated_total: { help: "Nodes gone for good.", labels: ["nodepool"] },
  karpenter_nodes_termination_duration_seconds: {
    help: "From a node's deletion to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  karpenter_nodes_lifetime_duration_seconds: {
    help: "From a node's creation to its end.",
    labels: ["nodepool"],
    buckets: lifetimeBuckets,
  },
  karpenter_voluntary_disruption_decision_evaluation_duration_seconds: {
    help: "How long a search for where the pods of nodes that may go would run took, pauses for other work included; one search answers for all reasons.",
    labels: ["reason", "consolidation_type"],
    buckets: searchBuckets,
  },
  karpenter_voluntary_disruption_decisions_total: {
    help: "Decisions to take nodes away by our own choice, those that go as one counted once.",
    labels: ["decision", "reason", "consolidation_type"],
  },
  karpenter_voluntary_disruption_decisions_by_nodepool_total: {
    help: "The same, once for each pool that the nodes are of.",
    labels: ["nodepool", "decision", "reason", "consolidation_type"],
  },
  karpenter_voluntary_disruption_queue_failures_total: {
    help: "Such decisions that were given up before any of their nodes began to go.",
    labels: ["decision", "reason", "consolidation_type"],
  },
  karpenter_voluntary_disruption_failed_validations_total: {
    help: "Nodes that stayed by the second look, when all that was to be launched for them was there.",
    labels: ["consolidation_type"],
  },
  karpenter_voluntary_disruption_consolidation_timeouts_total: {
    help: "Searches that ended before every node was judged, since pods wanted a node; the others are asked about again.",
    labels: ["consolidation_type"],
  },
  karpenter_consolidation_score: {
    help: "What moves for money were worth in pools with the policy Balanced: the share of the pool's price that each saves, for the share of its pods and nodes that it disturbs.",
    labels: ["decision", "nodepool", "policy"],
    buckets: scoreBuckets,
  },
  karpenter_consolidation_moves_total: {
    help: "Moves for money that were weighed in such pools, by whether they were worth it.",
    labels: ["decision", "nodepool", "policy"],
  },
  karpenter_pods_eviction_requests_total: { help: "Evictions asked for, by the answer's code.", labels: ["code"] },
  karpenter_pods_disruption_initiated_total: {
    help: "Pods on nodes when these began to be taken away, by reason.",
    labels: ["reason"],
  },
  karpenter_pods_drained_total: { help: "Pods evicted or deleted from nodes that go, by reason.", labels: ["reason"] },
  fettle_readiness_timeouts_total: {
    help: "Claims whose readinessTTL ended before their launch, their registration, or the first Ready of their node.",
    labels: ["nodepool", "stage"],
  },
  fettle_nodeclaims_reached_seconds: {
    help: "From a claim's creation until it was Launched, Registered or Initialized.",
    labels: ["nodepool", "condition"],
    buckets: longBuckets,
  },
  nodehealthcheck_unhealthy_node_duration_seconds: {
    help: "From a remediation's creation to its removal, by its kind.",
    labels: ["remediation"],
    buckets: remediationBuckets,
  },
  fettle_action_duration_seconds: {
    help: "From an action's opening to its end, by what it does and how it ended.",
    labels: ["action", "phase"],
    buckets: longBuckets,
  },
};
