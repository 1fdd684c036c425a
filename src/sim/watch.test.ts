import { describe, expect, test } from "vitest";
import { Box, configMap } from "../../test/sim/box.ts";
import type { RequestOptions } from "./request.ts";

const maps = { resource: "configmaps", namespace: "default" };
const named = (name: string) => ({ ...maps, name });

describe("a watch", () => {
  test("from a version replays what came after it, then follows", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const { resourceVersion } = box.list(maps);
    box.create(maps, configMap("b"));
    const watched = box.watch(maps, { resourceVersion });
    expect(watched.seen()).toEqual(["ADDED b"]);
    box.patch(named("a"), { data: { x: "1" } });
    box.send("delete", named("b"));
    expect(watched.seen()).toEqual(["MODIFIED a", "DELETED b"]);
    watched.stop();
    box.create(maps, configMap("c"));
    expect(watched.seen()).toEqual([]);
  });

  test.each<[string, RequestOptions]>([
    ["no version", {}],
    ["version 0", { resourceVersion: "0" }],
    ["initial events", { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }],
  ])("with %s begins with what exists, and with bookmarks marks the end of it", (_, options) => {
    const box = new Box();
    for (const name of ["b", "a"]) box.create(maps, configMap(name));
    expect(box.watch(maps, options).seen()).toEqual(["ADDED a", "ADDED b"]);
    const { events } = box.watch(maps, { ...options, allowWatchBookmarks: true });
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "BOOKMARK"]);
    expect(events.at(-1)?.stored.object).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        resourceVersion: String(box.server.store.revision),
        annotations: { "k8s.io/initial-events-end": "true" },
      },
    });
  });

  test("without initial events begins now", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const watched = box.watch(maps, { sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" });
    box.create(maps, configMap("b"));
    expect(watched.seen()).toEqual(["ADDED b"]);
  });

  test("tells of a deletion with the last state and the version of the deletion", () => {
    const box = new Box();
    box.create(maps, { ...configMap("a"), data: { last: "words" } });
    const watched = box.watch(maps, { resourceVersion: String(box.server.store.revision) });
    box.send("delete", named("a"));
    const { object } = watched.events[0]!.stored;
    expect(object.data).toEqual({ last: "words" });
    expect(object.metadata.resourceVersion).toBe(String(box.server.store.revision));
  });

  test("of a selection sees objects enter and leave it, with the state while they belonged", () => {
    const box = new Box();
    const watched = box.watch(maps, { resourceVersion: "1", labelSelector: "app=a" });
    box.create(maps, configMap("x", { labels: { app: "b" } }));
    expect(watched.seen()).toEqual([]);
    box.patch(named("x"), { metadata: { labels: { app: "a" } } });
    box.patch(named("x"), { data: { k: "1" } });
    expect(watched.seen()).toEqual(["ADDED x", "MODIFIED x"]);
    box.patch(named("x"), { metadata: { labels: { app: "b" } }, data: { k: "2" } });
    const [left] = watched.events;
    expect(left?.type).toBe("DELETED");
    expect(left?.stored.object).toMatchObject({ metadata: { labels: { app: "a" } }, data: { k: "1" } });
    expect(left?.stored.object.metadata.resourceVersion).toBe(String(box.server.store.revision));
    watched.seen();
    box.send("delete", named("x"));
    expect(watched.seen()).toEqual([]);
  });

  test("replayed from an old version sees the same entries and exits", () => {
    const box = new Box();
    box.create(maps, configMap("x"));
    for (const app of ["a", "b", "a"]) box.patch(named("x"), { metadata: { labels: { app } } });
    box.send("delete", named("x"));
    const watched = box.watch(maps, { resourceVersion: "2", labelSelector: "app=a" });
    expect(watched.seen()).toEqual(["ADDED x", "DELETED x", "ADDED x", "DELETED x"]);
  });

  test("of a name or a namespace sees nothing else", () => {
    const box = new Box();
    box.create({ resource: "namespaces" }, { metadata: { name: "other" } });
    const one = box.watch(named("a"), { resourceVersion: "1" });
    const here = box.watch(maps, { resourceVersion: "1" });
    const all = box.watch({ resource: "configmaps" }, { resourceVersion: "1" });
    for (const name of ["a", "ab"]) box.create(maps, configMap(name));
    box.create({ resource: "configmaps", namespace: "other" }, configMap("a"));
    expect(one.seen()).toEqual(["ADDED a"]);
    expect(here.seen()).toEqual(["ADDED a", "ADDED ab"]);
    expect(all.seen()).toEqual(["ADDED a", "ADDED ab", "ADDED a"]);
  });

  test("from a version that is no longer known ends with 410 in the stream", () => {
    const box = new Box({ store: { history: { changeCountMax: 1 } } });
    for (const name of ["a", "b", "c"]) box.create(maps, configMap(name));
    const watched = box.watch(maps, { resourceVersion: "2" });
    expect(watched.ended?.error).toMatchObject({
      code: 410,
      reason: "Expired",
      message: "too old resource version: 2 (4)",
    });
    expect(box.watch(maps, { resourceVersion: "4" }).seen()).toEqual(["ADDED c"]);
  });

  test("from the future is silent until the future comes, but refuses to list from it", () => {
    const box = new Box();
    const watched = box.watch(maps, { resourceVersion: "4" });
    for (const name of ["a", "b", "c"]) box.create(maps, configMap(name));
    expect(watched.seen()).toEqual(["ADDED c"]);
    const options = { resourceVersion: "99", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
    expect(box.watch(maps, options).ended?.error).toMatchObject({ code: 504, reason: "Timeout" });
  });

  test("bookmarks the version every minute and once more two seconds before its end", async () => {
    const box = new Box();
    const watched = box.watch(maps, { resourceVersion: "2", allowWatchBookmarks: true, timeoutSeconds: 90 });
    const seenAt = async (seconds: number) => {
      await box.clock.runUntil(box.clock.now() - box.clock.monotonic() + seconds * 1000);
      return watched.seen();
    };
    expect(await seenAt(59)).toEqual([]);
    box.create({ resource: "namespaces" }, { metadata: { name: "elsewhere" } });
    expect(await seenAt(60)).toEqual(["BOOKMARK 3"]);
    expect(await seenAt(87)).toEqual([]);
    expect(await seenAt(88)).toEqual(["BOOKMARK 3"]);
    expect(watched.ended).toBeUndefined();
    expect(await seenAt(90)).toEqual([]);
    expect(watched.ended).toEqual({ error: undefined });
  });

  test("is bookmarked with all others, within a minute of its beginning, by the same event", async () => {
    const box = new Box();
    const options = { resourceVersion: "2", allowWatchBookmarks: true };
    const first = box.watch(maps, options);
    await box.clock.runFor(40_000);
    const second = box.watch(maps, options);
    await box.clock.runFor(20_000);
    expect([first.events, second.events].map(events => events.map(({ type }) => type))).toEqual([
      ["BOOKMARK"],
      ["BOOKMARK"],
    ]);
    expect(second.events[0]).toBe(first.events[0]);
    box.create(maps, configMap("a"));
    first.stop();
    await box.clock.runFor(60_000);
    expect(first.seen()).toEqual(["BOOKMARK 2", "ADDED a"]);
    expect(second.seen()).toEqual(["BOOKMARK 2", "ADDED a", "BOOKMARK 3"]);
  });

  test("without bookmarks gets none, and ends by itself between half an hour and an hour", async () => {
    const box = new Box();
    const watched = box.watch(maps, { resourceVersion: "2" });
    await box.clock.runFor(30 * 60_000 - 1);
    expect(watched.ended).toBeUndefined();
    await box.clock.runFor(30 * 60_000 + 1);
    expect(watched.ended).toEqual({ error: undefined });
    expect(watched.seen()).toEqual([]);
  });

  test("with less than no time ends before anything is sent", () => {
    const watched = new Box().watch(maps, { timeoutSeconds: -1 });
    expect(watched.seen()).toEqual([]);
    expect(watched.ended).toEqual({ error: undefined });
  });

  test("hands every watcher of everything the same event with the same bytes", () => {
    const box = new Box();
    const watches = [1, 2, 3].map(() => box.watch(maps, { resourceVersion: "2" }));
    box.create(maps, configMap("a"));
    const [first, ...others] = watches.map(({ events }) => events[0]);
    for (const other of others) {
      expect(other).toBe(first);
      expect(other?.stored.json).toBe(first?.stored.json);
    }
  });

  test.each<[string, RequestOptions, number]>([
    ["a version that is none", { resourceVersion: "x" }, 500],
    ["initial events without saying how old", { sendInitialEvents: true }, 422],
    ["a match without initial events", { resourceVersionMatch: "NotOlderThan", resourceVersion: "1" }, 422],
  ])("refuses %s", (_, options, code) => {
    expect(new Box().status("watch", maps, { options }).code).toBe(code);
  });
});
