// Why a pod cannot go: a tree that a person can read, and a short form for an event.
import { expect, test } from "vitest";
import { zoneKey } from "../../api/node.ts";
import { reasonText, shortForm } from "./reasons.ts";
import { aNode, aPod, aPool, answerTo } from "./test-worlds.ts";

test("nodes are grouped by what is in the way, pools say which types each constraint removed", () => {
  const nodes = [
    aNode("1"),
    aNode("2"),
    aNode("3", { labels: { disk: "ssd" } }),
    aNode("4", { labels: { disk: "ssd" }, taints: [{ key: "t", effect: "NoSchedule" }] }),
  ];
  const pods = [aPod("p", { nodeSelector: { disk: "ssd" }, requests: { cpu: "5" } })];
  const [one] = answerTo({ nodes, pools: [aPool("pool")], pods }).unplaced;
  expect(one && reasonText(one.reason)).toBe(
    [
      "no node and no pool can take the pod",
      "  4 × 0/4 nodes",
      "    2 × node affinity",
      "    1 × resources",
      "    1 × taints",
      "  pool pool",
      "    node affinity",
      "      2 × types that the pod's node affinity rules out",
      "      1 × types with too few resources",
    ].join("\n"),
  );
  expect(one && shortForm(one.reason)).toBe(
    "no node and no pool can take the pod: 0/4 nodes (2 node affinity, 1 resources, 1 taints); pool pool (node affinity)",
  );
});

test.each<[string, object, object, string]>([
  ["limits", {}, { limits: { cpu: "1" } }, "limits"],
  ["resources", { requests: { cpu: "100" } }, {}, "resources"],
  ["taints", {}, { taints: [{ key: "t", effect: "NoSchedule" }] }, "taints"],
  ["zones without offerings", { nodeSelector: { [zoneKey]: "z" } }, {}, "node affinity"],
])("a pool's trouble is named: %s", (_, pod, pool, words) => {
  const [one] = answerTo({ pools: [aPool("x", pool)], pods: [aPod("p", pod)] }).unplaced;
  expect(one && shortForm(one.reason)).toBe(`no node and no pool can take the pod: pool x (${words})`);
});

test("a world without nodes and pools is said to be one", () => {
  expect(answerTo({ pods: [aPod("p")] }).unplaced[0]?.reason).toEqual({ what: "there are no nodes and no pools" });
});
