import { describe, expect, test } from "vitest";
import type { Schema } from "../api/schema/schema.ts";
import { ApiError } from "../api/status.ts";
import type { JsonObject } from "./json-value.ts";
import type { BuiltInSchema } from "./kind.ts";
import { strategicPatch } from "./strategic-patch.ts";

const byName: BuiltInSchema = {
  type: "array",
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": "name",
  items: { type: "object", properties: { name: { type: "string" } } },
};
const merged: BuiltInSchema = { type: "array", "x-kubernetes-patch-strategy": "merge", items: { type: "string" } };
const replaced: BuiltInSchema = { type: "object", "x-kubernetes-patch-strategy": "replace", properties: {} };
const schema: Schema = {
  type: "object",
  properties: {
    containers: byName,
    finalizers: merged,
    args: { type: "array", items: { type: "string" } },
    selector: replaced,
    labels: { type: "object", additionalProperties: { type: "string" } },
  },
};

const patched = (original: JsonObject, patch: JsonObject) => strategicPatch(original, patch, schema);
const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);

describe("strategic merge patch", () => {
  test.each([
    [
      "merges maps and drops nulls",
      { labels: { a: "1", b: "2" } },
      { labels: { a: null, c: "3" } },
      { labels: { b: "2", c: "3" } },
    ],
    ["replaces lists without a key", { args: ["a", "b"] }, { args: ["c"] }, { args: ["c"] }],
    ["unites lists of values", { finalizers: ["a", "b"] }, { finalizers: ["b", "c"] }, { finalizers: ["a", "b", "c"] }],
    ["replaces maps whose strategy says so", { selector: { a: 1 } }, { selector: { b: 2 } }, { selector: { b: 2 } }],
    [
      "takes values away",
      { finalizers: ["a", "b"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["b"] },
    ],
    [
      "keeps only named keys",
      { labels: { a: "1", b: "2" } },
      { labels: { $retainKeys: ["a"], a: "9" } },
      { labels: { a: "9" } },
    ],
    [
      "replaces a map by directive",
      { labels: { a: "1" } },
      { labels: { $patch: "replace", b: "2" } },
      { labels: { b: "2" } },
    ],
    ["empties a map by directive", { labels: { a: "1" } }, { labels: { $patch: "delete" } }, { labels: {} }],
    [
      "drops directives in what is new",
      {},
      { containers: [{ name: "a", $patch: "delete" }, { name: "b" }] },
      { containers: [{ name: "b" }] },
    ],
    ["drops nulls in what is new", {}, { labels: { a: null, b: "1" } }, { labels: { b: "1" } }],
  ])("%s", (_, original, patch, result) => {
    const before = structuredClone([original, patch]);
    expect(patched(original, patch)).toEqual(result);
    expect([original, patch]).toEqual(before);
  });

  test("merges items by their key and puts new ones before those of the server that the patch does not name", () => {
    const original = { containers: [{ name: "a", image: "1" }, { name: "b" }] };
    const result = patched(original, { containers: [{ name: "c" }, { name: "a", image: "2" }] });
    expect(result.containers).toEqual([{ name: "c" }, { name: "a", image: "2" }, { name: "b" }]);
  });

  test("removes the items that a directive names, and replaces the list when one says so", () => {
    const original = { containers: [{ name: "a" }, { name: "b" }] };
    expect(names(patched(original, { containers: [{ name: "a", $patch: "delete" }] }).containers)).toEqual(["b"]);
    expect(names(patched(original, { containers: [{ name: "x" }, { $patch: "replace" }] }).containers)).toEqual(["x"]);
  });

  test("puts items into the order that the patch gives, the server's own between them where they stood", () => {
    const original = { containers: [{ name: "a" }, { name: "s" }, { name: "b" }] };
    const order = { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] };
    expect(names(patched(original, { ...order, containers: [{ name: "a", image: "2" }] }).containers)).toEqual([
      "s",
      "b",
      "a",
    ]);
    expect(names(patched(original, order).containers)).toEqual(["s", "b", "a"]);
    const values = { "$setElementOrder/finalizers": ["c", "a"], finalizers: ["c"] };
    expect(patched({ finalizers: ["a"] }, values).finalizers).toEqual(["c", "a"]);
  });

  test.each([
    ["an unknown directive", { labels: { $patch: "frob" } }, 500],
    ["an item without its key", { containers: [{ image: "1" }] }, 500],
    ["a directive in a list that merges it", { containers: [{ name: "a", $patch: "merge" }] }, 500],
    ["keys beside those to retain", { labels: { $retainKeys: ["a"], b: "1" } }, 400],
    ["an order that is no list", { "$setElementOrder/containers": "a" }, 400],
    [
      "another order than the one asked for",
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b" }] },
      500,
    ],
  ])("refuses %s", (_, patch, code) => {
    const act = () => patched({ labels: { a: "1" }, containers: [{ name: "a" }] }, patch);
    expect(act).toThrow(ApiError);
    expect(act).toThrow(expect.objectContaining({ status: expect.objectContaining({ code }) }));
  });
});
