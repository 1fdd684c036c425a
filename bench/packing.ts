// How fast pods are placed, and how well: Karpenter's own benchmark, other seeds of its shape, growth, and what-if.
//   node scripts/run.mjs bench/packing.ts
// Data: FETTLE_BENCH_DATA, or ../shared/data beside the repository. Each row of the first two tables is the median of
// five fresh processes, timed from parsed objects to the answer.

import { spawnSync } from "node:child_process";
import { hostnameKey, zoneKey } from "../src/api/node.ts";
import { changePicture, pictureOf } from "../src/decide/packing/build.ts";
import { floorOf } from "../src/decide/packing/floor.ts";
import type { Answer } from "../src/decide/packing/answer.ts";
import type { Problem } from "../src/decide/packing/problem.ts";
import { solveNow } from "../src/decide/packing/solve.ts";
import { whatIfGone } from "../src/decide/packing/what-if.ts";
import { diverse, ontoNodes, plain, running, stored } from "./packing-problems.ts";

type Run = {
  pods: number;
  ms: number;
  cpuMs: number;
  nodes: number;
  unplaced: number;
  cost: number;
  floor: number;
  heapMb: number;
};

const problems: Record<string, () => Problem | undefined> = {
  "diverse-2000-42": () => stored("diverse-2000-42"),
  "diverse-20000-42": () => stored("diverse-20000-42"),
  "preference-4000-42": () => stored("preference-4000-42"),
  "diverse-10000, seed 1": () => diverse(10_000, 1),
  "diverse-10000, seed 2": () => diverse(10_000, 2),
  "diverse-100000, seed 1": () => diverse(100_000, 1),
  "plain-10000 x 500 types": () => plain(10_000, 500, 1),
  "plain-100000 x 500 types": () => plain(100_000, 500, 1),
  "10000 onto 5000 nodes": () => ontoNodes(10_000, 5_000, 1),
};

const [once] = process.argv.slice(2);
if (once !== undefined) {
  const problem = problems[once]?.();
  console.log(JSON.stringify(problem === undefined ? null : timed(problem)));
} else {
  printSolving();
  printWhatIf(1_000, 30_000);
  printWhatIf(5_000, 150_000);
}

function timed(problem: Problem): Run {
  const usage = process.cpuUsage();
  const start = performance.now();
  const answer = solveNow(problem);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(usage);
  return {
    pods: problem.pods.length,
    ms,
    cpuMs: (user + system) / 1000,
    nodes: answer.newNodes.length,
    unplaced: answer.unplaced.length,
    cost: costOf(answer),
    floor: floorOf(problem),
    heapMb: process.memoryUsage().rss / 2 ** 20,
  };
}

function costOf({ newNodes }: Answer): number {
  return newNodes.reduce((sum, { price }) => sum + price, 0);
}

function printSolving(): void {
  console.log("| problem | pods | pods/s | CPU ms | nodes | unplaced | cost | floor | gap | MB |");
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const name of Object.keys(problems)) {
    const runs = Array.from({ length: 5 }, () => inFreshProcess(name));
    const run = runs.sort((a, b) => (a?.ms ?? 0) - (b?.ms ?? 0))[2];
    if (run === undefined || run === null) {
      console.log(`| ${name} | the data are not there: set FETTLE_BENCH_DATA | | | | | | | | |`);
      continue;
    }
    const perSecond = Math.round((run.pods / run.ms) * 1000);
    const gap = run.floor > 0 ? `${((run.cost / run.floor - 1) * 100).toFixed(1)} %` : "";
    const cells = [name, run.pods, perSecond, run.cpuMs.toFixed(0), run.nodes, run.unplaced, run.cost.toFixed(3)];
    console.log(`| ${[...cells, run.floor.toFixed(0), gap, run.heapMb.toFixed(0)].join(" | ")} |`);
  }
}

function inFreshProcess(name: string): Run | null {
  // The bundle that runs now, once more.
  const { stdout } = spawnSync(process.execPath, [process.argv[1] ?? "", name], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as Run | null;
}

function printWhatIf(nodeCount: number, podCount: number): void {
  const picture = pictureOf(running(nodeCount, podCount, 1));
  const ask = Array.from({ length: 101 }, (_, index) => elapsed(() => whatIfGone(picture, [`node-${index * 7}`])));
  const changes = Array.from({ length: 101 }, (_, index) => {
    const { node } = picture.hosts.nodes[index] ?? {};
    if (node === undefined) return 0;
    const labels = { ...node.metadata.labels, [zoneKey]: "zone-1", [hostnameKey]: node.metadata.name };
    return elapsed(() =>
      changePicture(picture, { kind: "node", node: { node: { ...node, metadata: { ...node.metadata, labels } } } }),
    );
  });
  console.log(
    `\n${nodeCount} nodes, ${podCount} pods: one node gone ${median(ask)} ms (worst ${Math.max(...ask).toFixed(1)}), one change ${median(changes)} ms`,
  );
}

function elapsed(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function median(values: number[]): string {
  return (values.sort((a, b) => a - b)[values.length >> 1] ?? 0).toFixed(2);
}
