import { describe, expect, test } from "vitest";
import { SimulatedCloud } from "../../test/simulated-cloud.ts";
import { simulatedInstances, simulatedNamespace } from "../api/simulated-instance.ts";
import {
  type SimulatedNodeClass,
  simulatedNodeClasses,
  type SimulatedNodeClassSpec,
} from "../api/simulated-node-class.ts";
import { conditionOf, isReady } from "./world/conditions.ts";
import type { KubeObject } from "../api/meta.ts";
import { nodeResource } from "./world/resources.ts";

type Fault = NonNullable<SimulatedNodeClassSpec["faults"]>[number];
const minute = 60;

/** A cloud with one machine of a class, up for so long. */
async function upFor(seconds: number, spec?: SimulatedNodeClassSpec) {
  const cloud = await SimulatedCloud.started(spec);
  const { providerID } = await cloud.launch("web-1");
  await cloud.run(seconds);
  const status = async (type: string) => {
    const node = await cloud.node(providerID);
    return node && conditionOf(node, type)?.status;
  };
  const ask = (verb: "delete" | "reboot", token = "token") =>
    cloud.settle<unknown>(cloud.provider[verb](providerID, token));
  return { cloud, providerID, status, ask };
}
const faulty = (fault: Fault, seconds = 5 * minute) => upFor(seconds, { faults: [fault] });

describe("a machine", () => {
  test("joins after its boot time, with what its type has, and is Ready after its join time", async () => {
    const { cloud, providerID, status } = await upFor(29.999);
    expect(await cloud.node(providerID)).toBeUndefined();
    await cloud.run(0.001);
    const young = await cloud.node(providerID);
    expect(young?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-1-[a-z0-9]{4}$/),
      labels: { "node.kubernetes.io/instance-type": "c-1x-amd64-linux", "karpenter.sh/capacity-type": "spot" },
    });
    expect(young?.spec.taints).toContainEqual(
      expect.objectContaining({ key: "karpenter.sh/unregistered", effect: "NoExecute" }),
    );
    expect(young?.status).toMatchObject({
      capacity: { cpu: "1", memory: "2Gi" },
      allocatable: { cpu: "900m", memory: "2038Mi", pods: "16" },
    });
    expect(young && isReady(young)).toBe(false);
    await cloud.run(9.999);
    expect(await status("Ready")).toBe("False");
    await cloud.run(0.001);
    expect(await status("Ready")).toBe("True");
    expect(cloud.failures).toEqual([]);
  });

  test("that is told to end falls silent at once and is gone after its stop time", async () => {
    const { cloud, ask, status } = await upFor(minute);
    expect(await ask("delete")).toBe("terminating");
    await cloud.run(4.999);
    expect(await cloud.instances()).toHaveLength(1);
    await cloud.run(0.001);
    expect(await cloud.instances()).toEqual([]);
    await cloud.run(minute);
    expect(await status("Ready")).toBe("Unknown");
    expect(cloud.failures).toEqual([]);
  });

  test("that is told to end before it has joined never does", async () => {
    const { cloud, ask } = await upFor(10);
    await ask("delete");
    await cloud.run(5 * minute);
    expect(await cloud.instances()).toEqual([]);
    expect(await cloud.list(nodeResource)).toEqual([]);
  });

  test("whose node was deleted while it ends does not bring it back", async () => {
    const { cloud, ask, providerID } = await upFor(minute, { stop: { median: "5m" } });
    const node = await cloud.node(providerID);
    await ask("delete");
    await cloud.delete(nodeResource, node?.metadata.name ?? "");
    await cloud.run(2 * minute);
    expect(await cloud.list(nodeResource)).toEqual([]);
    cloud.player.stop();
    cloud.newPlayer();
    await cloud.run(minute);
    expect(await cloud.list(nodeResource)).toEqual([]);
    await cloud.run(2 * minute);
    expect(await cloud.instances()).toEqual([]);
  });

  test("whose object is deleted has lost its power: its node falls silent", async () => {
    const { cloud, status } = await upFor(minute);
    const [instance] = await cloud.instances();
    const key = { name: instance?.metadata.name ?? "", namespace: simulatedNamespace };
    await cloud.settle(cloud.api.delete(simulatedInstances, key));
    await cloud.run(2 * minute);
    expect(await status("Ready")).toBe("Unknown");
  });

  test("takes as long as its class spreads it, the same with the same seed", async () => {
    const spec = { boot: { median: "30s", p99: "5m" } };
    const joined = async (seed: number) => {
      const cloud = await SimulatedCloud.started(spec, { seed });
      for (let index = 0; index < 12; index++) await cloud.launch(`web-${index}`);
      await cloud.run(30 * minute);
      const nodes = await cloud.list(nodeResource);
      return nodes.map(({ metadata }) => `${metadata.name} ${metadata.creationTimestamp}`);
    };
    const first = await joined(1);
    expect(new Set(first.map(line => line.split(" ")[1])).size).toBeGreaterThan(6);
    expect(await joined(1)).toEqual(first);
    expect(await joined(2)).not.toEqual(first);
  });
});

