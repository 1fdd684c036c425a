import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { RecentlyUsed, StoredObject } from "./stored.ts";

const object = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, uid: "u", resourceVersion: "1", creationTimestamp: "" },
  data: { greeting: "grüß" },
});

describe("a stored object", () => {
  test("reads the same whether it is kept parsed or as bytes", () => {
    const stored = new StoredObject(object("a"), new RecentlyUsed(1));
    const before = stored.object;
    stored.cool();
    expect(stored.object).toEqual(before);
    expect(stored.object).not.toBe(before);
    expect(JSON.parse(stored.json.toString("utf8"))).toEqual(before);
  });

  test("is written out once, however many ask", () => {
    const stored = new StoredObject(object("a"), new RecentlyUsed(1));
    expect(stored.json).toBe(stored.json);
  });

  test("cools when others are used, and comes back when it is read again", () => {
    const recent = new RecentlyUsed(2);
    const first = new StoredObject(object("a"), recent);
    const parsed = first.object;
    const others = ["b", "c"].map(name => new StoredObject(object(name), recent));
    expect(first.object).not.toBe(parsed);
    const again = first.object;
    expect(first.object).toBe(again);
    expect(others.map(other => other.object.metadata.name)).toEqual(["b", "c"]);
  });

  test("is shown in another version also where showing it cools it", () => {
    const stored = new StoredObject(object("a"), new RecentlyUsed(1));
    const shown = () => stored.view("v2", read => ({ ...read, apiVersion: "v2" })).object;
    expect(shown()).toEqual({ ...object("a"), apiVersion: "v2" });
    expect(shown()).toEqual({ ...object("a"), apiVersion: "v2" });
  });

  test("that is in use outlasts any number of newcomers", () => {
    const recent = new RecentlyUsed(2, 1);
    const used = new StoredObject(object("a"), recent, { isInUse: true });
    const parsed = used.object;
    const newcomers = ["b", "c", "d"].map(name => new StoredObject(object(name), recent));
    expect(newcomers).toHaveLength(3);
    expect(used.object).toBe(parsed);
  });

  test.each([
    { others: 3, keeps: true },
    { others: 4, keeps: false },
  ])("that is read again after $others others, where 4 are kept: stays $keeps", ({ others, keeps }) => {
    const recent = new RecentlyUsed(4, 1);
    const newcomer = () => new StoredObject(object("b"), recent);
    const stored = new StoredObject(object("a"), recent);
    for (let i = 0; i < others; i++) newcomer();
    const parsed = stored.object;
    newcomer();
    expect(stored.isInUse).toBe(keeps);
    expect(stored.object === parsed).toBe(keeps);
  });

  test("is converted once for each version in which it is asked for", () => {
    const stored = new StoredObject(object("a"), new RecentlyUsed(4));
    const convert = (value: KubeObject) => ({ ...value, apiVersion: "v2" });
    expect(stored.view("v2", convert)).toBe(stored.view("v2", convert));
    expect(stored.view("v2", convert).object.apiVersion).toBe("v2");
    expect(stored.object.apiVersion).toBe("v1");
  });

  test("that was replaced is not written out just to be forgotten", () => {
    const recent = new RecentlyUsed(1);
    const stored = new StoredObject(object("a"), recent);
    const parsed = stored.object;
    stored.supersede();
    new StoredObject(object("b"), recent).cool();
    expect(stored.object).toBe(parsed);
  });
});
