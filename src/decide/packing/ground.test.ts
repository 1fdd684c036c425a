// A picture that is kept takes in what pods rest on, one change at a time, and then answers as one made from scratch.
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/storage.ts";
import { offerAnew, pictureOf } from "./build.ts";
import { atOnce } from "./effort.ts";
import type { GroundChange } from "./ground.ts";
import { emptyProblem, type Problem } from "./problem.ts";
import { solveOn } from "./solve.ts";
import { aNode, aPod, unplacedNames, whereabouts, zoneOf } from "./test-worlds.ts";

const claim = (spec: PersistentVolumeClaim["spec"]): PersistentVolumeClaim => ({ metadata: { name: "data" }, spec });
const volume = (zone: string): PersistentVolume => ({
  metadata: { name: "pv", labels: { [zoneKey]: zone } },
  spec: { csi: { driver: "csi.example", volumeHandle: "pv" } },
});
const storageClass = (zone: string): StorageClass => ({
  metadata: { name: "waiting" },
  provisioner: "csi.example",
  volumeBindingMode: "WaitForFirstConsumer",
  allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: [zone] }] }],
});
const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
const labelsOf = (node: string) => ({ [hostnameKey]: node, ...zoneOf(node) });
const nodes = ["a", "b"].map(name => aNode(name, { labels: labelsOf(name) }));
const bound = claim({ volumeName: "pv" });
const unbound = claim({ storageClassName: "waiting" });
const exclusive = claim({ volumeName: "pv", accessModes: ["ReadWriteOncePod"] });
const key = "default/data";

/** Keeps away from whatever is in namespaces that are trusted by nobody. */
const shy = aPod("shy", {
  node: "a",
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: hostnameKey, labelSelector: {}, namespaceSelector: { matchLabels: { trust: "no" } } },
      ],
    },
  },
});
const distrusted = { metadata: { name: "default", labels: { trust: "no" } } };
const trusted = { metadata: { name: "default" } };

type Case = [string, Partial<Problem>, GroundChange, string | undefined];

test.each<Case>([
  ["a claim that comes", { volumes: [volume("b")] }, { kind: "claim", key, claim: bound }, "b"],
  [
    "a claim that goes",
    { volumes: [volume("b")], claims: [bound] },
    { kind: "claim", key, claim: undefined },
    undefined,
  ],
  [
    "a claim that is bound",
    { volumes: [volume("a")], claims: [unbound], storageClasses: [storageClass("b")] },
    { kind: "claim", key, claim: bound },
    "a",
  ],
  ["a volume that comes", { claims: [bound] }, { kind: "volume", key: "pv", volume: volume("b") }, "b"],
  [
    "a volume that is elsewhere now",
    { claims: [bound], volumes: [volume("a")] },
    { kind: "volume", key: "pv", volume: volume("b") },
    "b",
  ],
  [
    "a volume that goes",
    { claims: [bound], volumes: [volume("a")] },
    { kind: "volume", key: "pv", volume: undefined },
    undefined,
  ],
  [
    "a class that comes",
    { claims: [unbound] },
    { kind: "class", key: "waiting", storageClass: storageClass("b") },
    "b",
  ],
  [
    "a class that goes",
    { claims: [unbound], storageClasses: [storageClass("b")] },
    { kind: "class", key: "waiting", storageClass: undefined },
    undefined,
  ],
  [
    "a claim that only one may use from now on, and one does",
    { claims: [bound], volumes: [volume("a")], bound: [aPod("user", { node: "a", volumes })] },
    { kind: "claim", key, claim: exclusive },
    undefined,
  ],
  [
    "a namespace that pods on nodes keep away from now",
    { claims: [bound], volumes: [volume("a")], bound: [shy], namespaces: [trusted] },
    { kind: "namespace", key: "default", namespace: distrusted },
    undefined,
  ],
  [
    "a namespace that they no longer keep away from",
    { claims: [bound], volumes: [volume("a")], bound: [shy], namespaces: [distrusted] },
    { kind: "namespace", key: "default", namespace: trusted },
    "a",
  ],
])("%s", (_, world, change, place) => {
  const problem: Problem = { ...emptyProblem, nodes, ...world };
  const picture = pictureOf(problem);
  const pod = aPod("p", { volumes });
  // Asked before: what it found out then must not stand.
  solveOn(picture, [pod]);
  picture.putGround(change);
  atOnce(offerAnew(picture, problem, { work: 0 }));
  const answer = solveOn(picture, [pod]);
  expect(place === undefined ? unplacedNames(answer) : whereabouts(answer)).toEqual(
    place === undefined ? ["p"] : { p: place },
  );
  // What was entered for pods on nodes can be taken back whole.
  for (const one of problem.bound) picture.removePod(`default/${one.metadata.name}`);
  expect([...picture.exclusiveUsers.values()].every(count => count === 0)).toBe(true);
});

test("daemons of a node that comes up get their room when they are known, and give it back", () => {
  const starting = { ...aNode("a", { labels: labelsOf("a"), allocatable: { cpu: "4" } }), initialized: false };
  const problem: Problem = { ...emptyProblem, nodes: [starting] };
  const picture = pictureOf(problem);
  const wants = aPod("p", { requests: { cpu: "3" } });
  picture.putDaemons([aPod("d", { requests: { cpu: "2" } })]);
  expect(unplacedNames(solveOn(picture, [wants]))).toEqual(["p"]);
  picture.putDaemons([]);
  expect(whereabouts(solveOn(picture, [wants]))).toEqual({ p: "a" });
});
