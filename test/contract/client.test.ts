// What every KubeApi promises about single objects, on each of them: the box in process and over HTTPS, a real API
// server, and both of the latter through a proxy.

import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/meta.ts";
import {
  budget,
  budgets,
  configMap,
  configMaps,
  deployment,
  deployments,
  nodePool,
  nodePools,
  pod,
  pods,
} from "./kinds.ts";
import { type Anything, onEachBackend, refusal } from "./on-each-backend.ts";

onEachBackend(world => {
  describe("creating and reading", () => {
    test("what was created is what is read", async () => {
      const created = await world.make(configMap("a", { data: { key: "value" } }));
      expect(created.metadata).toMatchObject({ name: "a", namespace: world.namespace });
      expect(created.metadata.uid).not.toBe("");
      expect(await world.api.get(configMaps, world.at("a"))).toEqual(created);
    });

    test("a name is taken once", async () => {
      await world.make(configMap("a"));
      expect(await refusal(world.make(configMap("a")))).toMatchObject({ code: 409, reason: "AlreadyExists" });
    });

    test("what is not there is not found, by name and kind", async () => {
      const { code, reason, status } = await refusal(world.api.get(configMaps, world.at("absent")));
      expect({ code, reason }).toEqual({ code: 404, reason: "NotFound" });
      expect(status.details).toMatchObject({ name: "absent", kind: "configmaps" });
    });

    test("a name is made up where one is asked for", async () => {
      const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
      const [one, other] = [await world.make(manifest), await world.make(manifest)];
      expect(one.metadata.name).toMatch(/^made-[a-z0-9]{5}$/);
      expect(one.metadata.name).not.toBe(other.metadata.name);
    });

    test("a dry run says what would be and leaves nothing", async () => {
      const answer = await world.api.create(configMaps, { namespace: world.namespace }, configMap("a"), {
        dryRun: true,
      });
      expect(answer.metadata.name).toBe("a");
      expect((await refusal(world.api.get(configMaps, world.at("a")))).code).toBe(404);
    });

    test("strict validation refuses a field that does not exist, and names it", async () => {
      const wrong = { ...nodePool(`${world.namespace}-pool`), spec: { wieght: 3 } };
      const error = await refusal(world.api.create(nodePools, {}, wrong, { fieldValidation: "Strict" }));
      expect(error.code).toBe(400);
      expect(error.message).toContain('unknown field "spec.wieght"');
    });

    test("an invalid object is refused with the field at fault", async () => {
      const wrong = { ...nodePool(`${world.namespace}-pool`), spec: { weight: 101 } };
      const { code, reason, status } = await refusal(world.api.create(nodePools, {}, wrong));
      expect({ code, reason }).toEqual({ code: 422, reason: "Invalid" });
      expect(status.details?.causes).toMatchObject([{ field: "spec.weight" }]);
    });
  });

  describe("updating", () => {
    test("the version that was read can be replaced, once", async () => {
      const first = await world.make(configMap("a"));
      const second = await world.api.update<Anything>(configMaps, world.at("a"), { ...first, data: { key: "1" } });
      expect(second.data).toEqual({ key: "1" });
      expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
      const late = await refusal(world.api.update(configMaps, world.at("a"), { ...first, data: { key: "2" } }));
      expect(late).toMatchObject({ code: 409, reason: "Conflict" });
    });

    test("an update that changes nothing is no write", async () => {
      const first = await world.make(configMap("a", { data: { key: "value" } }));
      const again = await world.api.update(configMaps, world.at("a"), first);
      expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });

    test("an update of another object under the same name is a conflict", async () => {
      const first = await world.make(configMap("a"));
      await world.api.delete(configMaps, world.at("a"));
      await world.make(configMap("a"));
      const { resourceVersion: _, ...metadata } = first.metadata;
      expect((await refusal(world.api.update(configMaps, world.at("a"), { ...first, metadata }))).code).toBe(409);
    });
  });

  describe("patching", () => {
    test("a merge patch sets and removes", async () => {
      await world.make(configMap("a", { data: { keep: "1", drop: "2" } }));
      const body = { data: { drop: null, add: "3" } };
      const patched = await world.api.patch<Anything>(configMaps, world.at("a"), { type: "merge", body });
      expect(patched.data).toEqual({ keep: "1", add: "3" });
    });

    test("a JSON patch is carried out whole or not at all", async () => {
      await world.make(configMap("a", { data: { key: "value" } }));
      const wrong = [
        { op: "add", path: "/data/new", value: "x" },
        { op: "test", path: "/data/key", value: "other" },
      ] as const;
      expect(await refusal(world.api.patch(configMaps, world.at("a"), { type: "json", body: wrong }))).toMatchObject({
        code: 422,
        reason: "Invalid",
      });
      const right = [{ op: "test", path: "/data/key", value: "value" }, wrong[0]] as const;
      const patched = await world.api.patch<Anything>(configMaps, world.at("a"), { type: "json", body: right });
      expect(patched.data).toEqual({ key: "value", new: "x" });
    });

    test("a strategic patch merges lists by their key", async () => {
      await world.api.create(deployments, { namespace: world.namespace }, deployment("a"));
      const container = { name: "side", image: "side:1" };
      const body = { spec: { template: { spec: { containers: [container] } } } };
      const patched = await world.api.patch<Anything>(deployments, world.at("a"), { type: "strategic", body });
      const { template } = patched.spec as { template: { spec: { containers: { name: string }[] } } };
      expect(template.spec.containers.map(one => one.name).sort()).toEqual(["main", "side"]);
    });

    test("custom kinds have no strategic patch", async () => {
      const pool = `${world.namespace}-pool`;
      await world.api.create(nodePools, {}, nodePool(pool));
      const error = await refusal(
        world.api.patch(nodePools, { name: pool }, { type: "strategic", body: { spec: { weight: 1 } } }),
      );
      expect(error.code).toBe(415);
    });

    test("a patch with a version is held to it", async () => {
      const first = await world.make(configMap("a"));
      await world.api.patch(configMaps, world.at("a"), { type: "merge", body: { data: { key: "1" } } });
      const { resourceVersion } = first.metadata;
      const body = { metadata: { resourceVersion }, data: { key: "2" } };
      expect((await refusal(world.api.patch(configMaps, world.at("a"), { type: "merge", body }))).code).toBe(409);
    });
  });

  describe("deleting", () => {
    test.each(["uid", "resourceVersion"] as const)("a wrong %s stops it", async field => {
      const first = await world.make(configMap("a"));
      await world.api.patch(configMaps, world.at("a"), { type: "merge", body: { data: { key: "1" } } });
      const wrong = field === "uid" ? "00000000-0000-4000-8000-000000000000" : first.metadata.resourceVersion;
      const error = await refusal(world.api.delete(configMaps, world.at("a"), { preconditions: { [field]: wrong } }));
      expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      const { uid } = first.metadata;
      await world.api.delete(configMaps, world.at("a"), { preconditions: { uid } });
      expect((await refusal(world.api.get(configMaps, world.at("a")))).code).toBe(404);
    });

    test("a finalizer holds it until it is taken away", async () => {
      await world.make(configMap("a", { finalizers: ["test.fettle.dev/hold"] }));
      const held = (await world.api.delete(configMaps, world.at("a"))) as KubeObject;
      expect(held.metadata.deletionTimestamp).toBeDefined();
      expect((await world.api.get(configMaps, world.at("a"))).metadata.deletionTimestamp).toBe(
        held.metadata.deletionTimestamp,
      );
      await world.api.patch(configMaps, world.at("a"), { type: "merge", body: { metadata: { finalizers: null } } });
      expect((await refusal(world.api.get(configMaps, world.at("a")))).code).toBe(404);
    });

    test("many go by their labels, others stay", async () => {
      for (const [objectName, app] of [
        ["a", "x"],
        ["b", "x"],
        ["c", "y"],
      ] as const) {
        await world.make(configMap(objectName, { labels: { app } }));
      }
      await world.api.deleteCollection(configMaps, { namespace: world.namespace, labelSelector: "app=x" });
      const { items } = await world.api.list(configMaps, { namespace: world.namespace });
      expect(items.map(item => item.metadata.name)).toEqual(["c"]);
    });
  });

  describe("subresources", () => {
    test("status and the rest are written apart", async () => {
      const key = { name: `${world.namespace}-pool` };
      await world.api.create(nodePools, {}, nodePool(key.name));
      const body = { spec: { weight: 7 }, status: { resources: { cpu: "4" } } };
      const main = await world.api.patch<Anything>(nodePools, key, { type: "merge", body });
      expect([main.spec?.["weight"], main.status]).toEqual([7, undefined]);
      const change = { spec: { weight: 9 }, status: { resources: { cpu: "4" } } };
      const status = await world.api.patch<Anything>(
        nodePools,
        key,
        { type: "merge", body: change },
        { subresource: "status" },
      );
      expect([status.spec?.["weight"], status.status]).toMatchObject([7, { resources: { cpu: "4" } }]);
      expect(status.metadata.generation).toBe(2);
    });

    test("scale reads and writes the replicas", async () => {
      await world.api.create(deployments, { namespace: world.namespace }, deployment("a"));
      const scale = await world.api.get<Anything>(deployments, world.at("a"), { subresource: "scale" });
      expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
      await world.api.update(deployments, world.at("a"), { ...scale, spec: { replicas: 5 } }, { subresource: "scale" });
      expect((await world.api.get<Anything>(deployments, world.at("a"))).spec?.["replicas"]).toBe(5);
    });

    test("a binding gives a pod its node, once", async () => {
      await world.api.create(pods, { namespace: world.namespace }, pod("a"));
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "a" },
        target: { kind: "Node", name: "n1" },
      };
      await world.api.create(pods, world.at("a"), binding, { subresource: "binding" });
      expect((await world.api.get<Anything>(pods, world.at("a"))).spec?.["nodeName"]).toBe("n1");
      expect((await refusal(world.api.create(pods, world.at("a"), binding, { subresource: "binding" }))).code).toBe(
        409,
      );
    });

    test("an eviction asks the budget, and is refused with how long to wait", async () => {
      await world.api.create(pods, { namespace: world.namespace }, pod("a", { app: "a" }));
      // What the scheduler and the kubelet would do: a pod that runs nowhere is evicted without asking.
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "a" },
        target: { kind: "Node", name: "n1" },
      };
      await world.api.create(pods, world.at("a"), binding, { subresource: "binding" });
      const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await world.api.patch(pods, world.at("a"), { type: "merge", body: { status: ready } }, { subresource: "status" });
      await world.api.create(budgets, { namespace: world.namespace }, budget("b", { app: "a" }));
      const allow = (disruptionsAllowed: number) => {
        const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
        const status = { disruptionsAllowed, ...counts };
        return world.api.patch(budgets, world.at("b"), { type: "merge", body: { status } }, { subresource: "status" });
      };
      const eviction = {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "a", namespace: world.namespace },
      };
      const evict = () => world.api.create(pods, world.at("a"), eviction, { subresource: "eviction" });
      await allow(0);
      const { code, reason, status } = await refusal(evict());
      expect({ code, reason }).toEqual({ code: 429, reason: "TooManyRequests" });
      expect(status.details?.causes).toMatchObject([{ reason: "DisruptionBudget" }]);
      await allow(1);
      await evict();
      expect((await world.api.get(pods, world.at("a"))).metadata.deletionTimestamp).toBeDefined();
    });
  });
});
