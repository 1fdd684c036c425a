import { describe, expect, test } from "vitest";
import { Box, configMap } from "../../test/sim/box.ts";
import type { KubeObject } from "../api/meta.ts";

const maps = { resource: "configmaps", namespace: "default" };
const named = (name: string) => ({ ...maps, name });

const owner = ({ apiVersion, kind, metadata }: KubeObject, blockOwnerDeletion = true) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  blockOwnerDeletion,
});

/** root ← child ← grandchild, all ConfigMaps. */
async function family(): Promise<Box> {
  const box = new Box();
  const root = box.create(maps, configMap("root"));
  const child = box.create(maps, configMap("child", { ownerReferences: [owner(root)] }));
  box.create(maps, configMap("grandchild", { ownerReferences: [owner(child)] }));
  await box.clock.runFor(1_000);
  return box;
}

const names = (box: Box) => box.list(maps).names;

describe("garbage collection", () => {
  test("in the background takes dependents after their owner is gone, down the line", async () => {
    const box = await family();
    box.send("delete", named("root"), { body: { propagationPolicy: "Background" } });
    expect(names(box)).toEqual(["child", "grandchild"]);
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual([]);
  });

  test("in the foreground takes dependents first: the owner goes last", async () => {
    const box = await family();
    const watched = box.watch(maps, { resourceVersion: String(box.server.store.revision) });
    box.send("delete", named("root"), { body: { propagationPolicy: "Foreground" } });
    await box.clock.runFor(1_000);
    expect(watched.seen().filter(said => said.startsWith("DELETED"))).toEqual([
      "DELETED grandchild",
      "DELETED child",
      "DELETED root",
    ]);
  });

  test("in the foreground does not wait for a dependent that does not block", async () => {
    const box = new Box();
    const root = box.create(maps, configMap("root"));
    box.create(maps, configMap("slow", { ownerReferences: [owner(root, false)], finalizers: ["x.io/hold"] }));
    await box.clock.runFor(1_000);
    box.send("delete", named("root"), { body: { propagationPolicy: "Foreground" } });
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual(["slow"]);
    expect(box.get(named("slow")).metadata.deletionTimestamp).toBeTruthy();
  });

  test("in the foreground waits as long as a blocking dependent is held", async () => {
    const box = new Box();
    const root = box.create(maps, configMap("root"));
    box.create(maps, configMap("slow", { ownerReferences: [owner(root)], finalizers: ["x.io/hold"] }));
    box.send("delete", named("root"), { body: { propagationPolicy: "Foreground" } });
    await box.clock.runFor(60_000);
    expect(names(box)).toEqual(["root", "slow"]);
    box.patch(named("slow"), { metadata: { finalizers: null } });
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual([]);
  });

  test("orphans: dependents forget their owner and stay", async () => {
    const box = await family();
    box.send("delete", named("root"), { body: { propagationPolicy: "Orphan" } });
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual(["child", "grandchild"]);
    expect(box.get(named("child")).metadata).not.toHaveProperty("ownerReferences");
  });

  test("keeps what has another owner, and drops the reference to the one that went", async () => {
    const box = new Box();
    const [a, b] = ["a", "b"].map(name => box.create(maps, configMap(name)));
    box.create(maps, configMap("shared", { ownerReferences: [owner(a!), owner(b!)] }));
    box.send("delete", named("a"));
    await box.clock.runFor(1_000);
    expect(box.get(named("shared")).metadata.ownerReferences?.map(({ name }) => name)).toEqual(["b"]);
    box.send("delete", named("b"));
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual([]);
  });

  test.each([
    ["never existed", { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "u" }],
    ["is another object of the same name", { apiVersion: "v1", kind: "ConfigMap", name: "root", uid: "old" }],
    ["is in another namespace, where nobody looks", { apiVersion: "v1", kind: "Pod", name: "elsewhere", uid: "u" }],
  ])("takes an object whose owner %s", async (_, reference) => {
    const box = new Box();
    box.create(maps, configMap("root"));
    box.create(maps, configMap("orphan", { ownerReferences: [reference] }));
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual(["root"]);
  });

  test("leaves an object whose owner is of a kind that nobody serves", async () => {
    const box = new Box();
    const reference = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "u" };
    box.create(maps, configMap("owned", { ownerReferences: [reference] }));
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual(["owned"]);
  });

  test("takes namespaced dependents of a cluster-scoped owner", async () => {
    const box = new Box();
    const node = box.create({ resource: "nodes" }, { metadata: { name: "n" } });
    box.create(maps, configMap("of-node", { ownerReferences: [owner(node)] }));
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual(["of-node"]);
    box.send("delete", { resource: "nodes", name: "n" });
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual([]);
  });

  test("follows an owner that is added later", async () => {
    const box = new Box();
    const root = box.create(maps, configMap("root"));
    box.create(maps, configMap("free"));
    box.patch(named("free"), { metadata: { ownerReferences: [owner(root)] } });
    box.send("delete", named("root"));
    await box.clock.runFor(1_000);
    expect(names(box)).toEqual([]);
  });

  test("does not run where the box has no controllers", async () => {
    const box = new Box({ controllers: false });
    const root = box.create(maps, configMap("root"));
    box.create(maps, configMap("child", { ownerReferences: [owner(root)] }));
    box.send("delete", named("root"));
    await box.clock.runFor(60_000);
    expect(names(box)).toEqual(["child"]);
  });
});
