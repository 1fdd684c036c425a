import { describe, expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import { conditionOf, isReady } from "./conditions.ts";
import type { Node, Pod } from "./objects.ts";
import { leaseResource, nodeResource, podResource } from "./resources.ts";

const node = (box: LivingBox, name = "a") => box.get<Node>(nodeResource, name);
const pod = (box: LivingBox, name = "one") => box.get<Pod>(podResource, name);
const onA = (more: object = {}) => ({ nodeName: "a", containers: [{ name: "main", image: "none" }], ...more });
const exists = async (box: LivingBox, name = "one") => {
  return (await box.list(podResource)).some(({ metadata }) => metadata.name === name);
};

async function oneNode(): Promise<LivingBox> {
  const box = new LivingBox({ times: { start: [2000, 2000], stop: [1000, 1000] } });
  box.join("a");
  await box.run(10);
  return box;
}

describe("a kubelet", () => {
  test("registers its node from a template, with nothing on it until it is ready", async () => {
    const box = new LivingBox();
    box.join("a", {
      labels: { "topology.kubernetes.io/zone": "1", "kubernetes.io/arch": "arm64" },
      taints: [{ key: "karpenter.sh/unregistered", effect: "NoExecute" }],
      capacity: { cpu: "8", memory: "16Gi", pods: "58" },
      allocatable: { cpu: "7900m", memory: "15Gi", pods: "58" },
      providerID: "simulated:///1/i-1",
      readyAfterMs: 30_000,
    });
    await box.run(1);
    const young = await node(box);
    expect(young.metadata.labels).toMatchObject({ "kubernetes.io/hostname": "a", "kubernetes.io/arch": "arm64" });
    expect(young.spec).toMatchObject({ providerID: "simulated:///1/i-1" });
    expect(young.spec.taints?.map(({ key }) => key)).toEqual(
      expect.arrayContaining(["karpenter.sh/unregistered", "node.kubernetes.io/not-ready"]),
    );
    expect(young.status).toMatchObject({ allocatable: { cpu: "7900m", memory: "15Gi", pods: "58" } });
    expect(conditionOf(young, "Ready")).toMatchObject({ status: "False", reason: "KubeletNotReady" });
    await box.run(28.999);
    expect(isReady(await node(box))).toBe(false);
    await box.run(0.001);
    expect(isReady(await node(box))).toBe(true);
    await box.run(1);
    expect((await node(box)).spec.taints?.map(({ key }) => key)).toEqual(["karpenter.sh/unregistered"]);
  });

  test("may never become ready", async () => {
    const box = new LivingBox();
    box.join("a", { readyAfterMs: Number.POSITIVE_INFINITY });
    await box.run(24 * 3600);
    expect(conditionOf(await node(box), "Ready")?.status).toBe("False");
  });

  test("takes over a node that is there before it, and keeps what others wrote on it", async () => {
    const box = new LivingBox();
    await box.create(nodeResource, { metadata: { name: "a", labels: { mine: "1" } } });
    box.join("a", { labels: { theirs: "2" }, providerID: "simulated:///1/i-1" });
    await box.run(5);
    const taken = await node(box);
    expect(taken.metadata.labels).toMatchObject({ mine: "1", theirs: "2" });
    expect(taken.spec.providerID).toBe("simulated:///1/i-1");
    expect(isReady(taken)).toBe(true);
    expect(await box.list(leaseResource)).toHaveLength(1);
  });

  test("keeps conditions that are not its own, and heals only what it was told", async () => {
    const box = await oneNode();
    const theirs = { type: "KernelDeadlock", status: "True", reason: "Stuck", message: "it is" };
    await box.patch(nodeResource, "a", { status: { conditions: [theirs] } }, "status");
    const simulate = (word: string | null) =>
      box.patch(nodeResource, "a", { metadata: { annotations: { "fettle.dev/simulate": word } } });
    await simulate("Ready=False, ReadonlyFilesystem=True");
    await box.run(1);
    const sick = await node(box);
    expect(conditionOf(sick, "Ready")).toMatchObject({ status: "False", reason: "KubeletNotReady" });
    expect(conditionOf(sick, "ReadonlyFilesystem")?.status).toBe("True");
    await simulate(null);
    await box.run(1);
    const well = await node(box);
    expect(isReady(well)).toBe(true);
    expect(conditionOf(well, "ReadonlyFilesystem")).toBeUndefined();
    expect(conditionOf(well, "KernelDeadlock")).toMatchObject({ status: "True", reason: "Stuck" });
  });

  test("does not fight a person who writes its node's status", async () => {
    const box = await oneNode();
    const ready = { type: "Ready", status: "False", reason: "Mine", message: "because" };
    await box.patch(nodeResource, "a", { status: { conditions: [ready] } }, "status");
    await box.run(3600);
    expect(conditionOf(await node(box), "Ready")).toMatchObject({ status: "False", reason: "Mine" });
  });

  test("says all again when it comes back from a silence, whatever was written meanwhile", async () => {
    const box = await oneNode();
    box.world.kubelets.halt("a");
    const ready = { type: "Ready", status: "False", reason: "Mine", message: "because" };
    await box.patch(nodeResource, "a", { status: { conditions: [ready] } }, "status");
    await box.run(20);
    box.world.kubelets.resume("a");
    await box.run(1);
    expect(conditionOf(await node(box), "Ready")).toMatchObject({ status: "True", reason: "KubeletReady" });
  });

  test("that is silent by annotation is found out like one whose machine hangs", async () => {
    const box = await oneNode();
    await box.patch(nodeResource, "a", { metadata: { annotations: { "fettle.dev/simulate": "Ready=Unknown" } } });
    await box.run(50);
    expect(conditionOf(await node(box), "Ready")).toMatchObject({ status: "Unknown", reason: "NodeStatusUnknown" });
  });

  test("whose machine is rebooted is gone for a while and comes back with another boot id", async () => {
    const box = await oneNode();
    const bootId = async () => ((await node(box)).status as { nodeInfo?: { bootID: string } }).nodeInfo?.bootID;
    const before = await bootId();
    box.world.kubelets.reboot("a", 60_000);
    await box.run(55);
    expect([conditionOf(await node(box), "Ready")?.status, await bootId()]).toEqual(["Unknown", before]);
    await box.run(6);
    expect(isReady(await node(box))).toBe(true);
    expect(await bootId()).not.toBe(before);
  });

  test("keeps beating while its node waits for a finalizer, and again after a silence", async () => {
    const box = await oneNode();
    await box.patch(nodeResource, "a", { metadata: { finalizers: ["test/hold"] } });
    await box.delete(nodeResource, "a");
    await box.run(120);
    box.world.kubelets.halt("a");
    await box.run(60);
    box.world.kubelets.resume("a");
    await box.run(120);
    expect(isReady(await node(box))).toBe(true);
  });

  test("whose node was deleted says nothing more, and nobody brings the node back", async () => {
    const box = await oneNode();
    await box.delete(nodeResource, "a");
    await box.run(600);
    expect(await box.list(nodeResource)).toEqual([]);
    expect(await box.list(leaseResource)).toEqual([]);
    expect(box.failures).toEqual([]);
  });

  test("that left for good leaves its node behind, unknown", async () => {
    const box = await oneNode();
    box.world.kubelets.leave("a");
    await box.run(60);
    expect(box.world.kubelets.has("a")).toBe(false);
    expect(conditionOf(await node(box), "Ready")?.status).toBe("Unknown");
  });
});

describe("a pod on its node", () => {
  test("runs after a while, and is ready when its probe says so", async () => {
    const box = await oneNode();
    const probed = { name: "main", image: "none", readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 5 } };
    await box.create(podResource, { metadata: { name: "one" }, spec: onA({ containers: [probed] }) });
    await box.run(1.999);
    expect((await pod(box)).status.phase).toBe("Pending");
    await box.run(0.001);
    expect((await pod(box)).status).toMatchObject({
      phase: "Running",
      podIP: "10.0.0.1",
      hostIP: "10.128.0.1",
      containerStatuses: [{ ready: false, started: true }],
    });
    expect(isReady(await pod(box))).toBe(false);
    await box.run(5);
    const up = await pod(box);
    expect(isReady(up)).toBe(true);
    expect(conditionOf(up, "Ready")?.reason).toBeUndefined();
  });

  test("stops within its grace and then is gone", async () => {
    const box = await oneNode();
    await box.create(podResource, { metadata: { name: "one" }, spec: onA() });
    await box.run(10);
    await box.delete(podResource, "one");
    await box.run(0.999);
    expect(await exists(box)).toBe(true);
    await box.run(0.001);
    expect(await exists(box)).toBe(false);
  });

  test("that stops tells how it ended only if a finalizer keeps it: else nobody could read it", async () => {
    const box = await oneNode();
    await box.create(podResource, { metadata: { name: "one" }, spec: onA() });
    await box.create(podResource, { metadata: { name: "held", finalizers: ["test/hold"] }, spec: onA() });
    await box.run(10);
    await box.delete(podResource, "one");
    await box.delete(podResource, "held");
    await box.run(5);
    expect(await exists(box)).toBe(false);
    const told = box.journal.filter(line => line.includes('"phase":"Succeeded"')).map(line => line.split(" ", 4)[3]);
    expect(new Set(told)).toEqual(new Set(["default/held"]));
  });

  test("that does not stop is killed when its grace is over", async () => {
    const box = await oneNode();
    const annotations = { "fettle.dev/simulate": "stop=Never" };
    await box.create(podResource, { metadata: { name: "one", annotations }, spec: onA() });
    await box.run(10);
    await box.delete(podResource, "one");
    await box.run(29.999);
    expect(await exists(box)).toBe(true);
    await box.run(0.001);
    expect(await exists(box)).toBe(false);
  });

  test.each(["silent", "stuck"])("neither starts nor stops while the node is %s, and does both after", async word => {
    const box = await oneNode();
    await box.create(podResource, { metadata: { name: "old" }, spec: onA() });
    await box.run(10);
    const simulate = (value: string | null) =>
      box.patch(nodeResource, "a", { metadata: { annotations: { "fettle.dev/simulate": value } } });
    await simulate(word);
    await box.run(1);
    await box.create(podResource, { metadata: { name: "new" }, spec: onA() });
    await box.delete(podResource, "old");
    await box.run(40);
    expect((await pod(box, "new")).status.phase).toBe("Pending");
    expect((await pod(box, "old")).metadata.deletionTimestamp).toBeDefined();
    await simulate(null);
    await box.run(10);
    expect((await pod(box, "new")).status.phase).toBe("Running");
    expect(await exists(box, "old")).toBe(false);
  });
});
