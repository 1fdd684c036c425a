// How fast pods are placed, and how well: Karpenter's own benchmark, other seeds of its shape, growth, and what-if.
//   npm run bench -- packing
// Data: FETTLE_BENCH_DATA, or ../shared/data beside the repository. Each row of the first table is the median of
// five fresh processes, timed from parsed objects to the answer, code cold; one more solves it again and again (*warm*),
// three look for the longest slice, and one has the answer verified.

import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { hostnameKey, zoneKey } from "../src/api/node.ts";
import { changePicture, pictureOf } from "../src/decide/packing/build.ts";
import { floorOf } from "../src/decide/packing/floor.ts";
import type { Answer } from "../src/decide/packing/answer.ts";
import type { Problem } from "../src/decide/packing/problem.ts";
import { finished, solve, solveNow } from "../src/decide/packing/solve.ts";
import { whatIfGone } from "../src/decide/packing/what-if.ts";
import { verify } from "../test/packing/verifier/verify.ts";
import { alike, diverse, ontoNodes, plain, running, stored } from "./packing-problems.ts";
import { threadCpuMs } from "./thread-cpu.ts";

type Run = {
  pods: number;
  ms: number;
  /** Of the thread that solves, without those that compile and collect garbage beside it. */
  cpuMs: number;
  nodes: number;
  unplaced: number;
  cost: number;
  floor: number;
  heapMb: number;
};

/** The most effort and time of one slice, as the controller has them. */
const sliceWork = 2_500;
const sliceMs = 8;
const workAtOnce = 50;

const problems: Record<string, () => Problem | undefined> = {
  "diverse-2000-42": () => stored("diverse-2000-42"),
  "diverse-20000-42": () => stored("diverse-20000-42"),
  "preference-4000-42": () => stored("preference-4000-42"),
  "diverse-10000, seed 1": () => diverse(10_000, 1),
  "diverse-10000, seed 2": () => diverse(10_000, 2),
  "diverse-100000, seed 1": () => diverse(100_000, 1),
  "plain-10000 of 20 sizes x 500 types": () => alike(plain(10_000, 500, 1), 20),
  "plain-10000 x 500 types": () => plain(10_000, 500, 1),
  "plain-100000 x 500 types": () => plain(100_000, 500, 1),
  "10000 onto 5000 nodes": () => ontoNodes(10_000, 5_000, 1),
};

const warmUps = 8;
const warmRuns = 5;

const tasks = { time: timed, warm: warmMs, slice: longestSliceMs, verify: verdict };

type Task = keyof typeof tasks;

const [once, task = "time"] = process.argv.slice(2);
if (once !== undefined) {
  const made = () => problems[once]?.();
  const problem = made();
  const answer = problem === undefined ? null : tasks[task as Task](problem, made);
  console.log(JSON.stringify(answer));
} else {
  printCalibration();
  printSolving();
  printWhatIf(1_000, 30_000);
  printWhatIf(5_000, 150_000);
}

function timed(problem: Problem): Run {
  threadCpuMs();
  const [start, startCpu] = [performance.now(), threadCpuMs()];
  const answer = finished(solve(problem));
  const [ms, cpuMs] = [performance.now() - start, threadCpuMs() - startCpu];
  return {
    pods: problem.pods.length,
    ms,
    cpuMs,
    nodes: answer.newNodes.length,
    unplaced: answer.unplaced.length,
    cost: costOf(answer),
    floor: floorOf(problem),
    heapMb: process.memoryUsage().rss / 2 ** 20,
  };
}

/** On the wall, once the code is compiled: the median of some, each with objects of its own. */
function warmMs(_: Problem, made: () => Problem | undefined): number {
  const times = Array.from({ length: warmUps + warmRuns }, () => {
    const problem = made();
    return problem === undefined ? 0 : elapsed(() => finished(solve(problem)));
  });
  return Number(median(times.slice(warmUps)));
}

/** Of the slices that the controller would make, by work and by the clock: in a process of its own, for measuring takes time. */
function longestSliceMs(problem: Problem): number {
  const solver = solve(problem);
  let answer: Answer | undefined;
  let longestMs = 0;
  while (answer === undefined) {
    const before = threadCpuMs();
    const endsAt = performance.now() + sliceMs;
    for (let work = 0; work < sliceWork && answer === undefined && performance.now() < endsAt; work += workAtOnce) {
      answer = solver.step(workAtOnce);
    }
    longestMs = Math.max(longestMs, threadCpuMs() - before);
  }
  return longestMs;
}

/** Every placement against every rule, for each type and offering that a node may still become. */
function verdict(problem: Problem): string {
  const start = performance.now();
  const breaches = verify(problem, solveNow(problem));
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  return breaches.length === 0 ? `right (${seconds} s)` : `${breaches.length} breaches: ${breaches[0]?.says}`;
}

/** A loop that does nothing else, so that machines and their loads can be compared. */
function printCalibration(): void {
  const before = threadCpuMs();
  let state = 1;
  for (let step = 0; step < 1e8; step++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  const ms = threadCpuMs() - before;
  console.log(
    `calibration: 1e8 steps of a plain loop in ${ms.toFixed(0)} ms of CPU (${state}), load ${loadavg()[0]?.toFixed(0)}\n`,
  );
}

function costOf({ newNodes }: Answer): number {
  return newNodes.reduce((sum, { price }) => sum + price, 0);
}

function printSolving(): void {
  const columns = [
    "problem",
    "pods",
    "pods/s",
    "pods per CPU s",
    "pods/s, warm",
    "CPU ms",
    "longest slice ms",
    "nodes",
    "unplaced",
  ];
  console.log(`| ${[...columns, "cost", "floor", "gap", "MB", "verifier"].join(" | ")} |`);
  console.log(`|${"---|".repeat(columns.length + 5)}`);
  for (const name of Object.keys(problems)) {
    const runs = Array.from({ length: 5 }, () => inFreshProcess(name, "time") as Run | null);
    const run = runs.sort((a, b) => (a?.cpuMs ?? 0) - (b?.cpuMs ?? 0))[2];
    if (run === undefined || run === null) {
      console.log(`| ${name} | the data are not there: set FETTLE_BENCH_DATA |`);
      continue;
    }
    const rate = (ms: number) => Math.round((run.pods / ms) * 1000);
    const gap = run.floor > 0 ? `${((run.cost / run.floor - 1) * 100).toFixed(1)} %` : "";
    const slices = Array.from({ length: 3 }, () => inFreshProcess(name, "slice") as number);
    const warm = inFreshProcess(name, "warm") as number;
    const speed = [rate(run.ms), rate(run.cpuMs), rate(warm), run.cpuMs.toFixed(0), Math.max(...slices).toFixed(1)];
    const worth = [run.nodes, run.unplaced, run.cost.toFixed(3), run.floor.toFixed(0), gap, run.heapMb.toFixed(0)];
    // The verifier is plain: for the largest it would take minutes.
    const judged = run.pods > 20_000 ? "not asked" : String(inFreshProcess(name, "verify"));
    console.log(`| ${[name, run.pods, ...speed, ...worth, judged].join(" | ")} |`);
  }
}

function inFreshProcess(name: string, task: Task): unknown {
  // The bundle that runs now, once more.
  const { stdout } = spawnSync(process.execPath, [process.argv[1] ?? "", name, task], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout);
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
