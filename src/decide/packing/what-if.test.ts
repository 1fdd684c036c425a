// What if nodes were gone, on a picture that is kept and takes changes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import { changePicture, pictureOf } from "./build.ts";
import { verdicts } from "./feasible.ts";
import { emptyProblem, type ExistingNode, type Problem } from "./problem.ts";
import { solveOn } from "./solve.ts";
import { aNode, aPod, aPool, answerTo, whereabouts, zoneOf } from "./test-worlds.ts";
import { whatIfGone } from "./what-if.ts";

const world = (problem: Partial<Problem>): Problem => ({ ...emptyProblem, ...problem });
const nodes = [aNode("a"), aNode("b"), aNode("c")];

test("pods of a node that is gone go to the others, and to new nodes if they must", () => {
  const bound = [aPod("x", { node: "a", requests: { cpu: "3" } }), aPod("y", { node: "b", requests: { cpu: "3" } })];
  const picture = pictureOf(world({ nodes, bound, pools: [aPool("pool")] }));
  expect(whereabouts(whatIfGone(picture, ["a"]))).toEqual({ x: "c" });
  expect(whereabouts(whatIfGone(picture, ["a", "c"]))).toEqual({ x: "new:0" });
  expect(whereabouts(whatIfGone(picture, ["a", "b", "c"]))).toEqual({ x: "new:0", y: "new:0" });
});

test("daemons, static pods and pods on their way out need no new place", () => {
  const owned = (name: string, kind: string): Pod => {
    const pod = aPod(name, { node: "a" });
    return {
      ...pod,
      metadata: { ...pod.metadata, ownerReferences: [{ apiVersion: "v1", kind, name: "o", uid: "1" }] },
    };
  };
  const bound = [
    owned("d", "DaemonSet"),
    owned("s", "Node"),
    owned("r", "ReplicaSet"),
    aPod("t", { node: "a", terminating: true }),
  ];
  expect(whereabouts(whatIfGone(pictureOf(world({ nodes, bound })), ["a"]))).toEqual({ r: "b" });
});

test("a domain that is gone with its only node is none any more", () => {
  const labels = { app: "web" };
  const spread = {
    labels,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: zoneKey,
        whenUnsatisfiable: "DoNotSchedule" as const,
        labelSelector: { matchLabels: labels },
      },
    ],
  };
  const zoned = ["a", "b"].map(name => aNode(name, { labels: zoneOf(name) }));
  const bound = [aPod("x", { node: "a", ...spread }), aPod("y", { node: "b", ...spread })];
  const picture = pictureOf(world({ nodes: zoned, bound }));
  expect(whereabouts(whatIfGone(picture, ["a"]))).toEqual({ x: "b" });
  expect(whereabouts(whatIfGone(picture, ["b"]))).toEqual({ y: "a" });
});

const app = fc.constantFrom("x", "y");
const anyPod = (name: string, node?: string): fc.Arbitrary<Pod> =>
  fc
    .record({
      label: app,
      other: app,
      rule: fc.constantFrom("none", "spread", "apart", "near"),
      cpu: fc.integer({ min: 1, max: 20 }),
    })
    .map(({ label, other, rule, cpu }) => {
      const labelSelector = { matchLabels: { app: other } };
      const terms = [{ topologyKey: rule === "apart" ? hostnameKey : zoneKey, labelSelector }];
      return aPod(name, {
        labels: { app: label },
        requests: { cpu: `${cpu * 100}m` },
        ...(node !== undefined && { node }),
        ...(rule === "spread" && {
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: zoneKey, whenUnsatisfiable: "DoNotSchedule", labelSelector },
          ],
        }),
        ...(rule === "apart" && {
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
        }),
        ...(rule === "near" && {
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
        }),
      });
    });

const names = ["n0", "n1", "n2", "n3"];
const zonedNodes: ExistingNode[] = names.map((name, index) =>
  aNode(name, { labels: zoneOf(index % 2 === 0 ? "a" : "b") }),
);
const anyBound = fc.tuple(...Array.from({ length: 8 }, (_, index) => anyPod(`b${index}`, names[index % names.length])));
const anyPending = fc.tuple(...Array.from({ length: 4 }, (_, index) => anyPod(`p${index}`)));

test("a question leaves the picture as it was", () => {
  fc.assert(
    fc.property(anyBound, anyPending, (bound, pods) => {
      const problem = world({ nodes: zonedNodes, bound, pools: [aPool("pool")] });
      const picture = pictureOf(problem);
      const first = whereabouts(solveOn(picture, pods));
      whatIfGone(picture, ["n1"]);
      whatIfGone(picture, ["n0", "n2"], pods);
      expect(whereabouts(solveOn(picture, pods))).toEqual(first);
      expect(first).toEqual(whereabouts(answerTo({ ...problem, pods })));
    }),
    { numRuns: 60 },
  );
});

test("a picture that took changes answers as one built from the result", () => {
  fc.assert(
    fc.property(anyBound, anyPending, fc.constantFrom(...names), (bound, pods, name) => {
      const picture = pictureOf(world({ nodes: zonedNodes, bound: bound.slice(0, 5) }));
      solveOn(picture, pods); // so that counts exist before the changes
      for (const pod of bound.slice(3)) changePicture(picture, { kind: "pod", pod });
      changePicture(picture, { kind: "node-gone", name });
      changePicture(picture, { kind: "node", node: aNode(name, { labels: zoneOf("c") }) });
      changePicture(picture, { kind: "node", node: aNode("n9", { labels: zoneOf("a") }) });
      changePicture(picture, { kind: "pod-gone", pod: "default/b0" });
      const changed = zonedNodes.map(node =>
        node.node.metadata.name === name ? aNode(name, { labels: zoneOf("c") }) : node,
      );
      const fresh = pictureOf(
        world({ nodes: [...changed, aNode("n9", { labels: zoneOf("a") })], bound: bound.slice(1) }),
      );
      expect(whereabouts(solveOn(picture, pods))).toEqual(whereabouts(solveOn(fresh, pods)));
      for (const pod of pods) expect(verdicts(picture, pod)).toEqual(verdicts(fresh, pod));
    }),
    { numRuns: 60 },
  );
});
