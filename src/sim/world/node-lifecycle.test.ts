import { describe, expect, test } from "vitest";
import { LivingBox, startedAt } from "../../../test/living-box.ts";
import { conditionOf, isReady } from "./conditions.ts";
import type { Node, Pod } from "./objects.ts";
import { nodeResource, podResource } from "./resources.ts";
import { zoneState } from "./zone-pace.ts";

const ready = async (box: LivingBox, name = "a") => conditionOf(await box.get<Node>(nodeResource, name), "Ready");
const taints = async (box: LivingBox, name: string) => {
  const { spec } = await box.get<Node>(nodeResource, name);
  return (spec.taints ?? []).map(({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`);
};
const pod = (nodeName: string, tolerationSeconds?: number) => ({
  nodeName,
  containers: [{ name: "main", image: "none" }],
  ...(tolerationSeconds !== undefined && {
    tolerations: [
      { key: "node.kubernetes.io/unreachable", effect: "NoExecute", operator: "Exists", tolerationSeconds },
    ],
  }),
});

async function pair(beats: "computed" | "written" = "computed"): Promise<LivingBox> {
  const box = new LivingBox({ beats });
  box.join("a");
  box.join("b");
  await box.run(10);
  return box;
}

describe.each(["computed", "written"] as const)("with beats that are %s", beats => {
  test("a node is unknown 50 s after its last beat, not before", async () => {
    const box = await pair(beats);
    await box.run(5); // the last beat was 5 s ago
    box.world.kubelets.halt("a");
    await box.run(44.999);
    expect((await ready(box))?.status).toBe("True");
    await box.run(0.001);
    expect(await ready(box)).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: new Date(startedAt + 60_000).toISOString().replace(".000", ""),
    });
    expect((await ready(box, "b"))?.status).toBe("True");
  });

  test("a kubelet that comes back in time is never doubted", async () => {
    const box = await pair(beats);
    box.world.kubelets.halt("a");
    await box.run(49);
    box.world.kubelets.resume("a");
    await box.run(600);
    expect((await ready(box))?.status).toBe("True");
    expect(await taints(box, "a")).toEqual([]);
  });
});

test("all that a kubelet keeps saying is unknown with it, and known again when it is back", async () => {
  const box = await pair();
  box.world.kubelets.halt("a");
  await box.run(60);
  const statuses = async () => {
    const { status } = await box.get<Node>(nodeResource, "a");
    return Object.fromEntries((status.conditions ?? []).map(condition => [condition.type, condition.status]));
  };
  const kinds = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];
  expect(await statuses()).toEqual(Object.fromEntries(kinds.map(type => [type, "Unknown"])));
  box.world.kubelets.resume("a");
  await box.run(1);
  expect(await statuses()).toEqual({
    MemoryPressure: "False",
    DiskPressure: "False",
    PIDPressure: "False",
    Ready: "True",
  });
  expect(await taints(box, "a")).toEqual([]);
});

test("a node that no kubelet ever spoke for is unknown after a minute", async () => {
  const box = await pair();
  await box.create(nodeResource, { metadata: { name: "mute" } });
  await box.run(59);
  expect(await ready(box, "mute")).toBeUndefined();
  expect(await taints(box, "mute")).toEqual(["not-ready:NoSchedule"]);
  await box.run(1);
  expect(await ready(box, "mute")).toMatchObject({ status: "Unknown", reason: "NodeStatusNeverUpdated" });
});

test.each([
  ["Ready=False", ["not-ready:NoSchedule", "not-ready:NoExecute"]],
  ["MemoryPressure=True", ["memory-pressure:NoSchedule"]],
  ["DiskPressure=True, PIDPressure=True", ["disk-pressure:NoSchedule", "pid-pressure:NoSchedule"]],
  ["NetworkUnavailable=True", ["network-unavailable:NoSchedule"]],
  ["KernelDeadlock=True", []],
])("a node that reports %s is tainted so: %j", async (word, expected) => {
  const box = await pair();
  await box.patch(nodeResource, "a", { metadata: { annotations: { "fettle.dev/simulate": word } } });
  await box.run(1);
  expect(await taints(box, "a")).toEqual(expected);
  await box.patch(nodeResource, "a", { metadata: { annotations: { "fettle.dev/simulate": null } } });
  await box.run(1);
  expect(await taints(box, "a")).toEqual([]);
});

test("a cordoned node carries the taint that says so, and other people's taints stay", async () => {
  const box = await pair();
  await box.patch(nodeResource, "a", {
    spec: { unschedulable: true, taints: [{ key: "mine", effect: "NoSchedule" }] },
  });
  await box.run(1);
  expect(await taints(box, "a")).toEqual(["mine:NoSchedule", "unschedulable:NoSchedule"]);
  await box.patch(nodeResource, "a", { spec: { unschedulable: null } });
  await box.run(1);
  expect(await taints(box, "a")).toEqual(["mine:NoSchedule"]);
});

test("pods of a node that is no longer ready are not ready either, though they still run", async () => {
  const box = await pair();
  await box.create(podResource, { metadata: { name: "one" }, spec: pod("a") });
  await box.run(10);
  expect(isReady(await box.get<Pod>(podResource, "one"))).toBe(true);
  box.world.kubelets.halt("a");
  await box.run(60);
  const { status } = await box.get<Pod>(podResource, "one");
  expect(isReady({ status })).toBe(false);
  expect(status.phase).toBe("Running");
});

describe("pods on a node that is given up", () => {
  test.each([
    [0, 0],
    [30, 30],
    [undefined, 300],
  ])("with a toleration of %j s go after %i s", async (tolerationSeconds, seconds) => {
    const box = await pair();
    await box.create(podResource, { metadata: { name: "one" }, spec: pod("a", tolerationSeconds) });
    await box.run(10);
    box.world.kubelets.halt("a");
    await box.run(50); // the last beat was at 20 s, just now
    const isGoing = async () => (await box.get(podResource, "one")).metadata.deletionTimestamp !== undefined;
    expect((await ready(box))?.status).toBe("Unknown");
    if (seconds > 0) {
      await box.run(seconds - 0.001);
      expect(await isGoing()).toBe(false);
      await box.run(0.001);
    }
    expect(await isGoing()).toBe(true);
    const { status } = await box.get<Pod>(podResource, "one");
    expect(conditionOf({ status }, "DisruptionTarget")).toMatchObject({ reason: "DeletionByTaintManager" });
  });

  test("stay if it comes back before their time is over, and have all their time again at the next", async () => {
    const box = await pair();
    await box.create(podResource, { metadata: { name: "one" }, spec: pod("a", 100) });
    await box.run(10);
    for (let i = 0; i < 2; i++) {
      box.world.kubelets.halt("a");
      await box.run(50 + 90);
      box.world.kubelets.resume("a");
      await box.run(60);
      expect((await box.get(podResource, "one")).metadata.deletionTimestamp).toBeUndefined();
    }
  });

  test("that tolerate it for ever stay for ever", async () => {
    const box = await pair();
    const tolerations = [{ operator: "Exists" }];
    await box.create(podResource, { metadata: { name: "one" }, spec: { ...pod("a"), tolerations } });
    await box.run(10);
    box.world.kubelets.halt("a");
    await box.run(24 * 3600);
    expect((await box.get(podResource, "one")).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe("nodes that fail together", () => {
  const noExecute = async (box: LivingBox) => {
    const nodes = await box.list<Node>(nodeResource);
    return nodes.filter(({ spec }) => spec.taints?.some(({ effect }) => effect === "NoExecute")).length;
  };
  const cluster = async (count: number) => {
    const box = new LivingBox();
    for (let i = 0; i < count; i++) box.join(`node-${i}`);
    await box.run(10);
    return box;
  };
  const halt = (box: LivingBox, count: number) => {
    for (let i = 0; i < count; i++) box.world.kubelets.halt(`node-${i}`);
  };

  test("are given up one by one, ten seconds apart", async () => {
    const box = await cluster(10);
    halt(box, 4);
    await box.run(50);
    const counts = [];
    for (let i = 0; i < 5; i++) {
      counts.push(await noExecute(box));
      await box.run(10);
    }
    expect(counts).toEqual([1, 2, 3, 4, 4]);
  });

  test("are kept where more than half of a small zone fails, until enough are back", async () => {
    const box = await cluster(10);
    halt(box, 6);
    await box.run(600);
    expect(await noExecute(box)).toBeLessThanOrEqual(1);
    box.world.kubelets.resume("node-5");
    await box.run(600);
    expect(await noExecute(box)).toBe(5);
  });

  test("are all kept while none is left: then it is more likely we who are cut off", async () => {
    const box = await cluster(3);
    halt(box, 3);
    await box.run(600);
    expect(await noExecute(box)).toBe(0);
    box.world.kubelets.resume("node-2");
    await box.run(60);
    expect(await noExecute(box)).toBe(2);
  });

  test.each([
    [10, 0, "normal"],
    [5, 5, "normal"],
    [9, 11, "partial"],
    [1, 2, "normal"],
    [1, 3, "partial"],
    [0, 1, "full"],
    [0, 0, "normal"],
  ] as const)("%i ready and %i not make a zone %s", (readyCount, notReadyCount, state) => {
    expect(zoneState(readyCount, notReadyCount)).toBe(state);
  });
});
