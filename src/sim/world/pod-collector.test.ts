import { expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import { conditionOf } from "./conditions.ts";
import type { Pod } from "./objects.ts";
import { nodeResource, podResource } from "./resources.ts";

const onA = { nodeName: "a", containers: [{ name: "main", image: "none" }], tolerations: [{ operator: "Exists" }] };
const names = async (box: LivingBox) => (await box.list(podResource)).map(({ metadata }) => metadata.name);

async function lonely(options: { endedMax?: number } = {}): Promise<LivingBox> {
  const box = new LivingBox(options);
  box.join("a");
  box.join("b");
  await box.run(10);
  return box;
}

test("pods of a node that is gone are failed and deleted 40 s later, not before", async () => {
  const box = await lonely();
  await box.create(podResource, { metadata: { name: "one", finalizers: ["test/hold"] }, spec: onA });
  await box.create(podResource, { metadata: { name: "two" }, spec: onA });
  await box.run(10);
  box.world.kubelets.leave("a");
  await box.delete(nodeResource, "a");
  await box.run(39.999);
  expect(await names(box)).toEqual(["one", "two"]);
  await box.run(0.001);
  expect(await names(box)).toEqual(["one"]);
  const held = await box.get<Pod>(podResource, "one");
  expect(held.status.phase).toBe("Failed");
  expect(conditionOf(held, "DisruptionTarget")).toMatchObject({ status: "True", reason: "DeletionByPodGC" });
});

test("a node that comes back in time keeps its pods", async () => {
  const box = await lonely();
  await box.create(podResource, { metadata: { name: "one" }, spec: onA });
  await box.run(10);
  await box.delete(nodeResource, "a");
  await box.run(30);
  await box.create(nodeResource, { metadata: { name: "a" } });
  await box.run(3600);
  expect(await names(box)).toEqual(["one"]);
});

test("terminating pods of a node that is out of service go at once, the others stay", async () => {
  const box = await lonely();
  for (const name of ["one", "two"]) await box.create(podResource, { metadata: { name }, spec: onA });
  await box.run(10);
  box.world.kubelets.halt("a");
  await box.run(60);
  await box.delete(podResource, "one");
  await box.run(600);
  expect(await names(box)).toEqual(["one", "two"]);
  const key = "node.kubernetes.io/out-of-service";
  await box.patch(nodeResource, "a", { spec: { taints: [{ key, value: "nodeshutdown", effect: "NoExecute" }] } });
  await box.run(1);
  expect(await names(box)).toEqual(["two"]);
});

test("of ended pods the oldest go when there are too many", async () => {
  const box = await lonely({ endedMax: 2 });
  for (const name of ["d", "c", "b", "a"]) {
    await box.create(podResource, { metadata: { name }, spec: { ...onA, restartPolicy: "Never" } });
    await box.run(1);
  }
  await box.run(60);
  expect(await names(box)).toEqual(["a", "b"]);
});
