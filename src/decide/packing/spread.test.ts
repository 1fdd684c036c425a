// Topology spread constraints, in the words of their documentation.
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { TopologySpreadConstraint } from "../../api/pod.ts";
import {
  aNode,
  aPod,
  aPool,
  answerTo,
  aType,
  type PodInput,
  unplacedNames,
  whereabouts,
  zoneOf,
} from "./test-worlds.ts";

const labels = { app: "web" };
const spread = (more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  maxSkew: 1,
  topologyKey: zoneKey,
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: { matchLabels: labels },
  ...more,
});
const web = (more: Partial<TopologySpreadConstraint> = {}, input: PodInput = {}): PodInput => ({
  labels,
  topologySpreadConstraints: [spread(more)],
  ...input,
});

const zones = [aNode("n-a", { labels: zoneOf("a") }), aNode("n-b", { labels: zoneOf("b") })];
const inA = (count: number, input: PodInput = {}) =>
  Array.from({ length: count }, (_, index) => aPod(`a${index}`, { labels, node: "n-a", ...input }));

test("a pod goes where its domain does not get more than maxSkew ahead of the emptiest", () => {
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1), pods: [aPod("p", web())] }))).toEqual({ p: "n-b" });
});

test("a larger maxSkew allows the fuller domain", () => {
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1), pods: [aPod("p", web({ maxSkew: 2 }))] }))).toEqual({
    p: "n-a",
  });
});

test("a node without the key takes no pod of the constraint and is no domain", () => {
  const nodes = [aNode("bare"), ...zones];
  expect(whereabouts(answerTo({ nodes, bound: inA(1), pods: [aPod("p", web())] }))).toEqual({ p: "n-b" });
  expect(unplacedNames(answerTo({ nodes: [aNode("bare")], pods: [aPod("p", web())] }))).toEqual(["p"]);
});

test("pods of other namespaces and pods on their way out are not counted", () => {
  const pods = [aPod("p", web())];
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1, { namespace: "other" }), pods }))).toEqual({ p: "n-a" });
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1, { terminating: true }), pods }))).toEqual({ p: "n-a" });
});

test("a pod that does not match its own selector does not count itself", () => {
  const pods = [aPod("p", web({}, { labels: { app: "other" } }))];
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1), pods }))).toEqual({ p: "n-a" });
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(2), pods }))).toEqual({ p: "n-b" });
});

test("an absent selector counts nobody, and so does an empty one", () => {
  const { labelSelector: _, ...absent } = spread();
  const pod = (constraint: TopologySpreadConstraint) => [
    aPod("p", { labels, topologySpreadConstraints: [constraint] }),
  ];
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(3), pods: pod(absent) }))).toEqual({ p: "n-a" });
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(3), pods: pod({ ...absent, labelSelector: {} }) }))).toEqual({
    p: "n-a",
  });
});

test("with fewer domains than minDomains the emptiest counts as 0", () => {
  const nodes = [aNode("n-a", { labels: zoneOf("a") })];
  expect(whereabouts(answerTo({ nodes, bound: inA(1), pods: [aPod("p", web())] }))).toEqual({ p: "n-a" });
  expect(unplacedNames(answerTo({ nodes, bound: inA(1), pods: [aPod("p", web({ minDomains: 2 }))] }))).toEqual(["p"]);
});

test("matchLabelKeys counts only pods with the pod's own value", () => {
  const bound = inA(1, { labels: { ...labels, hash: "old" } });
  const own = { ...labels, hash: "new" };
  const pods = [aPod("p", web({ matchLabelKeys: ["hash", "not-there"] }, { labels: own }))];
  expect(whereabouts(answerTo({ nodes: zones, bound, pods }))).toEqual({ p: "n-a" });
});

test("nodes outside the pod's node affinity are domains only if the policy ignores it", () => {
  const nodes = [aNode("n-a", { labels: { ...zoneOf("a"), disk: "ssd" } }), aNode("n-b", { labels: zoneOf("b") })];
  const onSsd = { nodeSelector: { disk: "ssd" } };
  expect(whereabouts(answerTo({ nodes, bound: inA(1), pods: [aPod("p", web({}, onSsd))] }))).toEqual({ p: "n-a" });
  const ignoring = aPod("p", web({ nodeAffinityPolicy: "Ignore" }, onSsd));
  expect(unplacedNames(answerTo({ nodes, bound: inA(1), pods: [ignoring] }))).toEqual(["p"]);
});

