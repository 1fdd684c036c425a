import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { WatchCache } from "./watch-cache.ts";

function node(name: string, resourceVersion: number, fields: { uid?: string; ready?: string } = {}): KubeObject {
  const uid = fields.uid ?? `uid-${name}`;
  const metadata = { name, uid, resourceVersion: String(resourceVersion), creationTimestamp: "2026-11-15T12:00:00Z" };
  return { apiVersion: "v1", kind: "Node", metadata, ready: fields.ready ?? "True" };
}

type Row = { name: string; uid: string; ready: unknown };

/** Keeps three fields, and says so when none of them has changed. */
function project(raw: KubeObject, previous: Row | undefined): Row {
  const { name, uid } = raw.metadata;
  return previous !== undefined && previous.ready === raw["ready"] ? previous : { name, uid, ready: raw["ready"] };
}

function aCache() {
  const calls: string[] = [];
  const cache = new WatchCache<Row>(project, {
    added: row => calls.push(`added ${row.uid} ${row.ready}`),
    updated: (row, previous) => calls.push(`updated ${row.uid} ${previous.ready}→${row.ready}`),
    deleted: row => calls.push(`deleted ${row.uid} ${row.ready}`),
  });
  return { cache, calls };
}

describe("events", () => {
  test("a node comes, changes and goes", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1));
    cache.changed(node("a", 2, { ready: "False" }));
    cache.removed(node("a", 3, { ready: "Unknown" }));
    expect(calls).toEqual(["added uid-a True", "updated uid-a True→False", "deleted uid-a Unknown"]);
    expect(cache.size).toBe(0);
  });

  test("the cache has changed by the time a handler is called", () => {
    const seen: unknown[] = [];
    const cache: WatchCache<Row> = new WatchCache<Row>(project, {
      added: row => seen.push(cache.get({ name: row.name })?.ready),
      updated: row => seen.push(cache.get({ name: row.name })?.ready),
      deleted: row => seen.push(cache.get({ name: row.name })?.ready),
    });
    cache.changed(node("a", 1));
    cache.changed(node("a", 2, { ready: "False" }));
    cache.removed(node("a", 3));
    expect(seen).toEqual(["True", "False", undefined]);
  });

  test("a change of nothing that is kept calls nobody, and the next change still does", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1));
    cache.changed(node("a", 2));
    cache.changed(node("a", 3, { ready: "False" }));
    expect(calls).toEqual(["added uid-a True", "updated uid-a True→False"]);
  });

  test("deleted and created again under one name is a deletion and an addition, whatever the event says", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1, { uid: "old" }));
    cache.changed(node("a", 5, { uid: "new" }));
    expect(calls).toEqual(["added old True", "deleted old True", "added new True"]);
  });

  test("the late deletion of an earlier object of the name leaves its successor alone", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 5, { uid: "new" }));
    cache.removed(node("a", 4, { uid: "old" }));
    expect(calls).toEqual(["added new True"]);
  });

  test("what was deleted does not come back by a repeated event", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1));
    cache.removed(node("a", 2));
    cache.changed(node("a", 1));
    expect(calls).toEqual(["added uid-a True", "deleted uid-a True"]);
  });

  test("an older version after a newer one is dropped", () => {
    const { cache } = aCache();
    cache.changed(node("a", 10, { ready: "False" }));
    cache.changed(node("a", 9));
    expect(cache.get({ name: "a" })?.ready).toBe("False");
  });

  test("objects of one name in two namespaces are two", () => {
    const { cache } = aCache();
    const inNamespace = (namespace: string): KubeObject => {
      const one = node("a", 1, { uid: namespace });
      return { ...one, metadata: { ...one.metadata, namespace } };
    };
    cache.changed(inNamespace("x"));
    cache.changed(inNamespace("y"));
    expect([...cache.values()].map(row => row.uid)).toEqual(["x", "y"]);
    expect(cache.get({ name: "a", namespace: "y" })?.uid).toBe("y");
  });
});

describe("lists", () => {
  test("what a list does not have is gone, once the list is whole", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1));
    cache.changed(node("b", 2));
    cache.beginListing();
    expect(cache.listed(node("b", 2))).toBe(false);
    expect(cache.size).toBe(2);
    expect(cache.endListing()).toBe(1);
    expect(calls).toEqual(["added uid-a True", "added uid-b True", "deleted uid-a True"]);
  });

  test("a list that broke off deletes nothing", () => {
    const { cache } = aCache();
    cache.changed(node("a", 1));
    cache.beginListing();
    cache.beginListing();
    cache.listed(node("a", 1));
    expect(cache.endListing()).toBe(0);
  });

  test("a list is believed even where versions went backwards", () => {
    const { cache } = aCache();
    cache.changed(node("a", 100, { ready: "False" }));
    cache.beginListing();
    expect(cache.listed(node("a", 50))).toBe(true);
    expect(cache.get({ name: "a" })?.ready).toBe("True");
  });

  test("a live change between listed objects is not undone by an older one", () => {
    const { cache } = aCache();
    cache.beginListing();
    cache.listed(node("a", 5));
    cache.listed(node("a", 7, { ready: "False" }));
    cache.listed(node("a", 6));
    cache.endListing();
    expect(cache.get({ name: "a" })?.ready).toBe("False");
  });

  test("a node recreated between two lists is another node", () => {
    const { cache, calls } = aCache();
    cache.changed(node("a", 1, { uid: "old" }));
    cache.beginListing();
    cache.listed(node("a", 9, { uid: "new" }));
    cache.endListing();
    expect(calls).toEqual(["added old True", "deleted old True", "added new True"]);
  });
});

test("however events are repeated and delayed, the last word on each object stands", () => {
  const history = fc.array(fc.record({ name: fc.constantFrom("a", "b"), verb: fc.constantFrom("write", "delete") }), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(history, fc.array(fc.nat()), (steps, repeats) => {
      const events = eventsOf(steps);
      const { cache, calls } = aCache();
      events.forEach((event, index) => {
        event.apply(cache);
        // After each event an arbitrary earlier one comes once more.
        const again = events[(repeats[index % Math.max(1, repeats.length)] ?? 0) % (index + 1)];
        again?.apply(cache);
      });
      const alive = new Map<string, number>();
      for (const { name, deleted, version } of events) {
        if (deleted) alive.delete(name);
        else alive.set(name, version);
      }
      expect(Object.fromEntries([...cache.values()].map(row => [row.name, Number(row.ready)]))).toEqual(
        Object.fromEntries(alive),
      );
      const balance =
        calls.filter(call => call.startsWith("added")).length - calls.filter(call => call.startsWith("deleted")).length;
      expect(balance).toBe(alive.size);
    }),
  );
});

type Step = { name: string; verb: string };
type Event = { name: string; deleted: boolean; version: number; apply(cache: WatchCache<Row>): void };

function eventsOf(steps: readonly Step[]): Event[] {
  const uidByName = new Map<string, string>();
  return steps.flatMap(({ name, verb }, index) => {
    const deleted = verb === "delete";
    if (deleted && !uidByName.has(name)) return [];
    const version = index + 1;
    const uid = uidByName.get(name) ?? `${name}-${version}`;
    if (deleted) uidByName.delete(name);
    else uidByName.set(name, uid);
    const object = node(name, version, { uid, ready: String(version) });
    return [{ name, deleted, version, apply: cache => (deleted ? cache.removed(object) : cache.changed(object)) }];
  });
}