test("the same seed gives the same writes, byte for byte", async () => {
  const faults: Fault[] = [
    { kind: "Flaps", share: "40%", after: "1m" },
    { kind: "Vanishes", share: "20%", after: "3m" },
    { kind: "Lies", share: "30%", after: "2m", conditionType: "KernelDeadlock", conditionStatus: "True" },
  ];
  const journal = async () => {
    const cloud = await SimulatedCloud.started({ boot: { median: "30s", p99: "2m" }, faults }, { seed: 5 });
    for (let index = 0; index < 10; index++) await cloud.launch(`web-${index}`);
    await cloud.run(10 * minute);
    return cloud.journal;
  };
  expect(await journal()).toEqual(await journal());
});

describe("of the faults", () => {
  test("NeverJoins leaves an instance without a node", async () => {
    const { cloud } = await faulty({ kind: "NeverJoins" }, 60 * minute);
    expect(await cloud.instances()).toHaveLength(1);
    expect(await cloud.list(nodeResource)).toEqual([]);
  });

  test("NeverReady leaves a node that beats and is not Ready", async () => {
    const { status } = await faulty({ kind: "NeverReady" }, 60 * minute);
    expect(await status("Ready")).toBe("False");
    expect(await status("MemoryPressure")).toBe("False");
  });

  test("Flaps comes and goes, and each time counts as a transition", async () => {
    const { cloud, providerID, status } = await faulty({ kind: "Flaps", after: "5m", period: "1m" });
    const seen: unknown[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await cloud.run(1);
      const node = await cloud.node(providerID);
      seen.push([await status("Ready"), node && conditionOf(node, "Ready")?.lastTransitionTime]);
      await cloud.run(59);
    }
    const from = "2026-01-01T00";
    expect(seen).toEqual([
      ["False", `${from}:05:06Z`],
      ["True", `${from}:06:06Z`],
      ["False", `${from}:07:06Z`],
      ["True", `${from}:08:06Z`],
    ]);
  });

  test("HangsOnDelete goes on as if nobody had said a word, until the fault is lifted", async () => {
    const { cloud, ask, status } = await faulty({ kind: "HangsOnDelete" });
    expect(await ask("delete")).toBe("terminating");
    await cloud.run(60 * minute);
    expect(await status("Ready")).toBe("True");
    expect(await ask("delete")).toBe("terminating");
    await cloud.patchClass("default", { spec: { faults: [] } });
    await cloud.run(1);
    expect(await cloud.instances()).toEqual([]);
  });

  test("Lies reports a condition that is older than its node, and says so again after a silence", async () => {
    const fault: Fault = { kind: "Lies", after: "2m", conditionType: "KernelDeadlock", conditionStatus: "True" };
    const { cloud, providerID } = await faulty(fault, 2 * minute - 1);
    const condition = async () => {
      const node = await cloud.node(providerID);
      return node && conditionOf(node, "KernelDeadlock");
    };
    expect(await condition()).toBeUndefined();
    await cloud.run(1);
    const lie = { status: "True", lastTransitionTime: "2025-12-31T00:00:06Z" };
    expect(await condition()).toMatchObject(lie);
    const name = (await cloud.node(providerID))?.metadata.name ?? "";
    cloud.world.kubelets.halt(name);
    await cloud.run(2 * minute);
    cloud.world.kubelets.resume(name);
    await cloud.run(minute);
    expect(await condition()).toMatchObject(lie);
  });

  test("Vanishes leaves a node behind and nothing that answers for it", async () => {
    const { cloud, status, providerID, ask } = await faulty({ kind: "Vanishes", after: "5m" }, 5 * minute - 1);
    expect(await status("Ready")).toBe("True");
    await cloud.run(1);
    expect(await cloud.instances()).toEqual([]);
    expect(await ask("delete")).toBe("gone");
    await cloud.run(2 * minute);
    expect(await status("Ready")).toBe("Unknown");
    expect(await cloud.node(providerID)).toBeDefined();
  });

  test("each strikes its share, where it says", async () => {
    const cloud = await SimulatedCloud.started({
      zones: ["a", "b"],
      capacityTypes: ["spot"],
      faults: [{ kind: "NeverJoins", zones: ["a"] }],
    });
    const zones = [];
    for (let index = 0; index < 16; index++) {
      const { labels } = await cloud.launch(`web-${index}`);
      zones.push(labels["topology.kubernetes.io/zone"]);
    }
    await cloud.run(5 * minute);
    const joined = (await cloud.list(nodeResource)).map(
      ({ metadata }) => metadata.labels?.["topology.kubernetes.io/zone"],
    );
    expect(new Set(joined)).toEqual(new Set(["b"]));
    expect(joined).toHaveLength(zones.filter(zone => zone === "b").length);
    expect(joined.length).toBeLessThan(16);
  });

  test("one that is added to the class strikes machines that run", async () => {
    const { cloud, status } = await upFor(minute, {});
    await cloud.patchClass("default", { spec: { faults: [{ kind: "Flaps", after: "0s", period: "10h" }] } });
    expect(await status("Ready")).toBe("False");
  });
});

