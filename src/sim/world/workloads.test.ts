// Deployments, daemon sets and jobs over time; where a table says it better, see rolling-update and stateful-set.

import { describe, expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import { conditionOf, isReady, isTrue } from "./conditions.ts";
import { type DaemonSet, type Deployment, isActive, type Job, type Pod, type ReplicaSet } from "./objects.ts";
import { ranked } from "./replica-set.ts";
import {
  daemonSetResource,
  deploymentResource,
  jobResource,
  nodeResource,
  podResource,
  replicaSetResource,
} from "./resources.ts";

const container = { name: "main", image: "none", resources: { requests: { cpu: "100m" } } };
const spec = (app: string, more: object = {}, podSpec: object = {}) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [container], ...podSpec } },
  ...more,
});
const annotated = (word: string) => ({ metadata: { annotations: { "fettle.dev/simulate": word } } });

async function cluster(count = 3): Promise<LivingBox> {
  const box = new LivingBox();
  for (let i = 0; i < count; i++) box.join(`node-${i}`);
  await box.run(10);
  return box;
}

describe("a deployment", () => {
  const create = (box: LivingBox, more: object = {}) =>
    box.create(deploymentResource, { metadata: { name: "web" }, spec: spec("web", { replicas: 4, ...more }) });
  const get = (box: LivingBox) => box.get<Deployment>(deploymentResource, "web");
  const revise = (box: LivingBox, version: string, annotations: object = {}) =>
    box.patch(deploymentResource, "web", { spec: { template: { metadata: { labels: { version }, annotations } } } });

  test("never has fewer available nor more in all than it may while it rolls", async () => {
    const box = await cluster();
    await create(box, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await box.run(30);
    await revise(box, "2");
    let [least, most] = [4, 4];
    for (let i = 0; i < 400; i++) {
      await box.run(0.1);
      const pods = (await box.list<Pod>(podResource)).filter(isActive);
      least = Math.min(least, pods.filter(isReady).length);
      most = Math.max(most, pods.length);
    }
    expect([least, most]).toEqual([3, 5]);
    expect((await box.list<Pod>(podResource)).map(({ metadata }) => metadata.labels?.version)).toEqual([
      "2",
      "2",
      "2",
      "2",
    ]);
  });

  test("numbers its revisions, and one that is taken up again gets a new number", async () => {
    const box = await cluster();
    await create(box);
    await box.run(30);
    await revise(box, "2");
    await box.run(60);
    await box.patch(deploymentResource, "web", { spec: { template: { metadata: { labels: { version: null } } } } });
    await box.run(60);
    const sets = await box.list<ReplicaSet>(replicaSetResource);
    const revisions = sets.map(({ metadata, spec }) => [
      metadata.annotations?.["deployment.kubernetes.io/revision"],
      spec.replicas,
    ]);
    expect(revisions).toEqual(
      expect.arrayContaining([
        ["3", 4],
        ["2", 0],
      ]),
    );
    expect((await get(box)).metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
    expect((await get(box)).metadata.generation).toBe(3);
  });

  test("keeps no more old replica sets than it is told", async () => {
    const box = await cluster();
    await create(box, { revisionHistoryLimit: 1 });
    for (const version of ["2", "3", "4"]) {
      await box.run(60);
      await revise(box, version);
    }
    await box.run(60);
    expect(await box.list(replicaSetResource)).toHaveLength(2);
  });

  test("that makes no progress says so when its deadline has passed, and that it goes on when it does", async () => {
    const box = await cluster();
    await create(box, { progressDeadlineSeconds: 60, minReadySeconds: 5 });
    await box.run(30);
    await revise(box, "2", { "fettle.dev/simulate": "ready=Never" });
    await box.run(55);
    expect(isTrue(await get(box), "Progressing")).toBe(true);
    await box.run(10);
    expect(conditionOf(await get(box), "Progressing")).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
    });
    expect(isTrue(await get(box), "Available")).toBe(true);
    await revise(box, "3", { "fettle.dev/simulate": null });
    await box.run(120);
    expect(conditionOf(await get(box), "Progressing")).toMatchObject({
      status: "True",
      reason: "NewReplicaSetAvailable",
    });
  });

  test("that is to be recreated has no two versions at a time", async () => {
    const box = await cluster();
    await create(box, { strategy: { type: "Recreate" } });
    await box.run(30);
    await revise(box, "2");
    for (let i = 0; i < 200; i++) {
      await box.run(0.1);
      const versions = new Set((await box.list<Pod>(podResource)).map(({ metadata }) => metadata.labels?.version));
      expect(versions.size).toBeLessThanOrEqual(1);
    }
    expect((await get(box)).status).toMatchObject({ updatedReplicas: 4, availableReplicas: 4 });
  });

  test("that is paused scales but does not roll", async () => {
    const box = await cluster();
    await create(box);
    await box.run(30);
    await box.patch(deploymentResource, "web", { spec: { paused: true, replicas: 6 } });
    await revise(box, "2");
    await box.run(60);
    const pods = await box.list<Pod>(podResource);
    expect(pods.map(({ metadata }) => metadata.labels?.version)).toEqual(Array.from({ length: 6 }));
  });

  test("that is deleted takes its replica sets and pods along", async () => {
    const box = await cluster();
    await create(box);
    await box.run(30);
    await box.delete(deploymentResource, "web");
    await box.run(60);
    expect([await box.list(replicaSetResource), await box.list(podResource)]).toEqual([[], []]);
    expect(box.failures).toEqual([]);
  });
});

