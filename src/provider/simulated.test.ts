import { describe, expect, test } from "vitest";
import { aClaim } from "../../test/builders.ts";
import { defaultRef, launchOf, SimulatedCloud } from "../../test/simulated-cloud.ts";
import { simulatedInstances, simulatedNamespace } from "../api/simulated-instance.ts";
import { simulatedNodeClasses } from "../api/simulated-node-class.ts";
import { ApiError, type Status } from "../api/status.ts";
import type { KubeApi } from "../control/ports.ts";
import type { Instance } from "../snapshot/instance.ts";

/** The API with one method that behaves otherwise. */
function spoilt<M extends keyof KubeApi>(api: KubeApi, method: M, other: (real: KubeApi[M]) => KubeApi[M]): KubeApi {
  return new Proxy(api, {
    get: (target, property) => {
      const member = target[property as keyof KubeApi].bind(target);
      return property === method ? other(member as KubeApi[M]) : member;
    },
  });
}

function refusal(code: number, reason: string, details: Status["details"] = {}, message = "no"): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    reason,
    details,
    message,
  });
}

async function rename(cloud: SimulatedCloud, instance: Instance, data: object): Promise<void> {
  const name = instance.providerID.split("/").at(-1) ?? "";
  const key = { name, namespace: simulatedNamespace };
  await cloud.settle(cloud.api.patch(simulatedInstances, key, { type: "merge", body: { data } }));
}

describe("a launch", () => {
  test("writes down one instance, tagged with cluster and claim, and tells what the node will be", async () => {
    const cloud = await SimulatedCloud.started();
    const instance = await cloud.launch("web-1", {
      requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["test-zone-c"] }],
      resources: { requests: { cpu: "3", memory: "10Gi" } },
    });
    expect(instance).toMatchObject({
      providerID: "simulated:///test-zone-c/i-uid-web-1",
      cluster: "blue",
      claimUid: "uid-web-1",
      createdAt: cloud.clock.now(),
      state: "running",
      labels: {
        "node.kubernetes.io/instance-type": "s-4x-amd64-linux",
        "topology.kubernetes.io/zone": "test-zone-c",
        "karpenter.sh/capacity-type": "spot",
        "kubernetes.io/os": "linux",
      },
      capacity: { cpu: "4" },
      allocatable: { cpu: "3900m" },
    });
    const [kept] = await cloud.instances();
    expect(kept?.metadata).toMatchObject({
      name: "i-uid-web-1",
      labels: { "fettle.dev/cluster": "blue", "fettle.dev/claim-uid": "uid-web-1" },
    });
  });

  test("asked for twice is one, in turn and at once", async () => {
    const cloud = await SimulatedCloud.started();
    const first = await cloud.launch("web-1");
    expect(await cloud.launch("web-1")).toEqual(first);
    const both = Promise.all([cloud.provider.create(launchOf("web-2")), cloud.provider.create(launchOf("web-2"))]);
    const [one, other] = await cloud.settle(both);
    expect(one).toEqual(other);
    expect(await cloud.instances()).toHaveLength(2);
  });

  test("whose answer was lost is found again, even if the class could not launch it any more", async () => {
    const cloud = await SimulatedCloud.started({});
    const losing = spoilt(cloud.api, "create", real => async (...args) => {
      await real(...args);
      throw new Error("the connection was cut");
    });
    const provider = cloud.newProvider({ api: losing });
    await cloud.run(1);
    // First the answer to the namespace is lost, then that to the instance.
    for (const _ of ["namespace", "instance"]) {
      expect(await cloud.settle(provider.create(launchOf("web-1")))).toEqual({
        error: "Unknown",
        message: "the connection was cut",
      });
    }
    await cloud.patchClass("default", { spec: { faults: [{ kind: "NoCapacity" }] } });
    expect(await cloud.launch("web-1")).toMatchObject({ claimUid: "uid-web-1", state: "running" });
    expect(await cloud.instances()).toHaveLength(1);
  });

  test("takes one request, and takes over what an earlier one has made", async () => {
    const cloud = await SimulatedCloud.started();
    let looks = 0;
    const watched = spoilt(cloud.api, "get", real => (...args) => {
      looks++;
      return real(...args);
    });
    const provider = cloud.newProvider({ api: watched });
    await cloud.run(1);
    await cloud.settle(provider.create(launchOf("web-1")));
    expect(looks).toBe(0);
    expect(await cloud.settle(provider.create(launchOf("web-1")))).toMatchObject({ claimUid: "uid-web-1" });
    expect([looks, await cloud.instances()]).toEqual([1, [expect.anything()]]);
  });

  test("finds no capacity where the class has none, and the rest elsewhere", async () => {
    const cloud = await SimulatedCloud.started({
      zones: ["a", "b"],
      faults: [{ kind: "NoCapacity", zones: ["a"], capacityTypes: ["spot"] }],
    });
    const spotIn = (zone: string) => ({
      requirements: [
        { key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] },
        { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["spot"] },
      ],
    });
    expect(await cloud.settle(cloud.provider.create(launchOf("x", spotIn("a"))))).toMatchObject({
      error: "InsufficientCapacity",
    });
    expect((await cloud.launch("y", spotIn("b"))).labels["topology.kubernetes.io/zone"]).toBe("b");
    expect((await cloud.launch("z")).labels["topology.kubernetes.io/zone"]).toBe("b");
    expect(await cloud.instances()).toHaveLength(2);
  });

  test("finds no capacity for a share of the claims, the same ones each time", async () => {
    const cloud = await SimulatedCloud.started({ faults: [{ kind: "NoCapacity", share: "50%" }] });
    const names = Array.from({ length: 60 }, (_, index) => `claim-${index}`);
    const answers = await Promise.all(names.map(name => cloud.settle(cloud.provider.create(launchOf(name)))));
    const refused = names.filter((_, index) => "error" in (answers[index] ?? {}));
    expect(refused.length).toBeGreaterThan(18);
    expect(refused.length).toBeLessThan(42);
    for (const name of refused) {
      expect(await cloud.settle(cloud.provider.create(launchOf(name)))).toMatchObject({
        error: "InsufficientCapacity",
      });
    }
  });
});

