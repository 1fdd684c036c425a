// Volumes: where they are, where they may be made, and how many a node can attach.
import { expect, test } from "vitest";
import { zoneKey } from "../../api/node.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/storage.ts";
import type { Problem } from "./problem.ts";
import { shortForm } from "./reasons.ts";
import { aNode, aPod, aPool, answerTo, unplacedNames, whereabouts, zoneOf } from "./test-worlds.ts";

const claim = (name: string, spec: PersistentVolumeClaim["spec"]): PersistentVolumeClaim => ({
  metadata: { name },
  spec,
});
const inZone = (name: string, ...zones: string[]): PersistentVolume => ({
  metadata: { name },
  spec: {
    csi: { driver: "csi.example", volumeHandle: name },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: zones.map(zone => ({
          matchExpressions: [{ key: zoneKey, operator: "In", values: [zone] }],
        })),
      },
    },
  },
});
const waiting: StorageClass = {
  metadata: { name: "waiting" },
  provisioner: "csi.example",
  volumeBindingMode: "WaitForFirstConsumer",
  allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: ["b"] }] }],
};
const using = (...claims: string[]) => ({
  volumes: claims.map(claimName => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});
const nodes = [aNode("a", { labels: zoneOf("a") }), aNode("b", { labels: zoneOf("b") })];
const ask = (problem: Partial<Problem>, ...claims: string[]) =>
  answerTo({ nodes, pods: [aPod("p", using(...claims))], ...problem });

test("a bound volume keeps its pod in one of its places", () => {
  const claims = [claim("data", { volumeName: "pv" })];
  expect(whereabouts(ask({ claims, volumes: [inZone("pv", "b")] }, "data"))).toEqual({ p: "b" });
  expect(whereabouts(ask({ claims, volumes: [inZone("pv", "c", "a")] }, "data"))).toEqual({ p: "a" });
});

test("zones written as labels of the volume count too, several joined by two underscores", () => {
  const volume = { metadata: { name: "pv", labels: { [zoneKey]: "x__b" } }, spec: {} };
  expect(whereabouts(ask({ claims: [claim("data", { volumeName: "pv" })], volumes: [volume] }, "data"))).toEqual({
    p: "b",
  });
});

test("they do not bind on a node that has no such labels", () => {
  const volume = { metadata: { name: "pv", labels: { [zoneKey]: "x" } }, spec: {} };
  const problem = {
    claims: [claim("data", { volumeName: "pv" })],
    volumes: [volume],
    nodes: [...nodes, aNode("bare")],
  };
  expect(whereabouts(ask(problem, "data"))).toEqual({ p: "bare" });
});

test("two volumes must be reachable from one node", () => {
  const claims = [claim("one", { volumeName: "pv1" }), claim("two", { volumeName: "pv2" })];
  expect(unplacedNames(ask({ claims, volumes: [inZone("pv1", "a"), inZone("pv2", "b")] }, "one", "two"))).toEqual([
    "p",
  ]);
});

test("an unbound claim follows the allowed topologies of its class, on nodes that exist and on new ones", () => {
  const storage = { claims: [claim("data", { storageClassName: "waiting" })], storageClasses: [waiting] };
  expect(whereabouts(ask(storage, "data"))).toEqual({ p: "b" });
  const { newNodes } = ask({ ...storage, nodes: [], pools: [aPool("pool")] }, "data");
  expect(newNodes[0]?.requirements).toContainEqual({ key: zoneKey, operator: "In", values: ["b"] });
});

test("the default class is used where the claim names none", () => {
  const byDefault = {
    ...waiting,
    metadata: { name: "d", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  };
  expect(whereabouts(ask({ claims: [claim("data", {})], storageClasses: [byDefault] }, "data"))).toEqual({ p: "b" });
});

test.each<[string, Partial<Problem>, string]>([
  ["is not there", {}, "default/data not found"],
  ["names a volume that is not there", { claims: [claim("data", { volumeName: "pv" })] }, "persistentvolume pv"],
  ["has a class that is not there", { claims: [claim("data", { storageClassName: "x" })] }, "no usable storage class"],
  [
    "waits to be bound at once",
    {
      claims: [claim("data", { storageClassName: "waiting" })],
      storageClasses: [{ ...waiting, volumeBindingMode: "Immediate" }],
    },
    "not bound yet",
  ],
])("a claim that %s keeps its pod from every node, and the reason says so", (_, problem, words) => {
  const [one] = ask({ ...problem, pools: [aPool("pool")] }, "data").unplaced;
  expect(one && shortForm(one.reason)).toContain(words);
});

test("devices by resource claims keep their pod from every node, and nobody who is like it but for them", () => {
  const pods = [aPod("plain"), aPod("gpu", { resourceClaims: [{ name: "gpu" }] })];
  const answer = answerTo({ nodes: [aNode("a")], pools: [aPool("pool")], pods });
  expect(whereabouts(answer)).toEqual({ plain: "a" });
  expect(answer.unplaced.map(({ reason }) => shortForm(reason))).toEqual([
    "it asks for devices by resourceClaims (DRA), and where those can be had is not known here",
  ]);
});

test("a node attaches no more volumes of a driver than it says, the same one counted once", () => {
  const names = ["v1", "v2", "v3"];
  const problem = {
    nodes: [aNode("a")],
    claims: names.map(name => claim(name, { volumeName: name })),
    volumes: names.map(name => ({ metadata: { name }, spec: { csi: { driver: "csi.example", volumeHandle: name } } })),
    csiNodes: [{ metadata: { name: "a" }, spec: { drivers: [{ name: "csi.example", allocatable: { count: 2 } }] } }],
    bound: [aPod("there", { node: "a", ...using("v1") })],
  };
  const unplaced = (...claims: string[]) => unplacedNames(ask(problem, ...claims));
  expect(unplaced("v2")).toEqual([]);
  expect(unplaced("v1", "v2")).toEqual([]);
  expect(unplaced("v2", "v3")).toEqual(["p"]);
});

test("a claim that only one pod may use is refused to a second", () => {
  const claims = [claim("data", { volumeName: "pv", accessModes: ["ReadWriteOncePod"] })];
  const problem = { claims, volumes: [inZone("pv", "a")], bound: [aPod("there", { node: "a", ...using("data") })] };
  expect(unplacedNames(ask(problem, "data"))).toEqual(["p"]);
});

test("once a volume is being made for a node, its pod goes there", () => {
  const data = claim("data", { storageClassName: "free" });
  const claims = [
    { ...data, metadata: { ...data.metadata, annotations: { "volume.kubernetes.io/selected-node": "b" } } },
  ];
  const { allowedTopologies: _, ...free } = { ...waiting, metadata: { name: "free" } };
  expect(whereabouts(ask({ claims, storageClasses: [free] }, "data"))).toEqual({ p: "b" });
});

test("two new pods cannot share a claim that only one may use", () => {
  const claims = [claim("data", { storageClassName: "waiting", accessModes: ["ReadWriteOncePod"] })];
  const pods = [aPod("p", using("data")), aPod("q", using("data"))];
  const answer = answerTo({ pools: [aPool("pool")], claims, storageClasses: [waiting], pods });
  expect([answer.placements.length, answer.unplaced.length]).toEqual([1, 1]);
});
