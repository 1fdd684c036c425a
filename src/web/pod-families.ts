// Pods that want a node: how many wait for a search, how many are expected somewhere, and how many can go nowhere.

import type { Family } from "./family.ts";
import type { Of } from "./measured.ts";

export function podFamilies(of: Of): Family[] {
  return [
    {
      name: "karpenter_scheduler_queue_depth",
      help: "Pods that want a node and wait for a search.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.pending.batchCount }]),
    },
    {
      name: "karpenter_scheduler_unschedulable_pods_count",
      help: "Pods that want a node and can go nowhere, by the last search.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.pending.stuckCount }]),
    },
    {
      name: "fettle_pods_expected",
      help: "Pods that want a node and are expected on a node or claim that has room for them.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.pending.expectedCount }]),
    },
  ];
}