describe("a reboot", () => {
  test("takes its time, and the machine comes back as another boot of the same node", async () => {
    const { cloud, ask, status, providerID } = await upFor(minute, { reboot: { time: { median: "2m" } } });
    const before = await cloud.node(providerID);
    expect(await ask("reboot")).toBe("rebooting");
    await cloud.run(118);
    expect(await status("Ready")).toBe("Unknown");
    // A second word, and another look, ask for nothing more.
    expect(await ask("reboot")).toBe("rebooting");
    await cloud.patchClass("default", { spec: { zones: ["moon"] } });
    await cloud.run(10);
    expect(await status("Ready")).toBe("True");
    const after = await cloud.node(providerID);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(bootOf(before)).toMatch(/0001$/);
    expect(bootOf(after)).toMatch(/0002$/);
    const [instance] = await cloud.instances();
    expect(instance?.["data"]).not.toHaveProperty("rebootingSince");
    await cloud.run(10 * minute);
    expect(bootOf(await cloud.node(providerID))).toBe(bootOf(after));
  });

  test("heals what a person made sick and what the class did, where it heals", async () => {
    const faults: Fault[] = [{ kind: "NeverReady" }];
    const { cloud, ask, status, providerID } = await upFor(minute, { faults });
    const name = (await cloud.node(providerID))?.metadata.name ?? "";
    await cloud.patch(nodeResource, name, {
      metadata: { annotations: { "fettle.dev/simulate": "KernelDeadlock=True" } },
    });
    await cloud.run(1);
    expect([await status("Ready"), await status("KernelDeadlock")]).toEqual(["False", "True"]);
    await ask("reboot");
    await cloud.run(2 * minute);
    expect([await status("Ready"), await status("KernelDeadlock")]).toEqual(["True", undefined]);
  });

  test("that heals nobody leaves everything as it was", async () => {
    const { cloud, ask, status, providerID } = await upFor(minute, { reboot: { heals: "0%" } });
    const name = (await cloud.node(providerID))?.metadata.name ?? "";
    await cloud.patch(nodeResource, name, { metadata: { annotations: { "fettle.dev/simulate": "Ready=False" } } });
    await ask("reboot");
    await cloud.run(5 * minute);
    expect(await status("Ready")).toBe("False");
  });

  test("that was over before its player was started anew is counted, and seen by the boot id", async () => {
    const { cloud, ask, providerID } = await upFor(minute, { reboot: { time: { median: "30s" } } });
    const before = bootOf(await cloud.node(providerID));
    cloud.player.stop();
    await ask("reboot");
    await cloud.run(5 * minute);
    cloud.newPlayer();
    await cloud.run(minute);
    expect(bootOf(await cloud.node(providerID))).not.toBe(before);
    expect(await cloud.instances()).toMatchObject([{ data: { rebootCount: "1" } }]);
  });

  test("is over in its time also when the player is started anew meanwhile", async () => {
    const { cloud, ask, status } = await upFor(minute, { reboot: { time: { median: "3m" } } });
    await ask("reboot");
    await cloud.run(minute);
    cloud.player.stop();
    cloud.newPlayer();
    await cloud.run(3 * minute);
    expect(await status("Ready")).toBe("True");
    const [instance] = await cloud.instances();
    expect(instance?.["data"]).toMatchObject({ healedAt: expect.any(String) });
    expect(instance?.["data"]).not.toHaveProperty("rebootingSince");
  });
});