test("a replica set replaces a pod at once, and tells nothing where all is as before when it would", async () => {
  const box = new LivingBox({ times: { start: [3000, 3000], stop: [2000, 2000] } });
  box.join("node-0");
  await box.run(10);
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: spec("web", { replicas: 4 }) });
  await box.run(30);
  const [first] = await box.list<Pod>(podResource);
  const before = box.journal.length;
  await box.delete(podResource, first?.metadata.name ?? "");
  await box.run(0.2);
  expect((await box.list<Pod>(podResource)).filter(isActive)).toHaveLength(4);
  await box.run(3.5);
  expect((await box.list<Pod>(podResource)).filter(isReady)).toHaveLength(4);
  await box.run(30);
  // All is as it was, so that nothing is to be told at all.
  const told = box.journal.slice(before).filter(line => / (replicasets|deployments)\.apps /.test(line));
  expect(told).toEqual([]);
});

test("a replica set that has fewer pods ready than it says tells so within seconds, and at once what is newly asked", async () => {
  const box = await cluster();
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: spec("web", { replicas: 4 }) });
  await box.run(30);
  const status = async () => (await box.list<ReplicaSet>(replicaSetResource))[0]?.status;
  expect(await status()).toMatchObject({ replicas: 4, readyReplicas: 4 });
  box.world.kubelets.halt("node-0");
  await box.run(58);
  const ready = (await box.list<Pod>(podResource)).filter(isReady).length;
  expect(ready).toBeLessThan(4);
  expect(await status()).toMatchObject({ replicas: 4, readyReplicas: ready });
  await box.patch(deploymentResource, "web", { spec: { replicas: 5 } });
  await box.run(0.1);
  expect(await status()).toMatchObject({ replicas: 5, observedGeneration: 2 });
});

test("of too many pods those go first that have come least far, then the youngest on the fullest node", () => {
  const pod = (name: string, nodeName: string, phase: string, minute = 0, annotations = {}) =>
    ({
      metadata: { name, creationTimestamp: `2026-01-01T00:0${minute}:00Z`, annotations },
      spec: { nodeName },
      status: {
        phase,
        conditions: [
          { type: "Ready", status: phase === "Running" ? "True" : "False", lastTransitionTime: "2026-01-01T00:09:00Z" },
        ],
      },
    }) as unknown as Pod;
  const pods = [
    pod("old", "b", "Running", 1),
    pod("young", "b", "Running", 2),
    pod("shared", "a", "Running", 1),
    pod("shared-too", "a", "Running", 3),
    pod("third", "a", "Running", 0),
    pod("dear", "c", "Running", 5, { "controller.kubernetes.io/pod-deletion-cost": "10" }),
    pod("starting", "c", "Pending", 0),
    pod("unbound", "", "Pending", 0),
  ];
  const order = ranked(pods).map(({ metadata }) => metadata.name);
  expect(order).toEqual(["unbound", "starting", "shared-too", "shared", "third", "young", "old", "dear"]);
});

describe("a daemon set", () => {
  const create = (box: LivingBox, podSpec: object = {}, more: object = {}) =>
    box.create(daemonSetResource, { metadata: { name: "agent" }, spec: spec("agent", more, podSpec) });
  const get = (box: LivingBox) => box.get<DaemonSet>(daemonSetResource, "agent");
  const nodesOf = async (box: LivingBox) => {
    const names = (await box.list<Pod>(podResource)).filter(isActive).map(({ spec }) => spec.nodeName ?? "");
    return names.toSorted((a, b) => a.localeCompare(b));
  };

  test("follows its nodes as they come, go and change", async () => {
    const box = await cluster(2);
    await create(box, { nodeSelector: { role: "worker" } });
    await box.run(10);
    expect(await nodesOf(box)).toEqual([]);
    await box.patch(nodeResource, "node-1", { metadata: { labels: { role: "worker" } } });
    box.join("node-2", { labels: { role: "worker" } });
    await box.run(10);
    expect(await nodesOf(box)).toEqual(["node-1", "node-2"]);
    expect((await get(box)).status).toMatchObject({
      desiredNumberScheduled: 2,
      numberAvailable: 2,
      numberMisscheduled: 0,
    });
    await box.patch(nodeResource, "node-1", { metadata: { labels: { role: null } } });
    await box.run(10);
    expect(await nodesOf(box)).toEqual(["node-2"]);
  });

  test("stays on cordoned nodes and those under pressure", async () => {
    const box = await cluster(1);
    await box.patch(nodeResource, "node-0", { spec: { unschedulable: true }, ...annotated("MemoryPressure=True") });
    await box.run(1);
    await create(box);
    await box.run(10);
    expect(await nodesOf(box)).toEqual(["node-0"]);
  });

  test("is rolled with at most one node without it", async () => {
    const box = await cluster(4);
    await create(box);
    await box.run(20);
    await box.patch(daemonSetResource, "agent", { spec: { template: { metadata: { labels: { version: "2" } } } } });
    let least = 4;
    for (let i = 0; i < 400; i++) {
      await box.run(0.1);
      least = Math.min(least, (await box.list<Pod>(podResource)).filter(pod => isActive(pod) && isReady(pod)).length);
    }
    expect(least).toBe(3);
    expect((await get(box)).status).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4 });
  });

  test("makes a pod again that has failed", async () => {
    const box = await cluster(1);
    await create(box);
    await box.run(10);
    const [pod] = await box.list<Pod>(podResource);
    await box.patch(podResource, pod?.metadata.name ?? "", { status: { phase: "Failed" } }, "status");
    await box.run(10);
    const pods = await box.list<Pod>(podResource);
    expect(pods.map(({ metadata, status }) => [metadata.name === pod?.metadata.name, status.phase])).toEqual([
      [false, "Running"],
    ]);
  });
});

