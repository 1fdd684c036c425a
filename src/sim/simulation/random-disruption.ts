// Planned disruption by chance: a pool that follows its pods, whose deployments are scaled up and down, templates that
// change, also of pools with replicas, and budgets that people edit while all that runs.

import type { Manifest } from "../../api/meta.ts";
import { type Dice, diceOf, times } from "./dice.ts";
import type { RandomPool } from "./random-pools.ts";
import type { Act, Entry } from "./scenario.ts";

type RandomDisruption = {
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Manifest[];
  readonly timeline: readonly Entry[];
};

/** Chance of its own: the rest of a world is the same with it or without. */
const purpose = 0xd15;
const name = "flex";
const image = "example.com/image";
const mendedAt = "21h";
const troubleMinutes = 20 * 60;
/** Late enough that a large pool has been exchanged before the end, by a tenth at a time. */
const exchangedMinutes = 12 * 60;

export function randomDisruption(seed: number, pools: readonly RandomPool[]): RandomDisruption {
  const dice = diceOf(seed ^ purpose);
  const apps = times(dice.whole(1, 3), index => `${name}-${index}`);
  return {
    manifests: [pool(dice)],
    workloads: apps.flatMap(app => [deployment(dice, app), ...(dice.isLucky(40) ? [budget(dice, app)] : [])]),
    timeline: [
      ...times(dice.whole(3, 10), () => sometime(dice, troubleMinutes, scaled(dice, dice.one(apps)))),
      ...times(dice.whole(0, 3), () => sometime(dice, troubleMinutes, otherImage(dice, name))),
      ...times(dice.whole(0, 2), () => sometime(dice, exchangedMinutes, otherImage(dice, dice.one(pools).name))),
      ...times(dice.whole(0, 3), () => sometime(dice, troubleMinutes, budgeted(dice.one(budgets)))),
      ...apps.map(app => ({ at: mendedAt, do: { delete: { kind: "PodDisruptionBudget", name: app } } })),
      { at: mendedAt, do: budgeted(null) },
    ],
  };
}

const budgets = [
  [{ nodes: "100%" }],
  [{ nodes: 1 }],
  [{ nodes: "30%" }, { nodes: "0", action: "Drift", schedule: "0 6 * * *", duration: "6h" }],
  [{ nodes: "50%" }, { nodes: "0", schedule: "0 9 * * *", duration: "2h" }],
] as const;

function pool(dice: Dice): Manifest {
  const disruption = {
    consolidationPolicy: dice.one(["WhenUnderutilized", "WhenUnderutilized", "WhenEmpty", "Balanced"]),
    consolidateAfter: dice.one(["0s", "30s", "5m"]),
    budgets: dice.one(budgets),
    ...(dice.isLucky(30) && { minSavings: "10%" }),
  };
  const spec = {
    nodeClassRef: { group: "fettle.dev", kind: "SimulatedNodeClass", name: dice.isLucky(80) ? "default" : "flawed" },
    requirements: [
      { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
      { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
      { key: "fettle.dev/instance-cpu", operator: "Lt", values: ["9"] },
    ],
    expireAfter: dice.one(["Never", "2h", "7h"]),
    ...(dice.isLucky(40) && { terminationGracePeriod: dice.one(["1m", "30m"]) }),
  };
  const metadata = { labels: { [name]: "true", [image]: "first" } };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { disruption, template: { metadata, spec } },
  };
}

function deployment(dice: Dice, app: string): Manifest {
  const requests = { cpu: dice.one(["300m", "700m", "1500m"]), memory: dice.one(["256Mi", "1Gi", "3Gi"]) };
  const containers = [{ name: "main", image: "main", resources: { requests } }];
  const template = { metadata: { labels: { app } }, spec: { containers, nodeSelector: { [name]: "true" } } };
  const spec = { replicas: dice.whole(1, 12), selector: { matchLabels: { app } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: app, namespace: "default" }, spec };
}

function budget(dice: Dice, app: string): Manifest {
  const spec = { maxUnavailable: dice.one([0, 1, "50%"]), selector: { matchLabels: { app } } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app, namespace: "default" }, spec };
}

function sometime(dice: Dice, beforeMinutes: number, act: Act): Entry {
  return { at: `${dice.whole(10, beforeMinutes)}m${dice.whole(0, 59)}s`, do: act };
}

function scaled(dice: Dice, app: string): Act {
  return { patch: { kind: "Deployment", name: app, merge: { spec: { replicas: dice.whole(0, 15) } } } };
}

function otherImage(dice: Dice, pool: string): Act {
  const labels = { [image]: dice.one(["second", "third", "fourth"]) };
  return { patch: { kind: "NodePool", name: pool, merge: { spec: { template: { metadata: { labels } } } } } };
}

function budgeted(to: (typeof budgets)[number] | null): Act {
  return { patch: { kind: "NodePool", name, merge: { spec: { disruption: { budgets: to } } } } };
}