function bootOf(node: KubeObject | undefined): unknown {
  return (node?.["status"] as { nodeInfo?: { bootID?: string } } | undefined)?.nodeInfo?.bootID;
}

describe("a player that is started anew", () => {
  test("goes on with every machine where it stood, in its time, and doubles none", async () => {
    const cloud = await SimulatedCloud.started({ boot: { median: "1m" }, stop: { median: "2m" } });
    const old = await cloud.launch("old");
    const leaving = await cloud.launch("leaving");
    await cloud.run(2 * minute);
    const young = await cloud.launch("young");
    await cloud.settle(cloud.provider.delete(leaving.providerID));
    await cloud.run(30);
    const before = await cloud.node(old.providerID);
    cloud.player.stop();
    await cloud.run(20);
    cloud.newPlayer();
    await cloud.run(10);
    expect(await cloud.node(young.providerID)).toBeDefined();
    await cloud.run(59);
    expect(await cloud.instances()).toHaveLength(3);
    await cloud.run(2);
    expect(await cloud.instances()).toHaveLength(2);
    expect(await cloud.node(old.providerID)).toEqual(before);
    expect(cloud.failures).toEqual([]);
  });

  test("with kubelets of its own finds its nodes again, Ready since they were", async () => {
    const { cloud, providerID } = await upFor(10 * minute);
    const before = await cloud.node(providerID);
    cloud.player.stop();
    cloud.world.stop();
    await cloud.run(20);
    cloud.newPlayer(cloud.newWorld());
    await cloud.run(10 * minute);
    const after = await cloud.node(providerID);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after && conditionOf(after, "Ready")).toMatchObject({
      status: "True",
      lastTransitionTime: before && conditionOf(before, "Ready")?.lastTransitionTime,
    });
    expect(await cloud.list(nodeResource)).toHaveLength(1);
  });

  test("catches up with what has come due while nobody played", async () => {
    const cloud = await SimulatedCloud.started();
    cloud.player.stop();
    const { providerID } = await cloud.launch("web-1");
    await cloud.run(10 * minute);
    expect(await cloud.node(providerID)).toBeUndefined();
    cloud.newPlayer();
    await cloud.run(1);
    const node = await cloud.node(providerID);
    expect(node && isReady(node)).toBe(true);
  });
});

test("an object that was meant as an instance is told of and left alone, and what a cluster puts there is nobody's", async () => {
  const { cloud } = await upFor(minute);
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "stray" }, data: { launchedAt: "x" } };
  const authority = { ...manifest, metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": "x" } };
  for (const each of [manifest, authority]) {
    await cloud.settle(cloud.api.create(simulatedInstances, { namespace: simulatedNamespace }, each));
  }
  await cloud.run(10 * minute);
  expect(cloud.failures).toEqual([expect.stringContaining("fettle-simulated/stray is no simulated instance")]);
  expect(await cloud.instances()).toHaveLength(3);
});

describe("the status of a class", () => {
  const statusOf = async (cloud: SimulatedCloud, name: string) =>
    (await cloud.get<KubeObject & SimulatedNodeClass>(simulatedNodeClasses.resource, name)).status;

  test("says how many types can be had, and since when", async () => {
    const cloud = await SimulatedCloud.started({});
    expect(await statusOf(cloud, "default")).toMatchObject({
      observedGeneration: 1,
      instanceTypes: 144,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:01Z" }],
    });
    await cloud.run(minute);
    await cloud.patchClass("default", { spec: { catalogue: { cpus: [1], memoryPerCPU: [2] } } });
    expect(await statusOf(cloud, "default")).toMatchObject({
      observedGeneration: 2,
      instanceTypes: 4,
      conditions: [{ lastTransitionTime: "2026-01-01T00:00:01Z" }],
    });
  });

  test("says why nothing can be had", async () => {
    const cloud = await SimulatedCloud.started({
      instanceTypes: [{ name: "t", capacity: { cpu: "1e5000", memory: "1Gi" } }],
    });
    expect(await statusOf(cloud, "default")).toMatchObject({
      instanceTypes: 0,
      conditions: [{ status: "False", message: expect.stringContaining("instance type t") }],
    });
  });
});