describe("what the API says", () => {
  test.each<[string, Error, object]>([
    ["nothing", new Error("socket hang up"), { error: "Unknown", message: "socket hang up" }],
    ["that it failed", refusal(500, "InternalError"), { error: "Unknown" }],
    ["not now", refusal(429, "TooManyRequests", { retryAfterSeconds: 7 }), { error: "Throttled", retryAfterMs: 7000 }],
    ["enough", refusal(403, "Forbidden", {}, "exceeded quota: machines"), { error: "QuotaExceeded" }],
    ["never", refusal(403, "Forbidden"), { error: "Invalid" }],
    ["that it is wrong", refusal(422, "Invalid"), { error: "Invalid" }],
    ["that it has moved on", refusal(409, "Conflict"), { error: "Unknown" }],
  ])("%s becomes a value", async (_, error, expected) => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    const failing = (method: keyof KubeApi) =>
      cloud.newProvider({ api: spoilt(cloud.api, method, () => () => Promise.reject(error) as never) });
    const launching = failing("create");
    await cloud.run(1);
    expect(await cloud.settle(launching.create(launchOf("web-2")))).toMatchObject(expected);
    expect(await cloud.settle(failing("get").get(providerID))).toMatchObject(expected);
    expect(await cloud.settle(failing("list").list("blue"))).toMatchObject(expected);
    expect(await cloud.settle(failing("patch").delete(providerID))).toMatchObject(expected);
    expect(await cloud.settle(failing("patch").reboot(providerID, "t"))).toMatchObject(expected);
  });

  test("a call that is called off is Unknown", async () => {
    const cloud = await SimulatedCloud.started();
    const signal = AbortSignal.abort(new Error("too late"));
    expect(await cloud.settle(cloud.provider.create(launchOf("web-1"), { signal }))).toEqual({
      error: "Unknown",
      message: "too late",
    });
    expect(await cloud.instances()).toEqual([]);
  });
});

