// What is measured at the moment somebody asks: how the cluster, the nodes, the caps, the shell and the watches stand.

import { budgetFamilies } from "./budget-families.ts";
import { checkFamilies } from "./check-families.ts";
import { clusterFamilies } from "./cluster-families.ts";
import { disruptionFamilies } from "./disruption-families.ts";
import type { Family } from "./family.ts";
import type { MetricsOptions, Of } from "./measured.ts";
import { nodeFamilies } from "./node-families.ts";
import { podFamilies } from "./pod-families.ts";
import { safetyFamilies } from "./safety-families.ts";
import { shellFamilies } from "./shell-families.ts";

export function families({ version, settings, now, measured, watches }: MetricsOptions): Family[] {
  const of: Of = read =>
    function* () {
      const { picture, counts, runningCount, waitingCount, epoch, health } = measured();
      const refusals = () => measured().refusals();
      yield* read({ picture, counts, runningCount, waitingCount, epoch, health, refusals, settings, now: now() });
    };
  return [
    ...clusterFamilies(of),
    ...nodeFamilies(of),
    ...podFamilies(of),
    ...safetyFamilies(of),
    ...budgetFamilies(of),
    ...disruptionFamilies(of),
    ...checkFamilies(of),
    ...shellFamilies(of),
    {
      name: "karpenter_cluster_state_synced",
      help: "1 once every kind has been listed and watched.",
      type: "gauge",
      samples: () => [{ value: Number(watches().every(({ isSynced }) => isSynced)) }],
    },
    {
      name: "fettle_watch_age_seconds",
      help: "Since the last event or bookmark of a kind; bookmarks come every minute.",
      type: "gauge",
      labels: ["resource"],
      samples: () => watches().map(({ resource, ageMs }) => ({ labels: { resource }, value: ageMs / 1000 })),
    },
    {
      name: "fettle_build_info",
      help: "Always 1; its label says which version runs.",
      type: "gauge",
      labels: ["version"],
      samples: () => [{ labels: { version }, value: 1 }],
    },
  ];
}
