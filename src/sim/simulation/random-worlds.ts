// Scenarios by chance: clusters of 3 to 60 nodes, policies, workloads, and a day on which people and faults do what they
// do. In the last hours everything heals, so that what must come to rest can be seen to.

import type { Manifest } from "../../api/meta.ts";
import { type Dice, diceOf, times } from "./dice.ts";
import { randomCheck } from "./random-checks.ts";
import { type Day, randomDay } from "./random-day.ts";
import { randomDisruption } from "./random-disruption.ts";
import { randomOutages } from "./random-outages.ts";
import { nodeClass, type RandomPool, randomPool, safetyPolicy } from "./random-pools.ts";
import { randomWorkload } from "./random-workloads.ts";
import { durationMs, type Expectation, type Scenario, type UnmanagedNode } from "./scenario.ts";

const nodesMax = 60;
/** Chance of its own: with pods placed as planned or by the scheduler, the rest of a world is the same. */
const placementPurpose = 0x91ace;

/** `isDisrupted`: with planned disruption on, and what gives it something to do. */
export function randomWorld(seed: number, { isDisrupted = false } = {}): Scenario {
  const dice = diceOf(seed);
  const pools = randomPools(dice);
  const workloads = times(dice.whole(1, 5), index => randomWorkload(dice, index));
  const day = randomDay(dice, { pools, workloads });
  const policy = dice.isLucky(50) ? [safetyPolicy(dice)] : [];
  const check = randomCheck(seed, pools);
  const plans = isDisrupted ? randomDisruption(seed, pools) : undefined;
  const podPlacement = diceOf(seed ^ placementPurpose).isLucky(30) ? { podPlacement: "Planned" } : {};
  return {
    title: `A world by chance, from the seed ${seed}`,
    seed,
    until: "24h",
    controller: { disruption: isDisrupted },
    cluster: {
      manifests: [
        ...classes(dice),
        ...policy,
        ...pools.map(({ manifest }) => ({ ...manifest, spec: { ...podPlacement, ...(manifest["spec"] as object) } })),
        ...handMade(dice),
        ...check.manifests,
        ...(plans?.manifests ?? []),
      ],
      nodes: strangers(dice),
    },
    workloads: [...workloads.flatMap(({ manifests }) => manifests), ...(plans?.workloads ?? [])],
    timeline: [...day.timeline, ...check.timeline, ...randomOutages(seed), ...(plans?.timeline ?? [])].toSorted(
      (a, b) => durationMs(a.at) - durationMs(b.at),
    ),
    expect: pools.map(pool => atRest(pool, day)),
  };
}

function randomPools(dice: Dice): RandomPool[] {
  // Small ones find as much in less time, and are drawn more often.
  let left = dice.whole(3, dice.one([12, 25, nodesMax]));
  return times(dice.whole(1, 4), index => {
    const replicas = Math.max(1, Math.min(left, dice.whole(1, nodesMax)));
    left = Math.max(1, left - replicas);
    return randomPool(dice, index, replicas);
  });
}

function classes(dice: Dice): Manifest[] {
  return [nodeClass(dice, "default", 0), nodeClass(dice, "flawed", dice.whole(1, 2))];
}

function handMade(dice: Dice): Manifest[] {
  return times(dice.whole(0, 3), index => ({
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: `by-hand-${index}` },
    spec: {
      nodeClassRef: { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" },
      requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["s-4x-amd64-linux"] }],
    },
  }));
}

function strangers(dice: Dice): UnmanagedNode[] {
  return dice.isLucky(40) ? [{ name: "stranger", count: dice.whole(1, 4), zone: "test-zone-a" }] : [];
}

/** A claim that still goes is not one of the pool's any more; one that cannot go says why, as every run checks. */
function atRest({ name }: RandomPool, { replicasByPool }: Day): Expectation {
  const selector = `karpenter.sh/nodepool=${name}`;
  const is = replicasByPool.get(name) ?? 0;
  return { count: { kind: "NodeClaim", selector, where: { "metadata.deletionTimestamp": "" }, is } };
}