describe("an instance", () => {
  test("is listed with its cluster's, on as many pages as it takes", async () => {
    const cloud = await SimulatedCloud.started();
    const names = Array.from({ length: 5 }, (_, index) => `web-${index}`);
    for (const name of names) await cloud.launch(name);
    await cloud.settle(cloud.provider.create({ ...launchOf("other"), cluster: "green" }));
    const small = spoilt(cloud.api, "list", real => (resource, options) => real(resource, { ...options, limit: 2 }));
    for (const provider of [cloud.provider, cloud.newProvider({ api: small })]) {
      const listed = await cloud.settle(provider.list("blue"));
      expect("error" in listed ? listed : listed.map(({ claimUid = "" }) => claimUid).sort()).toEqual(
        names.map(name => `uid-${name}`),
      );
    }
  });

  test("that somebody spoilt makes the whole list an error: never a part of it", async () => {
    const cloud = await SimulatedCloud.started();
    await cloud.launch("web-1");
    await rename(cloud, await cloud.launch("web-2"), { zone: null });
    expect(await cloud.settle(cloud.provider.list("blue"))).toMatchObject({
      error: "Invalid",
      message: expect.stringContaining("i-uid-web-2"),
    });
  });

  test("that has got another zone is not taken for the one that was asked for", async () => {
    const cloud = await SimulatedCloud.started();
    const instance = await cloud.launch("web-1");
    await rename(cloud, instance, { zone: "elsewhere" });
    expect(await cloud.settle(cloud.provider.get(instance.providerID))).toMatchObject({ error: "Invalid" });
    expect(await cloud.settle(cloud.provider.delete(instance.providerID))).toMatchObject({ error: "Invalid" });
  });

  test("is asked to end, as often as one likes, until it is gone", async () => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    expect(await cloud.settle(cloud.provider.delete(providerID))).toBe("terminating");
    const [once] = await cloud.instances();
    expect(await cloud.settle(cloud.provider.delete(providerID))).toBe("terminating");
    expect(await cloud.instances()).toEqual([once]);
    expect(await cloud.settle(cloud.provider.get(providerID))).toMatchObject({ state: "terminating" });
    await cloud.run(6);
    expect(await cloud.settle(cloud.provider.get(providerID))).toBe("gone");
    expect(await cloud.settle(cloud.provider.delete(providerID))).toBe("gone");
    expect(await cloud.settle(cloud.provider.reboot(providerID, "t"))).toBe("gone");
    expect(await cloud.settle(cloud.provider.list("blue"))).toEqual([]);
  });

  test("is rebooted once for each token, however often and by whomever it is asked", async () => {
    const cloud = await SimulatedCloud.started({ reboot: { time: { median: "10s" } } });
    const { providerID } = await cloud.launch("web-1");
    await cloud.run(60);
    const ask = (token: string, provider = cloud.provider) => cloud.settle(provider.reboot(providerID, token));
    const counted = async () => (await cloud.instances()).map(({ data }) => (data as Entries)["rebootCount"]);
    type Entries = Record<string, string>;
    expect(await ask("one")).toBe("rebooting");
    const [once] = await cloud.instances();
    expect(await ask("one")).toBe("rebooting");
    expect(await cloud.instances()).toEqual([once]);
    await cloud.run(60);
    expect(await counted()).toEqual(["1"]);
    // Long over, and asked by somebody who has just been started.
    expect(await ask("one", cloud.newProvider())).toBe("rebooting");
    await cloud.run(60);
    expect(await counted()).toEqual(["1"]);
    expect(await ask("two")).toBe("rebooting");
    await cloud.run(60);
    expect(await counted()).toEqual(["2"]);
  });

  test("that is being rebooted for somebody else goes down once for both", async () => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    await cloud.run(60);
    await cloud.settle(cloud.provider.reboot(providerID, "one"));
    const [first] = await cloud.instances();
    await cloud.run(20);
    await cloud.settle(cloud.provider.reboot(providerID, "two"));
    const [second] = await cloud.instances();
    expect(second?.["data"]).toEqual({ ...(first?.["data"] as object), rebootToken: "two" });
    await cloud.run(300);
    expect(await cloud.instances()).toMatchObject([{ data: { rebootCount: "1", rebootToken: "two" } }]);
  });

  test("that goes between the look and the word is gone", async () => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    const api = spoilt(cloud.api, "patch", () => () => Promise.reject(refusal(404, "NotFound")));
    expect(await cloud.settle(cloud.newProvider({ api }).delete(providerID))).toBe("gone");
  });

  test("that has been made anew in between is not ended by the word for the old one", async () => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    const key = { name: "i-uid-web-1", namespace: simulatedNamespace };
    const api = spoilt(cloud.api, "patch", real => async (...args) => {
      await cloud.api.delete(simulatedInstances, key);
      await cloud.provider.create(launchOf("web-1"));
      return real(...args);
    });
    expect(await cloud.settle(cloud.newProvider({ api }).delete(providerID))).toMatchObject({ error: "Unknown" });
    expect(await cloud.settle(cloud.provider.get(providerID))).toMatchObject({ state: "running" });
  });

  test("of another cloud is no business of ours", async () => {
    const cloud = await SimulatedCloud.started();
    const { provider } = cloud;
    const theirs = "aws:///eu-1/i-1";
    const answers = Promise.all([provider.get(theirs), provider.delete(theirs), provider.reboot(theirs, "t")]);
    for (const answer of await cloud.settle(answers)) expect(answer).toMatchObject({ error: "Invalid" });
  });

  test("drifts when its class gets another image, and not because it says none", async () => {
    const cloud = await SimulatedCloud.started();
    await cloud.applyClass("default", { image: "worker-1" });
    const { imageID } = await cloud.launch("web-1");
    expect(imageID).toBe("worker-1");
    const { view } = cloud.provider;
    const [old, bare] = [aClaim("web-1", { status: { imageID: "worker-1" } }), aClaim("web-2")];
    expect(view.driftOf?.(old)).toBe(undefined);
    await cloud.mergePatch(simulatedNodeClasses.resource, "default", { spec: { image: "worker-2" } });
    await cloud.run(1);
    const message = "SimulatedNodeClass default has image worker-2, and claim web-1 worker-1.";
    expect(view.driftOf?.(old)).toEqual({ reason: "ImageDrifted", message });
    expect(view.driftOf?.(bare)).toMatchObject({ reason: "ImageDrifted" });
    await cloud.mergePatch(simulatedNodeClasses.resource, "default", { spec: { image: null } });
    await cloud.run(1);
    expect(view.driftOf?.(old)).toBe(undefined);
  });
});

