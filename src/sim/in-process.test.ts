import { describe, expect, test } from "vitest";
import { Box, configMap, pod } from "../../test/sim/box.ts";
import type { KubeObject, Resource } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import type { WatchEvent } from "../control/ports.ts";
import { InProcessApi } from "./in-process.ts";

const maps: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const key = { namespace: "default", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

function setup() {
  const box = new Box();
  const api = new InProcessApi(box.server, box.clock);
  /** Answers come over the clock: it has to run. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    const watched = promise.then(
      value => ({ value }),
      (error: unknown) => ({ error }),
    );
    await box.clock.runFor(0);
    const outcome = await watched;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  };
  return { box, api, settled };
}

function recorder() {
  const events: WatchEvent<KubeObject>[] = [];
  const ends: (Error | undefined)[] = [];
  const handlers = {
    event: (event: WatchEvent<KubeObject>) => events.push(event),
    end: (error?: Error) => ends.push(error),
  };
  return { events, ends, handlers, types: () => events.splice(0).map(({ type }) => type) };
}

describe("the API in process", () => {
  test("answers over the clock, not before", async () => {
    const { box, api } = setup();
    let answered = false;
    const created = api.create(maps, { namespace: "default" }, manifest).then(object => {
      answered = true;
      return object;
    });
    await Promise.resolve();
    expect([answered, box.has({ resource: "configmaps", ...key })]).toEqual([false, false]);
    await box.clock.runFor(0);
    await created;
    expect(box.has({ resource: "configmaps", ...key })).toBe(true);
  });

  test("creates, reads, lists, updates, patches and deletes", async () => {
    const { api, settled } = setup();
    const created = await settled(api.create(maps, { namespace: "default" }, manifest));
    expect(await settled(api.get(maps, key))).toEqual(created);
    const updated = await settled(api.update(maps, key, { ...created, data: { k: "1" } }));
    expect(updated.data).toEqual({ k: "1" });
    const patched = await settled(api.patch(maps, key, { type: "json", body: [{ op: "remove", path: "/data" }] }));
    expect(patched).not.toHaveProperty("data");
    const listed = await settled(api.list(maps, { namespace: "default", limit: 1 }));
    expect(listed).toEqual({ items: [patched], resourceVersion: patched.metadata.resourceVersion });
    expect(await settled(api.delete(maps, key, { preconditions: { uid: created.metadata.uid } }))).toMatchObject({
      status: "Success",
    });
    await settled(api.create(maps, { namespace: "default" }, manifest));
    await settled(api.deleteCollection(maps, { namespace: "default" }));
    expect((await settled(api.list(maps))).items).toEqual([]);
  });

  test("rejects a refusal with its status", async () => {
    const { api, settled } = setup();
    const missing = settled(api.get(maps, key));
    await expect(missing).rejects.toThrow(ApiError);
    await expect(missing).rejects.toMatchObject({ code: 404, reason: "NotFound" });
  });

  test("hands out objects that refuse to be changed, and takes none that its caller can still change", async () => {
    const { api, settled } = setup();
    const mine = { ...manifest, data: { k: "1" } };
    const creating = api.create(maps, { namespace: "default" }, mine);
    mine.data.k = "changed";
    const created = await settled(creating);
    expect(created.data).toEqual({ k: "1" });
    expect(() => {
      created.metadata.name = "b";
    }).toThrow(TypeError);
    expect(await settled(api.patch(maps, key, { type: "merge", body: { data: { k: "2" } } }))).toMatchObject({
      data: { k: "2" },
    });
  });

  test("speaks to subresources", async () => {
    const { api, settled, box } = setup();
    box.create({ resource: "pods", namespace: "default" }, pod("a"));
    const target = { apiVersion: "v1", kind: "Binding", metadata: { name: "a" }, target: { kind: "Node", name: "n" } };
    await settled(api.create(pods, key, target, { subresource: "binding" }));
    const status = { status: { phase: "Running" } };
    await settled(api.patch(pods, key, { type: "merge", body: status }, { subresource: "status" }));
    expect(await settled(api.get(pods, key))).toMatchObject({ spec: { nodeName: "n" }, status: { phase: "Running" } });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await settled(api.create(pods, key, eviction, { subresource: "eviction", dryRun: true }));
    expect((await settled(api.get(pods, key))).metadata).not.toHaveProperty("deletionTimestamp");
    expect(await settled(api.delete(pods, key, { gracePeriodSeconds: 7 }))).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 7 },
    });
  });

  test("can be called off before it acts", async () => {
    const { box, api } = setup();
    const controller = new AbortController();
    const creating = api.create(maps, { namespace: "default" }, manifest, { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(creating).rejects.toThrow("changed my mind");
    await box.clock.runFor(1_000);
    expect(box.has({ resource: "configmaps", ...key })).toBe(false);
    await expect(api.get(maps, key, { signal: controller.signal })).rejects.toThrow("changed my mind");
  });

  test("watches in order, until it is closed, and says once that it ended", async () => {
    const { box, api } = setup();
    const { handlers, types, ends } = recorder();
    const watch = api.watch(maps, { namespace: "default", allowWatchBookmarks: true }, handlers);
    await box.clock.runFor(0);
    expect(types()).toEqual(["BOOKMARK"]);
    box.create({ resource: "configmaps", namespace: "default" }, configMap("a"));
    box.patch({ resource: "configmaps", ...key }, { data: { k: "1" } });
    expect(types()).toEqual([]);
    await box.clock.runFor(0);
    expect(types()).toEqual(["ADDED", "MODIFIED"]);
    box.send("delete", { resource: "configmaps", ...key });
    watch.close();
    watch.close();
    await box.clock.runFor(1_000);
    expect([types(), ends]).toEqual([[], [undefined]]);
  });

  test("ends a watch with what its handler threw", async () => {
    const { box, api } = setup();
    const { handlers, ends } = recorder();
    const event = () => {
      throw new Error("broken handler");
    };
    api.watch(maps, { allowWatchBookmarks: true }, { ...handlers, event });
    await box.clock.runFor(0);
    box.create({ resource: "configmaps", namespace: "default" }, configMap("a"));
    await box.clock.runFor(0);
    expect(ends.map(error => error?.message)).toEqual(["broken handler"]);
  });

  test("tells of a version that is too old in the stream, and of a refusal at its end", async () => {
    const { box, api } = setup();
    box.server.store.compact();
    box.create({ resource: "configmaps", namespace: "default" }, configMap("a"));
    const old = recorder();
    api.watch(maps, { resourceVersion: "1" }, old.handlers);
    const refused = recorder();
    api.watch(maps, { labelSelector: "a=b=c" }, refused.handlers);
    await box.clock.runFor(0);
    expect(old.events).toMatchObject([{ type: "ERROR", object: { code: 410 } }]);
    expect(old.ends).toEqual([undefined]);
    expect(refused.ends).toMatchObject([{ code: 400 }]);
  });

  test("ends a watch when its time is over", async () => {
    const { box, api } = setup();
    const { handlers, ends } = recorder();
    api.watch(maps, { timeoutSeconds: 5 }, handlers);
    await box.clock.runFor(4_999);
    expect(ends).toEqual([]);
    await box.clock.runFor(1);
    expect(ends).toEqual([undefined]);
  });
});
