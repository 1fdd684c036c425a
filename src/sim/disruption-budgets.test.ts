import { describe, expect, test } from "vitest";
import { Box, pod } from "../../test/sim/box.ts";
import type { KubeObject } from "../api/meta.ts";

const pods = { resource: "pods", namespace: "default" };
const budgets = { resource: "poddisruptionbudgets.policy", namespace: "default" };
const b = { ...budgets, name: "b" };

const owner = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
});

function addPod(box: Box, name: string, { ready = true, by }: { ready?: boolean; by?: KubeObject } = {}): void {
  const ownerReferences = by && { ownerReferences: [owner(by)] };
  box.create(pods, pod(name, { nodeName: "n", labels: { app: "web" }, ...ownerReferences }));
  setReady(box, name, ready);
}

function setReady(box: Box, name: string, ready: boolean): void {
  const status = { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
  box.object("patch", { ...pods, name, subresource: "status" }, { patchType: "merge", body: { status } });
}

function workload(box: Box, resource: string, name: string, more: { replicas: number; by?: KubeObject }): KubeObject {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const selector = { matchLabels: { app: "web" } };
  const metadata = { name, ...(more.by && { ownerReferences: [owner(more.by)] }) };
  return box.create(
    { resource, namespace: "default" },
    { metadata, spec: { replicas: more.replicas, selector, template } },
  );
}

async function budget(box: Box, spec: object) {
  box.create(budgets, { metadata: { name: "b" }, spec: { selector: { matchLabels: { app: "web" } }, ...spec } });
  await box.clock.runFor(1_000);
}

type Status = {
  disruptionsAllowed: number;
  currentHealthy: number;
  desiredHealthy: number;
  expectedPods: number;
  observedGeneration: number;
  disruptedPods?: object;
  conditions: { status: string; reason: string; message: string }[];
};
const status = (box: Box) => box.get(b).status as Status;
const counts = (box: Box) => {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status(box);
  return [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods];
};

describe("the status of a disruption budget", () => {
  // [allowed, healthy, desired, expected] over a ReplicaSet of 10 with 10 pods, 8 of them ready.
  test.each<[object, number[]]>([
    [{ minAvailable: 7 }, [1, 8, 7, 10]],
    [{ minAvailable: 8 }, [0, 8, 8, 10]],
    [{ minAvailable: 12 }, [0, 8, 12, 10]],
    [{ minAvailable: "75%" }, [0, 8, 8, 10]],
    [{ minAvailable: "61%" }, [1, 8, 7, 10]],
    [{ maxUnavailable: 3 }, [1, 8, 7, 10]],
    [{ maxUnavailable: "21%" }, [1, 8, 7, 10]],
    [{ maxUnavailable: "100%" }, [8, 8, 0, 10]],
    [{ maxUnavailable: 20 }, [8, 8, 0, 10]],
  ])("for %j is %j", async (spec, expected) => {
    const box = new Box();
    const set = workload(box, "replicasets.apps", "rs", { replicas: 10 });
    for (let i = 0; i < 10; i++) addPod(box, `p${i}`, { ready: i < 8, by: set });
    await budget(box, spec);
    expect(counts(box)).toEqual(expected);
  });

  test("follows its pods: ready, not ready, going, gone, relabelled", async () => {
    const box = new Box();
    addPod(box, "p1");
    await budget(box, { minAvailable: 1 });
    expect(counts(box)).toEqual([0, 1, 1, 1]);
    addPod(box, "p2");
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([1, 2, 1, 2]);
    expect(status(box).conditions).toMatchObject([{ status: "True", reason: "SufficientPods" }]);
    setReady(box, "p2", false);
    // At once: nobody may be let go by what it said before.
    await box.clock.runFor(0);
    expect(counts(box)).toEqual([0, 1, 1, 2]);
    expect(status(box).conditions).toMatchObject([{ status: "False", reason: "InsufficientPods" }]);
    box.send("delete", { ...pods, name: "p1" });
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([0, 0, 1, 2]);
    box.send("delete", { ...pods, name: "p1" }, { body: { gracePeriodSeconds: 0 } });
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([0, 0, 1, 1]);
    box.patch({ ...pods, name: "p2" }, { metadata: { labels: { app: "other" } } });
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([0, 0, 1, 0]);
    box.patch({ ...pods, name: "p2" }, { metadata: { labels: { app: "web" } } });
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([0, 0, 1, 1]);
  });

  test("is told once of pods that get ready one after the other", async () => {
    const box = new Box();
    for (let i = 0; i < 10; i++) addPod(box, `p${i}`, { ready: false });
    await budget(box, { minAvailable: 1 });
    let writeCount = 0;
    box.server.store.onChange(({ name }) => {
      if (name === budgets.resource) writeCount++;
    });
    for (let i = 0; i < 10; i++) {
      setReady(box, `p${i}`, true);
      await box.clock.runFor(100);
    }
    await box.clock.runFor(2_000);
    expect(counts(box)).toEqual([9, 10, 1, 10]);
    expect(writeCount).toBe(1);
  });

  test("expects more as soon as the first pod comes that its workload was scaled up for", async () => {
    const box = new Box();
    const set = workload(box, "replicasets.apps", "rs", { replicas: 2 });
    for (const name of ["p1", "p2"]) addPod(box, name, { by: set });
    await budget(box, { maxUnavailable: "50%" });
    expect(counts(box)).toEqual([1, 2, 1, 2]);
    box.patch({ resource: "replicasets.apps", namespace: "default", name: "rs" }, { spec: { replicas: 4 } });
    addPod(box, "p3", { ready: false, by: set });
    await box.clock.runFor(0);
    expect(counts(box)).toEqual([0, 2, 2, 4]);
  });

  test("expects what the Deployment above its ReplicaSets asks for, once", async () => {
    const box = new Box();
    const deployment = workload(box, "deployments.apps", "d", { replicas: 4 });
    const sets = ["old", "new"].map(name => workload(box, "replicasets.apps", name, { replicas: 3, by: deployment }));
    for (const [i, by] of sets.entries()) addPod(box, `p${i}`, { by });
    await budget(box, { maxUnavailable: 1 });
    expect(counts(box)).toEqual([0, 2, 3, 4]);
  });

  test("adds up several controllers and leaves out pods without one", async () => {
    const box = new Box();
    addPod(box, "p1", { by: workload(box, "replicasets.apps", "a", { replicas: 1 }) });
    addPod(box, "p2", { by: workload(box, "replicasets.apps", "c", { replicas: 2 }) });
    addPod(box, "bare");
    await budget(box, { maxUnavailable: 1 });
    expect(counts(box)).toEqual([1, 3, 2, 3]);
  });

  test("allows nothing, and says why, when a controller cannot be asked for its scale", async () => {
    const box = new Box();
    const daemons = {
      metadata: { name: "ds" },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    };
    addPod(box, "p1", { by: box.create({ resource: "daemonsets.apps", namespace: "default" }, daemons) });
    await budget(box, { maxUnavailable: 1 });
    expect(status(box)).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [
        { status: "False", reason: "SyncFailed", message: "daemonsets.apps does not implement the scale subresource" },
      ],
    });
  });

  test("does not count an evicted pod as healthy until it is gone, or until two minutes have passed", async () => {
    const box = new Box();
    for (const name of ["p1", "p2"]) addPod(box, name);
    await budget(box, { minAvailable: 1 });
    const disruptedPods = { p1: "2026-01-01T00:00:01Z" };
    box.object("patch", { ...b, subresource: "status" }, { patchType: "merge", body: { status: { disruptedPods } } });
    await box.clock.runFor(1_000);
    expect(counts(box)).toEqual([0, 1, 1, 2]);
    await box.clock.runFor(118_000);
    box.patch({ ...pods, name: "p2" }, { metadata: { annotations: { look: "again" } } });
    await box.clock.runFor(500);
    expect(status(box).disruptedPods).toEqual(disruptedPods);
    await box.clock.runFor(2_000);
    expect(status(box)).not.toHaveProperty("disruptedPods");
    expect(counts(box)).toEqual([1, 2, 1, 2]);
  });

  test("looks anew when its selector changes, and knows which generation it speaks of", async () => {
    const box = new Box();
    addPod(box, "p1");
    await budget(box, { minAvailable: 1 });
    box.patch(b, { spec: { selector: { matchLabels: { app: "other" } } } });
    await box.clock.runFor(1_000);
    expect(counts(box)).toEqual([0, 0, 1, 0]);
    expect(status(box).observedGeneration).toBe(2);
  });

  test("counts a pod like those before it as the budgets select by now, in its own namespace", async () => {
    const box = new Box();
    const expected = (name: string) => (box.get({ ...budgets, name }).status as Status).expectedPods;
    const other = { metadata: { name: "a" }, spec: { selector: { matchLabels: { app: "web" } }, minAvailable: 1 } };
    await budget(box, { minAvailable: 1 });
    addPod(box, "p1");
    box.create(budgets, other);
    addPod(box, "p2");
    await box.clock.runFor(2_000);
    expect([expected("a"), expected("b")]).toEqual([2, 2]);
    box.create({ resource: "namespaces" }, { metadata: { name: "elsewhere" } });
    box.create({ ...pods, namespace: "elsewhere" }, pod("p3", { labels: { app: "web" } }));
    box.patch(b, { spec: { selector: { matchLabels: { app: "other" } } } });
    addPod(box, "p4");
    await box.clock.runFor(2_000);
    expect([expected("a"), expected("b")]).toEqual([3, 0]);
  });

  test("is written only when it changes", async () => {
    const box = new Box();
    addPod(box, "p1");
    await budget(box, { minAvailable: 1 });
    const revision = box.get(b).metadata.resourceVersion;
    box.patch({ ...pods, name: "p1" }, { metadata: { annotations: { note: "x" } } });
    await box.clock.runFor(60_000);
    expect(box.get(b).metadata.resourceVersion).toBe(revision);
  });
});
