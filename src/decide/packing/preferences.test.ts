// What a pod only prefers: met where it can be, given up in a stated order where it cannot.
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { PodSpec } from "../../api/pod.ts";
import { aNode, aPod, aPool, answerTo, whereabouts, zoneOf } from "./test-worlds.ts";
import { relax, type Wishes, wishesOf } from "./wishes.ts";

const selector = { labelSelector: { matchLabels: { app: "web" } } };
const all: Partial<PodSpec> = {
  affinity: {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "rack", ...selector } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: hostnameKey, ...selector } },
        { weight: 9, podAffinityTerm: { topologyKey: zoneKey, ...selector } },
      ],
    },
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "disk", operator: "Exists" }] } },
        { weight: 5, preference: { matchExpressions: [{ key: "gpu", operator: "Exists" }] } },
      ],
    },
  },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zoneKey, whenUnsatisfiable: "ScheduleAnyway", ...selector }],
};

test("wishes are given up in the stated order, the heaviest of a sort first", () => {
  let wishes: Wishes | undefined = wishesOf(aPod("p", all));
  let last: readonly string[] = [];
  for (; wishes !== undefined; wishes = relax(wishes)) last = wishes.relaxed;
  expect(last).toEqual([
    "pod affinity on rack",
    `pod anti-affinity on ${zoneKey}`,
    `pod anti-affinity on ${hostnameKey}`,
    "node affinity on gpu",
    "node affinity on disk",
    `spread over ${zoneKey}`,
    "to avoid PreferNoSchedule taints",
  ]);
});

const prefers = (zone: string): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: zoneKey, operator: "In", values: [zone] }] } },
      ],
    },
  },
});

test("a preferred node is taken where there is one, any other where there is none", () => {
  const nodes = [aNode("1", { labels: zoneOf("a") }), aNode("2", { labels: zoneOf("b") })];
  expect(whereabouts(answerTo({ nodes, pods: [aPod("p", prefers("b"))] }))).toEqual({ p: "2" });
  const { placements } = answerTo({ nodes, pods: [aPod("p", prefers("z"))] });
  expect(placements.map(({ target, relaxed }) => ({ target, relaxed }))).toEqual([
    { target: { kind: "existing", node: "1" }, relaxed: [`node affinity on ${zoneKey}`] },
  ]);
});

test("a taint that only prefers to keep pods away is tolerated last", () => {
  const nodes = [aNode("1", { taints: [{ key: "t", effect: "PreferNoSchedule" }] }), aNode("2")];
  expect(whereabouts(answerTo({ nodes, pods: [aPod("p")] }))).toEqual({ p: "2" });
  expect(whereabouts(answerTo({ nodes: nodes.slice(0, 1), pods: [aPod("p")] }))).toEqual({ p: "1" });
});

test("of preferences that exclude one another those that can be met are met", () => {
  const apart = (topologyKey: string, weight: number) => ({
    weight,
    podAffinityTerm: { topologyKey, labelSelector: { matchLabels: { app: "web" } } },
  });
  const pods = [1, 2, 3, 4].map(n =>
    aPod(`p${n}`, {
      labels: { app: "web" },
      affinity: {
        ...prefers("b").affinity,
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [apart(zoneKey, 10), apart(hostnameKey, 1)],
        },
      },
    }),
  );
  const { newNodes, unplaced } = answerTo({ pools: [aPool("pool")], pods });
  expect(unplaced).toEqual([]);
  expect(newNodes.map(node => node.pods.length)).toEqual([1, 1, 1, 1]);
  for (const { requirements } of newNodes) {
    expect(requirements).toContainEqual({ key: zoneKey, operator: "In", values: ["b"] });
  }
});

test("a spread that may be left undone is done where it can be", () => {
  const nodes = [aNode("1", { labels: zoneOf("a") }), aNode("2", { labels: zoneOf("b") })];
  const labels = { app: "web" };
  const pods = [1, 2].map(n =>
    aPod(`p${n}`, { labels, topologySpreadConstraints: all.topologySpreadConstraints ?? [] }),
  );
  expect(Object.values(whereabouts(answerTo({ nodes, pods }))).sort()).toEqual(["1", "2"]);
  expect(answerTo({ nodes: nodes.slice(0, 1), pods }).unplaced).toEqual([]);
});
