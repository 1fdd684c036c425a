// A day by chance: what people do and what goes wrong in the first twenty hours, and how it is mended after them.

import { type Dice, times } from "./dice.ts";
import { type RandomPool, safetyPolicy } from "./random-pools.ts";
import { squeeze } from "./random-squeeze.ts";
import type { RandomWorkload } from "./random-workloads.ts";
import { type Act, durationMs, type Entry } from "./scenario.ts";

type Scene = { readonly pools: readonly RandomPool[]; readonly workloads: readonly RandomWorkload[] };
export type Day = { readonly timeline: Entry[]; readonly replicasByPool: ReadonlyMap<string, number> };
type Maker = (dice: Dice, scene: Scene) => Act;

const troubleMinutes = 20 * 60;
const mendedAt = "21h";
const mayAt = [1, 5, 10, 60] as const;

const cluster = "fettle.dev/cluster=simulated";
const stuckFinalizer = "example.com/stuck";

const people: readonly Maker[] = [
  (dice, { pools }) => scaled(dice.one(pools), dice.whole(0, 20)),
  (dice, { pools }) => ({ delete: { kind: "NodeClaim", selector: of(dice.one(pools)), count: dice.whole(1, 3) } }),
  (dice, { pools }) => ({ delete: { kind: "Node", selector: of(dice.one(pools)), count: dice.whole(1, 2) } }),
  (dice, { pools }) => ({ cordon: { kind: "Node", selector: of(dice.one(pools)), count: 1 } }),
  (dice, { pools }) => {
    const sickness = dice.one(["silent", "stuck", "Ready=False", "KernelDeadlock=True"]);
    const annotations = { "fettle.dev/simulate": sickness };
    return { annotate: { kind: "Node", selector: of(dice.one(pools)), count: dice.whole(1, 4), annotations } };
  },
  (_, { pools }) => ({ delete: { kind: "NodeClaim", name: `by-hand-${pools.length % 3}` } }),
  () => ({ delete: { kind: "NodeAction", selector: "", count: 1 } }),
  dice => ({ apply: frozen(dice.one(["Everything", "Disruption"])) }),
  dice => ({ apply: safetyPolicy(dice) }),
  () => ({ delete: { kind: "SafetyPolicy", name: "default" } }),
  (dice, { pools }) => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    return { annotate: { kind: "Node", selector: of(dice.one(pools)), count: 1, annotations } };
  },
  (dice, { pools }) => {
    const count = dice.whole(1, pools.length);
    return { delete: { kind: "ConfigMap", namespace: "fettle-simulated", selector: cluster, count } };
  },
  // What the API server takes and only we can judge: such a pool starts nothing.
  (dice, { pools }) => budgeted(dice.one(pools), [{ nodes: "10%", schedule: "99 9 * * *", duration: "1h" }]),
  (dice, { pools }) => ({ delete: { kind: "NodePool", name: dice.one(pools).name } }),
  dice => ({ patch: { kind: "Pod", selector: "", count: dice.whole(1, 3), merge: finalizers([stuckFinalizer]) } }),
  (dice, { pools }) => ({ patch: { kind: "Node", selector: of(dice.one(pools)), count: 2, merge: untainted } }),
];

const faults: readonly Maker[] = [
  dice => ({
    api: {
      fault: dice.one(["TooManyRequests", "InternalError", "Conflict", "LostRequest", "LostAnswer", "Slow"]),
      for: `${dice.one(mayAt)}m`,
      share: dice.one(["100%", "50%", "20%"]),
      ...(dice.isLucky(50) && { resources: [dice.one(["nodeclaims", "nodes", "pods", "nodeactions", "configmaps"])] }),
    },
  }),
  dice => ({
    watch: {
      fault: dice.one(["Delay", "Stall", "Gone", "Drop", "Repeat"]),
      for: `${dice.one(mayAt)}m`,
      ...(dice.isLucky(70) && { resources: [dice.one(["nodes", "nodeclaims", "nodeactions", "pods", "nodepools"])] }),
    },
  }),
  dice => ({
    provider: {
      fault: dice.one(["InsufficientCapacity", "QuotaExceeded", "Throttled", "Unknown", "LostAnswer", "Hang"]),
      for: `${dice.one(mayAt)}m`,
      share: dice.one(["100%", "50%"]),
    },
  }),
  dice => ({ clock: { jump: dice.one(["1h", "-1h", "30s", "-30s"]) } }),
  dice => ({ crash: { atWrite: dice.whole(1, 12), committed: dice.isLucky(50) } }),
  () => ({ crash: {} }),
  dice => ({ pause: { for: dice.one(["10s", "1m", "10m"]) } }),
];

