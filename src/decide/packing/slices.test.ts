// However large the question, each step of a search is short, and a search that is dropped leaves nothing behind.
import { expect, test } from "vitest";
import { zoneKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import { buildPicture, pictureOf } from "./build.ts";
import type { Effort } from "./effort.ts";
import { emptyProblem, type Problem } from "./problem.ts";
import { sortedInSlices } from "./sliced-sort.ts";
import { solveInSlices, solveOn } from "./solve.ts";
import { aNode, aPod, aPool, aType, type PodInput, zoneOf } from "./test-worlds.ts";

const size = (index: number) => ({ cpu: `${10 + (index % 700)}m`, memory: `${1 + index}Mi` });
const many = (count: number, pod: (index: number) => Pod) => Array.from({ length: count }, (_, index) => pod(index));
const types = Array.from({ length: 200 }, (_, index) => aType(`t${index}`, { cpu: index + 1 }));
const pools = [aPool("p", { instanceTypes: types })];
const nodes = Array.from({ length: 600 }, (_, index) => aNode(`n${index}`, { labels: zoneOf(`z${index % 3}`) }));
const spread = (app: string): PodInput => ({
  labels: { app },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: zoneKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app } } },
  ],
});

function longestStep(run: Generator<void, unknown>, effort: Effort): number {
  let longest = 0;
  for (;;) {
    const before = effort.work;
    const { done } = run.next();
    longest = Math.max(longest, effort.work - before);
    if (done === true) return longest;
  }
}

test.each<[string, Partial<Problem>, Pod[]]>([
  ["pods of many sizes", { pools }, many(4_000, index => aPod(`p${index}`, { requests: size(index) }))],
  [
    "pods of many kinds",
    { pools },
    many(4_000, index => aPod(`p${index}`, { labels: { app: `${index}` }, requests: size(index) })),
  ],
  ["pods that are all alike", { pools }, many(20_000, index => aPod(`p${index}`))],
  ["pods for nodes that exist", { nodes }, many(8_000, index => aPod(`p${index}`, spread("a")))],
  [
    "many groups that spread, in a cluster that runs",
    { nodes, pools, bound: many(6_000, index => aPod(`b${index}`, { labels: { app: "a" }, node: `n${index % 600}` })) },
    many(300, index => aPod(`p${index}`, spread(`${index}`))),
  ],
])("no step is long: %s", (_, world, pods) => {
  const effort = { work: 0 };
  const building = buildPicture({ ...emptyProblem, ...world }, effort);
  expect(longestStep(building, effort)).toBeLessThan(2_500);
  const picture = pictureOf({ ...emptyProblem, ...world });
  expect(longestStep(solveInSlices(picture, pods, effort), effort)).toBeLessThan(2_500);
});

test("a search that is dropped at any step leaves the picture as it was", () => {
  const world = { ...emptyProblem, nodes: nodes.slice(0, 6), pools };
  const pods = many(700, index => aPod(`p${index}`, { ...spread(`${index % 3}`), requests: size(index) }));
  const picture = pictureOf(world);
  const answer = solveOn(pictureOf(world), pods);
  for (const steps of [1, 5, 25, 26, 30, 40, 80, 200]) {
    const dropped = solveInSlices(picture, pods, { work: 0 });
    for (let step = 0; step < steps; step++) dropped.next();
    dropped.return({ placements: [], newNodes: [], unplaced: [] });
    expect(solveOn(picture, pods)).toEqual(answer);
  }
});

test("lists are sorted as they would be at once, equals in their order", () => {
  const list = many(2_000, index => aPod(`p${index}`)).map((pod, index) => ({ pod, key: (index * 7919) % 83 }));
  const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
  const effort = { work: 0 };
  const sorting = sortedInSlices(list, byKey, effort);
  let sorted: typeof list | undefined;
  while (sorted === undefined) {
    const { done, value } = sorting.next();
    if (done === true) sorted = value;
  }
  expect(sorted).toEqual([...list].sort(byKey));
  expect(longestStep(sortedInSlices(list, byKey, effort), effort)).toBeLessThan(1_000);
});
