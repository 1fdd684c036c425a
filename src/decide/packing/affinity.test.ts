// Affinity and anti-affinity between pods, in the words of their documentation.
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { PodAffinityTerm } from "../../api/pod.ts";
import { aNode, aPod, aPool, answerTo, type PodInput, unplacedNames, whereabouts, zoneOf } from "./test-worlds.ts";

const db = { app: "db" };
const term = (more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: zoneKey,
  labelSelector: { matchLabels: db },
  ...more,
});
const near = (...terms: PodAffinityTerm[]): PodInput => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const apart = (...terms: PodAffinityTerm[]): PodInput => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});

const nodes = [
  aNode("a1", { labels: zoneOf("a") }),
  aNode("a2", { labels: zoneOf("a") }),
  aNode("b1", { labels: zoneOf("b") }),
];
const at = (node: string, input: PodInput = {}) => [aPod("there", { labels: db, node, ...input })];
const place = (pod: PodInput, bound = at("b1")) => whereabouts(answerTo({ nodes, bound, pods: [aPod("p", pod)] }))["p"];

test.each<[string, PodInput, ReturnType<typeof at>, string | undefined]>([
  ["goes to the zone of the other", near(term()), at("b1"), "b1"],
  ["goes to the host of the other", near(term({ topologyKey: hostnameKey })), at("a2"), "a2"],
  ["nowhere without the other", near(term()), [], undefined],
  ["the first of its own set may go anywhere", { labels: db, ...near(term()) }, [], "a1"],
  ["not the first if there is one elsewhere", { labels: db, ...near(term()) }, at("b1"), "b1"],
  ["another namespace is not looked at", near(term()), at("b1", { namespace: "other" }), undefined],
  ["unless it is named", near(term({ namespaces: ["other"] })), at("b1", { namespace: "other" }), "b1"],
  [
    "or all are chosen by an empty selector",
    near(term({ namespaceSelector: {} })),
    at("b1", { namespace: "other" }),
    "b1",
  ],
  ["an absent selector matches no pod", near({ topologyKey: zoneKey }), at("b1"), undefined],
  ["an empty selector matches every pod", near(term({ labelSelector: {} })), at("b1"), "b1"],
  ["a key that no node has", near(term({ topologyKey: "rack" })), at("b1"), undefined],
  ["pods on their way out still count", near(term()), at("b1", { terminating: true }), "b1"],
  ["anti-affinity keeps out of the zone", apart(term()), at("a1"), "b1"],
  ["anti-affinity keeps off the host only", apart(term({ topologyKey: hostnameKey })), at("a1"), "a2"],
  ["anti-affinity on a key that the node has not", apart(term({ topologyKey: "rack" })), at("a1"), "a1"],
  ["anti-affinity with an absent selector", apart({ topologyKey: zoneKey }), at("a1"), "a1"],
])("%s", (_, pod, bound, expected) => {
  expect(place(pod, bound)).toBe(expected);
});

test("namespaces are chosen by their labels", () => {
  const namespaces = [
    { metadata: { name: "team", labels: { tier: "1" } } },
    { metadata: { name: "rest", labels: {} } },
  ];
  const pods = [aPod("p", near(term({ namespaceSelector: { matchLabels: { tier: "1" } } })))];
  expect(answerTo({ nodes, namespaces, bound: at("b1", { namespace: "team" }), pods }).unplaced).toEqual([]);
  expect(answerTo({ nodes, namespaces, bound: at("b1", { namespace: "rest" }), pods }).unplaced.length).toBe(1);
});

test("one pod must match all terms of an affinity", () => {
  const both = near(term(), term({ topologyKey: hostnameKey, labelSelector: { matchLabels: { role: "x" } } }));
  const separate = [aPod("1", { labels: db, node: "a1" }), aPod("2", { labels: { role: "x" }, node: "a1" })];
  expect(place(both, separate)).toBeUndefined();
  expect(place(both, at("a2", { labels: { ...db, role: "x" } }))).toBe("a2");
});

test("anti-affinity of a pod that runs keeps away whom it is directed at", () => {
  const bound = [aPod("there", { node: "a1", ...apart(term()) })];
  expect(place({ labels: db }, bound)).toBe("b1");
  expect(place({ labels: { app: "web" } }, bound)).toBe("a1");
});

test("matchLabelKeys and mismatchLabelKeys take their values from the pod", () => {
  const labels = { ...db, version: "2" };
  expect(
    place({ labels, ...apart(term({ matchLabelKeys: ["version"] })) }, at("a1", { labels: { ...db, version: "1" } })),
  ).toBe("a1");
  expect(
    place(
      { labels, ...apart(term({ mismatchLabelKeys: ["version"] })) },
      at("a1", { labels: { ...db, version: "1" } }),
    ),
  ).toBe("b1");
});

test("a pod waits for the one it wants to be near, whatever their order", () => {
  const pods = [aPod("big", { requests: { cpu: "3" }, ...near(term()) }), aPod("small", { labels: db })];
  const answer = answerTo({ nodes, pods });
  expect(answer.unplaced).toEqual([]);
  expect(answer.placements.map(({ pod }) => pod.metadata.name)).toEqual(["small", "big"]);
});

test("pods that want one host share a new one, in which they all fit", () => {
  const pods = [1, 2, 3, 4, 5].map(n =>
    aPod(`p${n}`, { labels: db, requests: { cpu: "1500m" }, ...near(term({ topologyKey: hostnameKey })) }),
  );
  const { newNodes, unplaced } = answerTo({ pools: [aPool("pool")], pods });
  expect(unplaced).toEqual([]);
  expect(newNodes.map(node => [node.pods.length, node.instanceTypes])).toEqual([[5, ["large"]]]);
});

test("those that no host can take together stay unplaced", () => {
  const pods = [1, 2, 3].map(n =>
    aPod(`p${n}`, { labels: db, requests: { cpu: "4" }, ...near(term({ topologyKey: hostnameKey })) }),
  );
  const answer = answerTo({ pools: [aPool("pool")], pods });
  expect(unplacedNames(answer)).toEqual(["p3"]);
});

test("new nodes for pods that keep apart by zone are in different zones", () => {
  const pods = [1, 2, 3, 4].map(n => aPod(`p${n}`, { labels: db, ...apart(term()) }));
  const answer = answerTo({ pools: [aPool("pool")], pods });
  const zones = answer.newNodes.map(({ requirements }) =>
    requirements.find(({ key }) => key === zoneKey)?.values?.join(),
  );
  expect(zones.toSorted((a, b) => (a ?? "").localeCompare(b ?? ""))).toEqual(["a", "b", "c"]);
  expect(answer.unplaced.length).toBe(1);
});
