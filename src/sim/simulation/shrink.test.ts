import { expect, test } from "vitest";
import type { Scenario } from "./scenario.ts";
import { shrink } from "./shrink.ts";

const entry = (minute: number) => ({ at: `${minute}m`, do: { crash: {} } });
const manifest = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
const world: Scenario = {
  title: "t",
  until: "24h",
  cluster: { manifests: ["a", "b", "c"].map(manifest), nodes: [{ name: "x" }, { name: "y" }] },
  workloads: ["d", "e"].map(manifest),
  timeline: Array.from({ length: 20 }, (_, index) => entry(index)),
};
const minutes = ({ timeline = [] }: Scenario) => timeline.map(({ at }) => at);

test("what the failure does not need is taken away", async () => {
  const fails = async (scenario: Scenario) => {
    const names = scenario.cluster?.manifests?.map(({ metadata }) => metadata.name);
    const isBad = minutes(scenario).includes("3m") && minutes(scenario).includes("17m") && names?.includes("b");
    return isBad ? "I5" : undefined;
  };
  const small = await shrink(world, fails, 500);
  expect(minutes(small)).toEqual(["3m", "17m"]);
  expect(small.cluster).toEqual({ manifests: [manifest("b")], nodes: [] });
  expect(small.workloads).toEqual([]);
});

test("another failure on the way is not taken for the same", async () => {
  const fails = async (scenario: Scenario) => (minutes(scenario).includes("3m") ? "I5" : "I9");
  expect(minutes(await shrink(world, fails, 500))).toEqual(["3m"]);
});

test("a scenario that does not fail stays as it is, and the number of runs is bounded", async () => {
  expect(await shrink(world, async () => undefined, 500)).toBe(world);
  let runs = 0;
  const fails = async () => {
    runs++;
    return "I5";
  };
  await shrink(world, fails, 10);
  expect(runs).toBeLessThanOrEqual(11);
});
