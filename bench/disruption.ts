// What consolidation makes of fragmented clusters, beside a model of Karpenter's passes: price, moves, pods moved, time.
// And how a cluster on a real control plane shrinks.
//   npm run bench -- disruption [peer] [quality] [speed] [shrink]

import { loadavg } from "node:os";
import { floorOf } from "../src/decide/packing/floor.ts";
import { emptyProblem } from "../src/decide/packing/problem.ts";
import { consolidate } from "../src/decide/disruption/consolidation/consolidate.ts";
import type { Question, Verdict } from "../src/decide/disruption/consolidation/question.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { buildFettle } from "../test/spine/fettle-process.ts";
import { shrink } from "./disruption-shrink.ts";
import { type FragmentedCluster, fragmented, poolName } from "./fragmented-cluster.ts";
import { consolidateAsPeer } from "./peer-consolidation.ts";
import { threadCpuMs } from "./thread-cpu.ts";

/** The most work and time of one slice, as the controller has them. */
const sliceWork = 2_500;
const sliceMs = 8;
const roundsMax = 20;
/** Whatever is chosen in consolidation must not be chosen for one of them. */
const seeds = [1, 2, 3, 4, 5];

const words = process.argv.slice(2);
const isAsked = (part: string) => words.length === 0 || words.includes(part);

if (isAsked("quality")) {
  const sizes = [100, 500, 1_000].filter(size => !words.some(word => /^\d+$/.test(word)) || words.includes(`${size}`));
  console.table(sizes.flatMap(quality));
}
if (isAsked("speed")) console.table([judged(1_000), judged(5_000)]);
if (isAsked("shrink") && !isUnavailable("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")) {
  await buildFettle();
  console.log(`Shrinking on a real control plane; load ${loadavg()[0]?.toFixed(1)}`);
  console.table(await shrink());
}

function quality(nodeCount: number): object[] {
  return seeds.flatMap(seed => qualityOf(nodeCount, seed));
}

function qualityOf(nodeCount: number, seed: number): object[] {
  const floor = floorFor(fragmented(nodeCount, { seed }));
  const ours = row(`ours, seed ${seed}`, fragmented(nodeCount, { seed }), { course: consolidateInRounds, floor });
  if (!isAsked("peer")) return [ours];
  return [ours, row("model of the peer", fragmented(nodeCount, { seed }), { course: consolidateAsPeer, floor })];
}

type Course = (cluster: FragmentedCluster) => { readonly commands: number; readonly podsMoved: number };

function row(who: string, cluster: FragmentedCluster, { course, floor }: { course: Course; floor: number }): object {
  const [nodes, before, pods] = [cluster.machineByName.size, cluster.price, cluster.pods().length];
  const start = process.cpuUsage();
  const { commands, podsMoved } = course(cluster);
  const { user, system } = process.cpuUsage(start);
  return {
    who,
    nodes,
    pods,
    "$/h before": round(before),
    "$/h after": round(cluster.price),
    "resource bound": round(floor),
    "nodes after": cluster.machineByName.size,
    moves: commands,
    "pods moved": podsMoved,
    "pods for each $/h saved": round(podsMoved / (before - cluster.price)),
    "CPU s": round((user + system) / 1e6),
  };
}

/** Until nothing more is found, as the controller would go on. */
function consolidateInRounds(cluster: FragmentedCluster): { commands: number; podsMoved: number } {
  let [commands, podsMoved] = [0, 0];
  for (let round = 0; round < roundsMax; round++) {
    const { savings } = inSlices(cluster).verdict;
    if (savings.length === 0) break;
    for (const { nodes, newNodes, places, podCount } of savings) {
      cluster.apply(nodes, newNodes, places);
      commands++;
      podsMoved += podCount;
    }
  }
  return { commands, podsMoved };
}

function judged(nodeCount: number): object {
  const cluster = fragmented(nodeCount, { seed: 1, podsPerNode: 36, kept: 0.99 });
  const start = process.cpuUsage();
  const { verdict, longestMs, slices } = inSlices(cluster);
  const { user, system } = process.cpuUsage(start);
  return {
    nodes: nodeCount,
    pods: cluster.pods().length,
    savings: verdict.savings.length,
    stays: verdict.stays.size,
    "CPU s": round((user + system) / 1e6),
    slices,
    "longest slice, CPU ms": round(longestMs),
  };
}

function inSlices(cluster: FragmentedCluster): { verdict: Verdict; longestMs: number; slices: number } {
  const effort = { work: 0 };
  const run = consolidate(cluster.picture, questionOf(cluster), { effort, isStopped: () => false });
  let [longestMs, slices] = [0, 0];
  for (;;) {
    const [startedAt, end, endsAt] = [threadCpuMs(), effort.work + sliceWork, performance.now() + sliceMs];
    slices++;
    while (effort.work < end && performance.now() < endsAt) {
      const { done, value } = run.next();
      if (done === true) return { verdict: value, longestMs, slices };
    }
    longestMs = Math.max(longestMs, threadCpuMs() - startedAt);
  }
}

function questionOf(cluster: FragmentedCluster): Question {
  const machines = [...cluster.machineByName.values()];
  const disturbanceOf = (name: string) => 1 + cluster.podCountOn(name);
  const disturbance = machines.reduce((sum, { name }) => sum + disturbanceOf(name), 0);
  const terms = { isBalanced: false, minSavings: 0, atOnce: 1_000, price: cluster.price, disturbance };
  return {
    candidates: machines.map(({ name, price }) => ({
      name,
      price,
      pool: poolName,
      isSpot: false,
      disturbance: disturbanceOf(name),
    })),
    termsByPool: new Map([[poolName, terms]]),
    targets: machines.map(({ name }) => name),
    spotToSpot: false,
    waiting: [],
  };
}

function floorFor(cluster: FragmentedCluster): number {
  const pods = cluster.pods().map(pod => ({ ...pod, spec: { ...pod.spec, nodeName: "" } }));
  return floorOf({ ...emptyProblem, pools: cluster.picture.pools.map(({ pool }) => pool), pods });
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
