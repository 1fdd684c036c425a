import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { prune } from "./prune.ts";
import type { Schema } from "./schema.ts";

const text: Schema = { type: "string" };
const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...rest,
});
const preserve: Schema = { "x-kubernetes-preserve-unknown-fields": true };

function pruned(schema: Schema, value: unknown, root = false): { value: unknown; dropped: string[] } {
  const copy = structuredClone(value);
  return { dropped: prune(copy, schema, { root }), value: copy };
}

describe("unknown fields", () => {
  const schema = object({ a: text, list: { type: "array", items: object({ b: text }) } });

  test("go, and are named in order by the path that strict field validation shows", () => {
    expect(pruned(schema, { z: 1, a: "", list: [{ b: "" }, { b: "", c: { d: 1 } }] })).toEqual({
      value: { a: "", list: [{ b: "" }, { b: "" }] },
      dropped: ["list[1].c", "z"],
    });
  });

  test("go from inside a value of another type than the schema says", () => {
    expect(pruned(schema, { a: { x: 1 }, list: { y: 1 } })).toEqual({
      value: { a: {}, list: {} },
      dropped: ["a.x", "list.y"],
    });
  });

  test("named like a method of every object are unknown all the same", () => {
    const value = JSON.parse('{"constructor": 1, "__proto__": {}, "a": ""}') as unknown;
    expect(pruned(schema, value)).toEqual({ value: { a: "" }, dropped: ["__proto__", "constructor"] });
  });
});

describe("at the root and in embedded resources", () => {
  test("apiVersion, kind and metadata stay", () => {
    const value = { apiVersion: "v1", kind: "K", metadata: { x: 1 }, other: 1 };
    expect(pruned(object({}), value, true).dropped).toEqual(["other"]);
    expect(
      pruned(object({ e: { ...object({}), "x-kubernetes-embedded-resource": true } }), { e: value }).dropped,
    ).toEqual(["e.other"]);
  });

  test("elsewhere they are fields like others", () => {
    expect(pruned(object({ e: object({}) }), { e: { kind: "K" } }).dropped).toEqual(["e.kind"]);
  });
});

describe("fields are kept", () => {
  test("under x-kubernetes-preserve-unknown-fields, but not below what is specified there", () => {
    const schema = object({ known: object({ a: text }) }, preserve);
    expect(pruned(schema, { free: { x: 1 }, known: { a: "", b: 1 } })).toEqual({
      value: { free: { x: 1 }, known: { a: "" } },
      dropped: ["known.b"],
    });
  });

  test("in the items of a list that preserves them", () => {
    const schema: Schema = { type: "array", items: object({ a: text }), ...preserve };
    expect(pruned(schema, [{ a: "", b: 1 }]).dropped).toEqual([]);
    expect(pruned({ type: "array", ...preserve }, [{ b: 1 }]).dropped).toEqual([]);
  });

  test("as the keys of a map, whose values are pruned by their schema or, without one, of all they hold", () => {
    expect(
      pruned({ type: "object", additionalProperties: object({ a: text }) }, { k: { a: "", b: 1 } }).dropped,
    ).toEqual(["k.b"]);
    expect(pruned({ type: "object", additionalProperties: true }, { k: { b: 1 }, l: 1 })).toEqual({
      value: { k: {}, l: 1 },
      dropped: ["k.b"],
    });
  });
});

test("what is left is not pruned again, and a schema that preserves all drops nothing", () => {
  const schema = object({ a: object({ b: text }), m: { type: "object", additionalProperties: object({ c: text }) } });
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom("a", "b", "c", "m", "z"), maxDepth: 4 }), value => {
      const once = pruned(schema, value).value;
      expect(pruned(schema, once)).toEqual({ value: once, dropped: [] });
      expect(pruned({ type: "object", ...preserve }, value)).toEqual({ value, dropped: [] });
    }),
  );
});