export function randomDay(dice: Dice, scene: Scene): Day {
  const troubles = times(dice.whole(5, 30), () => trouble(dice, scene))
    .flat()
    .sort((a, b) => durationMs(a.at) - durationMs(b.at));
  return {
    timeline: [...troubles, ...mending(scene), ...clockSetRight(troubles)],
    replicasByPool: replicasAfter(scene, troubles),
  };
}

function trouble(dice: Dice, scene: Scene): Entry[] {
  const minute = dice.whole(10, troubleMinutes);
  if (dice.isLucky(8)) return squeeze(dice, scene.pools, minute);
  const maker = dice.one(dice.isLucky(60) ? people : faults);
  return [{ at: `${minute}m${dice.whole(0, 59)}s`, do: maker(dice, scene) }];
}

/** How many each pool wants in the end: as it was last told, and none once it is deleted. */
function replicasAfter({ pools }: Scene, troubles: readonly Entry[]): ReadonlyMap<string, number> {
  const replicasByPool = new Map(pools.map(({ name, replicas }) => [name, replicas]));
  const deleted = new Set<string>();
  for (const { do: act } of troubles) {
    const spec = act.patch?.merge["spec"] as { replicas?: number } | undefined;
    const { name = "" } = act.patch ?? {};
    if (act.patch?.kind === "NodePool" && spec?.replicas !== undefined && !deleted.has(name)) {
      replicasByPool.set(name, spec.replicas);
    }
    if (act.delete?.kind !== "NodePool" || act.delete.name === undefined) continue;
    deleted.add(act.delete.name);
    replicasByPool.set(act.delete.name, 0);
  }
  return replicasByPool;
}

/** Nothing that a person holds back stays held back; what machines do of themselves goes on. */
function mending({ pools, workloads }: Scene): Entry[] {
  const acts: Act[] = [
    { delete: { kind: "SafetyPolicy", name: "default" } },
    {
      annotate: {
        kind: "Node",
        selector: "",
        annotations: { "fettle.dev/simulate": "", "karpenter.sh/do-not-disrupt": "" },
      },
    },
    ...workloads
      .filter(({ hasBudget }) => hasBudget)
      .map(({ name }) => ({ delete: { kind: "PodDisruptionBudget", name } })),
    ...workloads.filter(({ isProtected }) => isProtected).map(unprotected),
    ...pools.map(pool => budgeted(pool, null)),
    { patch: { kind: "Pod", selector: "", merge: finalizers(null) } },
  ];
  return acts.map(act => ({ at: mendedAt, do: act }));
}

/** What is written down by a clock that is hours behind lasts hours longer. */
function clockSetRight(troubles: readonly Entry[]): Entry[] {
  const offMs = troubles.reduce((sum, { do: act }) => sum + (act.clock ? durationMs(act.clock.jump) : 0), 0);
  return offMs === 0 ? [] : [{ at: mendedAt, do: { clock: { jump: `${-offMs / 1000}s` } } }];
}

function unprotected({ name, kind }: RandomWorkload): Act {
  const annotations = { "karpenter.sh/do-not-disrupt": null };
  return { patch: { kind, name, merge: { spec: { template: { metadata: { annotations } } } } } };
}

function scaled({ name }: RandomPool, replicas: number): Act {
  return { patch: { kind: "NodePool", name, merge: { spec: { replicas } } } };
}

function budgeted({ name }: RandomPool, budgets: unknown): Act {
  return { patch: { kind: "NodePool", name, merge: { spec: { disruption: { budgets } } } } };
}

function finalizers(names: readonly string[] | null): Record<string, unknown> {
  return { metadata: { finalizers: names } };
}

const untainted = { spec: { taints: null } };

function of({ name }: RandomPool): string {
  return `karpenter.sh/nodepool=${name}`;
}

function frozen(scope: string) {
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    metadata: { name: "default" },
    spec: { freeze: { reason: "somebody is nervous", scope, until: "2026-01-01T18:00:00Z" } },
  };
}
