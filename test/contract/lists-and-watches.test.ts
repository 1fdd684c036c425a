// What every KubeApi promises about lists and watches, on each of them.

import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../src/api/status.ts";
import type { WatchOptions } from "../../src/control/ports.ts";
import { configMap, configMaps, nodePool, nodePools } from "./kinds.ts";
import { onEachBackend, refusal } from "./on-each-backend.ts";

const patience = { timeout: 20_000 };
const listEnd = "k8s.io/initial-events-end";

onEachBackend(world => {
  describe("listing", () => {
    const five = ["a", "b", "c", "d", "e"];
    beforeEach(async () => {
      for (const objectName of five)
        await world.make(configMap(objectName, { labels: { even: String(five.indexOf(objectName) % 2) } }));
    });

    test("page by page, in order, all of one version", async () => {
      const first = await world.api.list(configMaps, { namespace: world.namespace, limit: 2 });
      expect(first.remainingItemCount).toBe(3);
      await world.api.delete(configMaps, world.at("e")); // a page shows the world of the first one
      const second = await world.api.list(configMaps, {
        namespace: world.namespace,
        limit: 2,
        continue: first.continue ?? "",
      });
      const third = await world.api.list(configMaps, {
        namespace: world.namespace,
        limit: 2,
        continue: second.continue ?? "",
      });
      expect(third.continue).toBeUndefined();
      const pages = [first, second, third];
      expect(pages.flatMap(page => page.items.map(item => item.metadata.name))).toEqual(five);
      expect(new Set(pages.map(page => page.resourceVersion)).size).toBe(1);
    });

    test("a page that was asked for too late is gone, and the way to go on is in the answer", async () => {
      const { continue: token = "" } = await world.api.list(configMaps, { namespace: world.namespace, limit: 2 });
      const next = async () => {
        await world.churn(1);
        return world.api.list(configMaps, { namespace: world.namespace, limit: 2, continue: token }).then(
          () => "served",
          (error: ApiError) => `${error.code} ${error.reason}`,
        );
      };
      await expect.poll(next, { timeout: 60_000, interval: 50 }).toBe("410 Expired");
    });

    test("by labels and by fields", async () => {
      const named = async (selection: { labelSelector?: string; fieldSelector?: string }) =>
        (await world.api.list(configMaps, { namespace: world.namespace, ...selection })).items.map(
          item => item.metadata.name,
        );
      expect(await named({ labelSelector: "even=1" })).toEqual(["b", "d"]);
      expect(await named({ labelSelector: "even notin (1),even" })).toEqual(["a", "c", "e"]);
      expect(await named({ fieldSelector: "metadata.name=c" })).toEqual(["c"]);
      const wrong = await refusal(
        world.api.list(configMaps, { namespace: world.namespace, fieldSelector: "spec.nothing=1" }),
      );
      expect(wrong).toMatchObject({ code: 400, reason: "BadRequest" });
    });

    test("items say their kind", async () => {
      const { items } = await world.api.list(configMaps, { namespace: world.namespace, limit: 1 });
      expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    });
  });

  describe("watching", () => {
    type Seen = { said: string[]; ends: (Error | undefined)[]; close(): void };

    /** What a watch says, as "ADDED a" or "ERROR 410". */
    function follow(options: WatchOptions, resource = configMaps): Seen {
      const seen: Seen = { said: [], ends: [], close: () => handle.close() };
      const handle = world.api.watch(
        resource,
        resource.namespaced ? { namespace: world.namespace, ...options } : options,
        {
          event(event) {
            const { object, type } = event;
            if (type === "ERROR") seen.said.push(`ERROR ${object.code}`);
            else if (type !== "BOOKMARK") seen.said.push(`${type} ${object.metadata.name}`);
            // Other bookmarks come when they come: on a real server also within the first second.
            else if (listEnd in (object.metadata.annotations ?? {})) seen.said.push(listEnd);
          },
          end: error => seen.ends.push(error),
        },
      );
      return seen;
    }

    const now = async () => (await world.api.list(configMaps, { namespace: world.namespace })).resourceVersion;

    test("what happens after a version, in order", async () => {
      const resourceVersion = await now();
      await world.make(configMap("a"));
      const seen = follow({ resourceVersion });
      await expect.poll(() => seen.said, patience).toEqual(["ADDED a"]);
      await world.api.patch(configMaps, world.at("a"), { type: "merge", body: { data: { key: "1" } } });
      await world.make(configMap("b"));
      await world.api.delete(configMaps, world.at("a"));
      await expect.poll(() => seen.said, patience).toEqual(["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]);
      seen.close();
      await expect.poll(() => seen.ends, patience).toEqual([undefined]);
    });

    test("what enters a selection is added, what leaves it is deleted", async () => {
      const seen = follow({ resourceVersion: await now(), labelSelector: "app=x" });
      await world.make(configMap("a"));
      for (const app of ["x", "x", "y"]) {
        const body = { metadata: { labels: { app } }, data: { at: `${performance.now()}` } };
        await world.api.patch(configMaps, world.at("a"), { type: "merge", body });
      }
      await expect.poll(() => seen.said, patience).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
      seen.close();
    });

    test("the list comes as a stream where it is asked for, with a bookmark at its end", async () => {
      await world.make(configMap("a"));
      await world.make(configMap("b"));
      const seen = follow({
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true,
      });
      await expect.poll(() => seen.said, patience).toEqual(["ADDED a", "ADDED b", listEnd]);
      await world.make(configMap("c"));
      await expect.poll(() => seen.said, patience).toEqual(["ADDED a", "ADDED b", listEnd, "ADDED c"]);
      seen.close();
    });

    test("a version that is too old is gone", async () => {
      // A kind that came after the first version; and more changes than the box keeps.
      const name = `${world.namespace}-pool`;
      await world.api.create(nodePools, {}, nodePool(name));
      for (let weight = 1; weight < 80; weight++) {
        await world.api.patch(nodePools, { name }, { type: "merge", body: { spec: { weight } } });
      }
      const seen = follow({ resourceVersion: "1" }, nodePools);
      // Instead of the stream, or as its first event: then a server may leave it to us to close.
      const refused = () => seen.ends.flatMap(error => (error instanceof ApiError ? [`ERROR ${error.code}`] : []));
      await expect.poll(() => [...seen.said, ...refused()], patience).toEqual(["ERROR 410"]);
      seen.close();
    });

    test("it ends by itself in good order when its time is over", async () => {
      const seen = follow({ resourceVersion: await now(), timeoutSeconds: 1 });
      await expect.poll(() => seen.ends, patience).toEqual([undefined]);
    });

    test("a handler that throws ends it, and is told so", async () => {
      const ends: (Error | undefined)[] = [];
      const resourceVersion = await now();
      world.api.watch(
        configMaps,
        { namespace: world.namespace, resourceVersion },
        {
          event: () => {
            throw new Error("no more");
          },
          end: error => ends.push(error),
        },
      );
      await world.make(configMap("a"));
      await expect.poll(() => ends.map(error => error?.message), patience).toEqual(["no more"]);
    });
  });
});