test("tainted nodes are domains unless the policy honors taints", () => {
  const nodes = [
    aNode("n-a", { labels: zoneOf("a") }),
    aNode("n-b", { labels: zoneOf("b"), taints: [{ key: "t", effect: "NoSchedule" }] }),
  ];
  expect(unplacedNames(answerTo({ nodes, bound: inA(1), pods: [aPod("p", web())] }))).toEqual(["p"]);
  const honoring = aPod("p", web({ nodeTaintsPolicy: "Honor" }));
  expect(whereabouts(answerTo({ nodes, bound: inA(1), pods: [honoring] }))).toEqual({ p: "n-a" });
});

test("spread over hosts compares with the emptiest host that exists", () => {
  const byHost = web({ topologyKey: hostnameKey });
  const bound = [...inA(1), aPod("b0", { labels, node: "n-b" })];
  expect(answerTo({ nodes: zones, bound, pods: [aPod("p", byHost)] }).unplaced).toEqual([]);
  expect(whereabouts(answerTo({ nodes: zones, bound: inA(1), pods: [aPod("p", byHost)] }))).toEqual({ p: "n-b" });
});

test("new nodes are opened in all zones that a pool offers", () => {
  const pods = Array.from({ length: 6 }, (_, index) => aPod(`p${index}`, web()));
  const { newNodes, unplaced } = answerTo({ pools: [aPool("pool")], pods });
  const zoneOfNode = newNodes.map(({ requirements }) =>
    requirements.find(({ key }) => key === zoneKey)?.values?.join(),
  );
  expect(unplaced).toEqual([]);
  expect(zoneOfNode.toSorted((a, b) => (a ?? "").localeCompare(b ?? ""))).toEqual(["a", "b", "c"]);
  expect(newNodes.map(node => node.pods.length)).toEqual([2, 2, 2]);
});

test("a zone that a pool could open counts as empty until it is used", () => {
  const answer = answerTo({
    nodes: zones,
    bound: inA(1),
    pools: [aPool("pool")],
    pods: [1, 2, 3].map(n => aPod(`p${n}`, web())),
  });
  expect(answer.newNodes.length).toBe(1);
  expect(Object.values(whereabouts(answer)).sort()).toEqual(["n-a", "n-b", "new:0"]);
});

test("a zone in which nothing is on offer is no domain", () => {
  const pools = [aPool("pool", { instanceTypes: [aType("t", { zones: ["a", "b"], unavailable: ["b"] })] })];
  const pods = [1, 2, 3].map(n => aPod(`p${n}`, web()));
  expect(answerTo({ pools, pods }).unplaced).toEqual([]);
});

test("pods that spread over hosts get one each while new hosts can be had", () => {
  const pods = [1, 2, 3].map(n => aPod(`p${n}`, web({ topologyKey: hostnameKey })));
  expect(answerTo({ pools: [aPool("pool")], pods }).newNodes.map(node => node.pods.length)).toEqual([1, 1, 1]);
});

test("a pod that others count is put where its zone is known", () => {
  const pods = [aPod("plain", { labels, requests: { cpu: "2" } }), ...[1, 2, 3].map(n => aPod(`p${n}`, web()))];
  const { newNodes, placements } = answerTo({ pools: [aPool("pool")], pods });
  expect(placements.length).toBe(4);
  const countByZone = new Map<string, number>();
  for (const { pod, target } of placements) {
    const zone =
      target.kind === "new"
        ? newNodes[target.index]?.requirements.find(({ key }) => key === zoneKey)?.values?.join()
        : "";
    const count = countByZone.get(zone ?? "") ?? 0;
    const others = ["a", "b", "c"].map(each => countByZone.get(each) ?? 0);
    if (pod.metadata.name !== "plain") expect(count + 1 - Math.min(...others)).toBeLessThanOrEqual(1);
    countByZone.set(zone ?? "", count + 1);
  }
});

test("many pods that spread over zones fill few nodes, not one each", () => {
  const pods = Array.from({ length: 60 }, (_, index) => aPod(`p${index}`, web({}, { requests: { cpu: "500m" } })));
  const { newNodes, unplaced } = answerTo({ pools: [aPool("pool")], pods });
  expect(unplaced).toEqual([]);
  expect(newNodes.length).toBeLessThanOrEqual(6);
});
