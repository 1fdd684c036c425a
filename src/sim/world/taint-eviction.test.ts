// Over time, on nodes that fail: see node-lifecycle.test.ts.

import { expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import type { Taint, Toleration } from "../../api/taint.ts";
import type { Pod } from "./objects.ts";
import { nodeResource, podResource } from "./resources.ts";
import { toleratedFor } from "./taint-eviction.ts";

const pod = (tolerations: Toleration[]) => ({ spec: { containers: [], tolerations } }) as unknown as Pod;
const a: Taint = { key: "a", effect: "NoExecute" };
const b: Taint = { key: "b", effect: "NoExecute" };
const forA = (tolerationSeconds?: number): Toleration => ({
  key: "a",
  operator: "Exists",
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const always = Number.POSITIVE_INFINITY;

test.each<[string, Taint[], Toleration[], number]>([
  ["no taint", [], [], always],
  ["a taint that is not tolerated", [a], [], 0],
  ["one of two", [a, b], [forA()], 0],
  ["for ever", [a], [forA()], always],
  ["for a while", [a], [forA(60)], 60_000],
  ["the shortest of several", [a], [forA(60), forA(30), forA()], 30_000],
  ["a time in the past", [a], [forA(-1)], 0],
  ["everything", [a, b], [{ operator: "Exists" }], always],
])("%s", (_, taints, tolerations, expected) => {
  expect(toleratedFor(pod(tolerations), taints)).toBe(expected);
});

test("a taint that a person puts on a node evicts those that do not tolerate it, at once", async () => {
  const box = new LivingBox();
  box.join("node");
  await box.run(10);
  const spec = { nodeName: "node", containers: [{ name: "main", image: "none" }] };
  await box.create(podResource, { metadata: { name: "leaves" }, spec });
  await box.create(podResource, { metadata: { name: "stays" }, spec: { ...spec, tolerations: [forA()] } });
  await box.run(10);
  await box.patch(nodeResource, "node", { spec: { taints: [a] } });
  await box.run(5);
  expect((await box.list(podResource)).map(({ metadata }) => metadata.name)).toEqual(["stays"]);
  expect(box.failures).toEqual([]);
});