describe("the classes", () => {
  const other = { ...defaultRef, name: "other" };

  test("are not known before they are listed, and nothing is launched until then", async () => {
    const cloud = await SimulatedCloud.started();
    const provider = cloud.newProvider();
    expect(provider.view.nodeClass(defaultRef)).toMatchObject({ state: "NotReady" });
    expect(await cloud.settle(provider.create(launchOf("web-1")))).toMatchObject({ error: "NodeClassNotReady" });
    await cloud.run(1);
    expect(provider.view.nodeClass(defaultRef)).toEqual({ state: "Ready", generation: 0 });
  });

  test("the default one needs no object; another does", async () => {
    const cloud = await SimulatedCloud.started();
    const { view } = cloud.provider;
    expect(view.defaultClass).toEqual(defaultRef);
    expect(view.instanceTypes(defaultRef)).toHaveLength(144);
    expect(view.nodeClass(other)).toMatchObject({ state: "NotFound", message: expect.stringContaining("other") });
    expect(view.instanceTypes(other)).toEqual([]);
    const request = { ...launchOf("web-1"), nodeClass: other };
    expect(await cloud.settle(cloud.provider.create(request))).toMatchObject({ error: "NodeClassNotReady" });
    await cloud.applyClass("other", { catalogue: { cpus: [2], memoryPerCPU: [2] } });
    expect(view.nodeClass(other)).toEqual({ state: "Ready", generation: 1 });
    expect(view.instanceTypes(other)).toHaveLength(4);
    expect(await cloud.settle(cloud.provider.create(request))).toMatchObject({ capacity: { cpu: "2" } });
  });

  test("of other kinds are somebody else's", async () => {
    const cloud = await SimulatedCloud.started();
    const foreign = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
    const { view } = cloud.provider;
    expect(view.serves(foreign)).toBe(false);
    expect(view.serves({ ...defaultRef, group: "example.com" })).toBe(false);
    expect(view.serves(defaultRef)).toBe(true);
    expect(view.nodeClass(foreign)).toMatchObject({ state: "NotFound" });
    expect(view.instanceTypes(foreign)).toEqual([]);
  });

  test("that are being deleted or offer what cannot be read launch nothing", async () => {
    const cloud = await SimulatedCloud.started();
    await cloud.applyClass("other", {});
    const { resource } = simulatedNodeClasses;
    await cloud.mergePatch(resource, "other", { metadata: { finalizers: ["example.com/hold"] } });
    await cloud.delete(resource, "other");
    await cloud.run(1);
    expect(cloud.provider.view.nodeClass(other)).toMatchObject({ state: "Terminating" });
    await cloud.mergePatch(resource, "other", { metadata: { finalizers: null } });
    await cloud.run(1);
    expect(cloud.provider.view.nodeClass(other)).toMatchObject({ state: "NotFound" });
    await cloud.applyClass("odd", { instanceTypes: [{ name: "t", capacity: { cpu: "1e5000", memory: "1Gi" } }] });
    expect(cloud.provider.view.nodeClass({ ...defaultRef, name: "odd" })).toMatchObject({
      state: "NotReady",
      message: expect.stringContaining("instance type t"),
    });
  });

  test("tell those who listen of every change that means something", async () => {
    const cloud = await SimulatedCloud.started();
    let changes = 0;
    cloud.provider.onChange(() => changes++);
    await cloud.applyClass("other", {});
    expect(changes).toBe(1);
    // The player has written its status meanwhile, which means nothing here.
    await cloud.run(5);
    expect(changes).toBe(1);
    await cloud.patchClass("other", { spec: { zones: ["moon"] } });
    expect(changes).toBe(2);
    await cloud.delete(simulatedNodeClasses.resource, "other");
    await cloud.run(1);
    expect(changes).toBe(3);
  });

  test("that say nothing of types have those of the file, where one is given", async () => {
    const cloud = await SimulatedCloud.started();
    await cloud.applyClass("own", { catalogue: { cpus: [1] } });
    const instanceTypes = [{ name: "only", capacity: { cpu: "1", memory: "1Gi" } }];
    const { view } = cloud.newProvider({ instanceTypes });
    await cloud.run(1);
    expect(view.instanceTypes(defaultRef).map(({ name }) => name)).toEqual(["only"]);
    expect(view.instanceTypes({ ...defaultRef, name: "own" })).toHaveLength(12);
  });

  test("say no more once the provider is stopped", async () => {
    const cloud = await SimulatedCloud.started();
    cloud.provider.stop();
    await cloud.applyClass("other", {});
    expect(cloud.provider.view.nodeClass(other)).not.toMatchObject({ state: "Ready" });
  });
});

test("a provider that is started anew finds everything that the last one launched", async () => {
  const cloud = await SimulatedCloud.started();
  const first = await cloud.launch("web-1");
  await cloud.launch("web-2");
  const before = await cloud.settle(cloud.provider.list("blue"));
  cloud.provider.stop();
  const provider = cloud.newProvider();
  await cloud.run(1);
  expect(await cloud.settle(provider.list("blue"))).toEqual(before);
  expect(await cloud.settle(provider.create(launchOf("web-1")))).toEqual(first);
  expect(await cloud.settle(provider.get(first.providerID))).toEqual(first);
});
