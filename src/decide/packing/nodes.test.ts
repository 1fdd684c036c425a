// The rules about one node alone, on nodes that exist.
import { expect, test } from "vitest";
import type { Pod } from "../../api/pod.ts";
import type { ExistingNode } from "./problem.ts";
import { aNode, aPod, answerTo, type PodInput, unplacedNames, whereabouts } from "./test-worlds.ts";

const goes = (pod: PodInput, node: ExistingNode, bound: Pod[] = []): boolean =>
  answerTo({ nodes: [node], bound, pods: [aPod("p", pod)] }).placements.length === 1;

const affinity = (...terms: object[]): PodInput => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  },
});

test.each<[string, PodInput, ExistingNode, boolean]>([
  ["node selector matches", { nodeSelector: { disk: "ssd" } }, aNode("n", { labels: { disk: "ssd" } }), true],
  ["node selector differs", { nodeSelector: { disk: "ssd" } }, aNode("n", { labels: { disk: "hdd" } }), false],
  ["node selector on a label that is not there", { nodeSelector: { disk: "ssd" } }, aNode("n"), false],
  [
    "one of several terms is enough",
    affinity(
      { matchExpressions: [{ key: "disk", operator: "In", values: ["x"] }] },
      { matchExpressions: [{ key: "disk", operator: "Exists" }] },
    ),
    aNode("n", { labels: { disk: "ssd" } }),
    true,
  ],
  [
    "all expressions of a term must hold",
    affinity({
      matchExpressions: [
        { key: "disk", operator: "Exists" },
        { key: "gpu", operator: "Exists" },
      ],
    }),
    aNode("n", { labels: { disk: "ssd" } }),
    false,
  ],
  ["an empty term matches nothing", affinity({}), aNode("n"), false],
  ["no terms match nothing", affinity(), aNode("n"), false],
  [
    "NotIn takes a node without the label",
    affinity({ matchExpressions: [{ key: "x", operator: "NotIn", values: ["1"] }] }),
    aNode("n"),
    true,
  ],
  [
    "the node's name as a field",
    affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }),
    aNode("n"),
    true,
  ],
  [
    "another name as a field",
    affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["m"] }] }),
    aNode("n"),
    false,
  ],
  ["a taint", {}, aNode("n", { taints: [{ key: "t", effect: "NoSchedule" }] }), false],
  ["a taint that only prefers", {}, aNode("n", { taints: [{ key: "t", effect: "PreferNoSchedule" }] }), true],
  ["a NoExecute taint", {}, aNode("n", { taints: [{ key: "t", effect: "NoExecute" }] }), false],
  [
    "a taint that is tolerated",
    { tolerations: [{ key: "t", operator: "Exists" }] },
    aNode("n", { taints: [{ key: "t", effect: "NoSchedule" }] }),
    true,
  ],
  [
    "a taint that will pass",
    {},
    aNode("n", { taints: [{ key: "t", effect: "NoSchedule" }], passingTaints: [{ key: "t", effect: "NoSchedule" }] }),
    true,
  ],
  ["exactly what is free", { requests: { cpu: "4" } }, aNode("n"), true],
  ["a thousandth more than what is free", { requests: { cpu: "4001m" } }, aNode("n"), false],
  [
    "an extended resource the node has",
    { requests: { "example.com/gpu": "1" } },
    aNode("n", { allocatable: { "example.com/gpu": "1" } }),
    true,
  ],
  ["an extended resource the node has not", { requests: { "example.com/gpu": "1" } }, aNode("n"), false],
  ["no place left for pods", {}, aNode("n", { allocatable: { pods: "0" } }), false],
])("%s", (_, pod, node, expected) => {
  expect(goes(pod, node)).toBe(expected);
});

test("a cordoned node takes only who tolerates that", () => {
  const { node } = aNode("n");
  const cordoned = { node: { ...node, spec: { unschedulable: true } } };
  expect(goes({}, cordoned)).toBe(false);
  const tolerations = [
    { key: "node.kubernetes.io/unschedulable", operator: "Exists" as const, effect: "NoSchedule" as const },
  ];
  expect(goes({ tolerations }, cordoned)).toBe(true);
});

test("who asks for nothing fits on a node where too much was given away", () => {
  const bound = [aPod("b", { node: "n", requests: { cpu: "5" } })];
  expect(goes({ requests: {} }, aNode("n"), bound)).toBe(true);
  expect(goes({ requests: { cpu: "1m" } }, aNode("n"), bound)).toBe(false);
});

test("pods that have ended take no room", () => {
  const ended = { ...aPod("b", { node: "n", requests: { cpu: "4" } }), status: { phase: "Succeeded" as const } };
  expect(goes({ requests: { cpu: "4" } }, aNode("n"), [ended])).toBe(true);
});

const port = (hostPort: number, more: object = {}): PodInput => ({
  containers: [{ name: "c", ports: [{ containerPort: 1, hostPort, ...more }] }],
});

test.each<[string, PodInput, PodInput, boolean]>([
  ["the same port", port(80), port(80), false],
  ["another port", port(80), port(81), true],
  ["the same port of another protocol", port(80), port(80, { protocol: "UDP" }), true],
  ["the same port on another address", port(80, { hostIP: "10.0.0.1" }), port(80, { hostIP: "10.0.0.2" }), true],
  ["the same port on any address", port(80, { hostIP: "10.0.0.1" }), port(80), false],
])("host ports: %s", (_, there, asked, expected) => {
  expect(goes(asked, aNode("n"), [aPod("b", { node: "n", ...there })])).toBe(expected);
});

test("nodes that are ready are filled first, then by name", () => {
  const nodes = [aNode("c"), aNode("a", { initialized: false }), aNode("b")];
  const pods = ["1", "2", "3"].map(name => aPod(name, { requests: { cpu: "4" } }));
  expect(whereabouts(answerTo({ nodes, pods }))).toEqual({ 1: "b", 2: "c", 3: "a" });
});

test("on a node that is coming up, room is kept for daemons that are not there yet", () => {
  const daemons = [aPod("ds", { requests: { cpu: "1" } })];
  const nodes = [aNode("n", { initialized: false })];
  const pods = [aPod("p", { requests: { cpu: "3500m" } })];
  expect(unplacedNames(answerTo({ nodes, pods, daemons }))).toEqual(["p"]);
  const running = aPod("ds-x", { node: "n", requests: { cpu: "1" } });
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "ds", uid: "1" };
  const bound = [{ ...running, metadata: { ...running.metadata, ownerReferences: [owner] } }];
  const small = [aPod("p", { requests: { cpu: "3" } })];
  expect(unplacedNames(answerTo({ nodes, pods: small, daemons, bound }))).toEqual([]);
});

test("of pods that are alike the oldest goes first, then the one with the lowest number", () => {
  const nodes = [aNode("n", { allocatable: { cpu: "1", pods: "2" } })];
  const young = { ...aPod("a", {}), metadata: { name: "a", creationTimestamp: "2026-01-02T00:00:00Z" } };
  const old = (name: string) => ({ ...aPod(name, {}), metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z" } });
  const answer = answerTo({ nodes, pods: [old("web-10"), young, old("web-9"), old("web-8")] });
  expect(unplacedNames(answer)).toEqual(["a", "web-10"]);
});
