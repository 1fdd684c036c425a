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

const cpu = (amount: number): PodInput => ({ requests: { cpu: `${amount}` } });
const wide = (name: string, cores: number, where: string[]) => aType(name, { cpu: cores, zones: where });

test("a domain that pools could open counts, as long as the pod could go there", () => {
  const pools = [aPool("p", { instanceTypes: [wide("small", 2, ["b"]), wide("large", 8, ["a", "b"])] })];
  const answer = answerTo({
    nodes: [zones[0] ?? aNode("n-a")],
    bound: inA(1),
    pools,
    pods: [aPod("p", web({}, cpu(6)))],
  });
  expect(answer.newNodes[0]?.requirements).toContainEqual({ key: zoneKey, operator: "In", values: ["b"] });
});

test("a domain that pools could open only with types too small for the pod does not keep it waiting", () => {
  const pools = [aPool("p", { instanceTypes: [wide("small", 2, ["b"]), wide("large", 8, ["a"])] })];
  const answer = answerTo({
    nodes: [zones[0] ?? aNode("n-a")],
    bound: inA(1),
    pools,
    pods: [aPod("p", web({}, cpu(6)))],
  });
  expect(answer.newNodes.map(({ instanceTypes }) => instanceTypes)).toEqual([["large"]]);
});

test("but one that others open does", () => {
  const pools = [aPool("p", { instanceTypes: [wide("small", 2, ["b"]), wide("large", 8, ["a"])] })];
  const pods = [aPod("big", web({}, cpu(6))), aPod("tiny", { nodeSelector: zoneOf("b"), ...cpu(1) })];
  const answer = answerTo({ nodes: [zones[0] ?? aNode("n-a")], bound: inA(1), pools, pods });
  expect(unplacedNames(answer)).toEqual(["big"]);
});

test("a node without one of the pod's keys is no domain of the others", () => {
  const both = { topologySpreadConstraints: [spread(), spread({ topologyKey: "rack" })] };
  const nodes = [aNode("n-a", { labels: { ...zoneOf("a"), rack: "r" } }), aNode("n-b", { labels: zoneOf("b") })];
  const upcoming = { name: "c", pool: "p", requirements: [], instanceTypes: [wide("small", 2, ["b"])], pods: [] };
  const pods = [aPod("p", { labels, ...both })];
  expect(whereabouts(answerTo({ nodes, upcoming: [upcoming], bound: inA(1), pods }))).toEqual({ p: "n-a" });
  const pools = [aPool("p", { instanceTypes: [wide("small", 2, ["c"])] })];
  expect(whereabouts(answerTo({ nodes, pools, bound: inA(1), pods }))).toEqual({ p: "n-a" });
});

test("hosts that pools could make only too small do not keep a pod from the hosts there are", () => {
  const pools = [aPool("p", { instanceTypes: [wide("small", 1, ["a"])] })];
  const pods = [aPod("p", web({ topologyKey: hostnameKey }, cpu(2)))];
  expect(whereabouts(answerTo({ nodes: zones.slice(0, 1), bound: inA(1), pools, pods }))).toEqual({ p: "n-a" });
});

test("pods that spread over hosts with different skews go the same ways whoever comes first", () => {
  const one = (name: string, maxSkew: number, amount: number) =>
    aPod(name, web({ topologyKey: hostnameKey, maxSkew }, cpu(amount)));
  const term = { topologyKey: hostnameKey, labelSelector: { matchLabels: { app: "db" } } };
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const large = (name: string) => aPod(name, { labels: { app: "db" }, affinity: apart, ...cpu(1.5) });
  const pods = [one("p0", 1, 1), one("p1", 2, 0.5), one("p2", 2, 0.5), large("p3"), large("p4")];
  const pools = [aPool("p")];
  expect(answerTo({ pools, pods: [...pods].reverse() })).toEqual(answerTo({ pools, pods }));
});