describe("a job", () => {
  const create = (box: LivingBox, word: string, more: object = {}) => {
    const { template } = spec("job", {}, { restartPolicy: "Never" });
    const pod = { ...template, metadata: { ...template.metadata, ...annotated(word).metadata } };
    return box.create(jobResource, { metadata: { name: "job" }, spec: { ...more, template: pod } });
  };
  const get = (box: LivingBox) => box.get<Job>(jobResource, "job");
  const countPods = async (box: LivingBox) => (await box.list(podResource)).length;

  test("runs as many pods at a time as it may, until enough have succeeded", async () => {
    const box = await cluster();
    await create(box, "succeed=10s", { completions: 5, parallelism: 2 });
    await box.run(5);
    expect((await get(box)).status).toMatchObject({ active: 2, ready: 2 });
    await box.run(60);
    expect((await get(box)).status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0 });
    expect(isTrue(await get(box), "Complete")).toBe(true);
    expect(await countPods(box)).toBe(5);
    const held = (await box.list(podResource)).filter(({ metadata }) => metadata.finalizers !== undefined);
    expect(held).toEqual([]);
  });

  test("counts every pod once, also if letting go of it fails at first", async () => {
    const box = await cluster();
    const patch = box.api.patch.bind(box.api);
    let failures = 0;
    box.api.patch = (resource, key, body, options) => {
      const isRelease = resource === podResource && body.type === "merge";
      if (isRelease && failures++ < 3) return Promise.reject(new Error("connection reset"));
      return patch(resource, key, body, options);
    };
    await create(box, "succeed=1s", { completions: 3, parallelism: 1 });
    await box.run(60);
    expect(failures).toBeGreaterThan(3);
    expect((await get(box)).status).toMatchObject({ succeeded: 3 });
    expect(await countPods(box)).toBe(3);
  });

  test("waits longer after each failure and gives up after its limit", async () => {
    const box = await cluster();
    await create(box, "start=0s, fail=0s", { backoffLimit: 2 });
    const counts = [];
    for (const seconds of [1, 9.5, 19, 2, 60]) {
      await box.run(seconds);
      counts.push(await countPods(box));
    }
    expect(counts).toEqual([1, 2, 2, 3, 3]);
    expect(conditionOf(await get(box), "Failed")).toMatchObject({ status: "True", reason: "BackoffLimitExceeded" });
    expect((await get(box)).status.failed).toBe(3);
  });

  test("replaces a pod that was taken away, and counts it as failed", async () => {
    const box = await cluster();
    await create(box, "succeed=30s");
    await box.run(10);
    const [pod] = await box.list<Pod>(podResource);
    await box.delete(podResource, pod?.metadata.name ?? "");
    await box.run(120);
    expect((await get(box)).status).toMatchObject({ succeeded: 1, failed: 1 });
    expect(isTrue(await get(box), "Complete")).toBe(true);
  });

  test("that takes longer than it may is stopped", async () => {
    const box = await cluster();
    await create(box, "succeed=1h", { activeDeadlineSeconds: 60 });
    await box.run(59);
    expect(await countPods(box)).toBe(1);
    await box.run(10);
    expect(conditionOf(await get(box), "Failed")).toMatchObject({ reason: "DeadlineExceeded" });
    expect(await countPods(box)).toBe(0);
  });

  test("that is suspended has no pods until it is resumed", async () => {
    const box = await cluster();
    await create(box, "succeed=5s", { suspend: true });
    await box.run(30);
    expect(await countPods(box)).toBe(0);
    expect(conditionOf(await get(box), "Suspended")).toMatchObject({ status: "True", reason: "JobSuspended" });
    await box.patch(jobResource, "job", { spec: { suspend: false } });
    await box.run(30);
    expect(isTrue(await get(box), "Complete")).toBe(true);
    expect(conditionOf(await get(box), "Suspended")).toMatchObject({ status: "False", reason: "JobResumed" });
  });
});
