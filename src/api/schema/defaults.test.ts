import fc from "fast-check";
import { expect, test } from "vitest";
import { applyDefaults } from "./defaults.ts";
import type { Schema } from "./schema.ts";

const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...rest,
});
const one: Schema = { type: "integer", default: 1 };

function defaulted(schema: Schema, value: unknown): unknown {
  const copy = structuredClone(value);
  applyDefaults(copy, schema);
  return copy;
}

test.each<[string, Schema, unknown, unknown]>([
  ["an absent field is filled in", object({ a: one }), {}, { a: 1 }],
  ["a present one is left alone, whatever it is", object({ a: one }), { a: "x" }, { a: "x" }],
  ["nothing is filled in below an absent parent", object({ p: object({ a: one }) }), {}, {}],
  [
    "a defaulted parent is filled in further",
    object({ p: object({ a: one, b: one }, { default: { b: 2 } }) }),
    {},
    { p: { a: 1, b: 2 } },
  ],
  ["items are filled in", { type: "array", items: object({ a: one }) }, [{}, { a: 2 }], [{ a: 1 }, { a: 2 }]],
  [
    "values of a map are filled in",
    { type: "object", additionalProperties: object({ a: one }) },
    { k: {} },
    { k: { a: 1 } },
  ],
  ["null where it may not be becomes the default", object({ a: one }), { a: null }, { a: 1 }],
  ["null where it may be stays", object({ a: { ...one, nullable: true } }), { a: null }, { a: null }],
  ["null with no default is removed", object({ a: { type: "string" } }), { a: null }, {}],
  ["null of an unknown field stays", object({}), { a: null }, { a: null }],
  ["a null item becomes the item's default", { type: "array", items: { type: "string", default: "i" } }, [null], ["i"]],
  ["a null item without one stays for validation", { type: "array", items: { type: "string" } }, [null], [null]],
  ["a null value of a map is removed", { type: "object", additionalProperties: { type: "string" } }, { k: null }, {}],
  ["a default of null is none", object({ a: { type: "string", default: null } }), {}, {}],
  ["a value of another type is not entered", object({ p: object({ a: one }) }), { p: [1] }, { p: [1] }],
])("%s", (_, schema, value, expected) => {
  expect(defaulted(schema, value)).toEqual(expected);
});

test("each object gets its own copy of a default", () => {
  const schema = object({ l: { type: "array", items: { type: "integer" }, default: [1] } });
  const first = defaulted(schema, {}) as { l: number[] };
  first.l.push(2);
  expect(defaulted(schema, {})).toEqual({ l: [1] });
});

test("defaulting twice is defaulting once", () => {
  const schema = object({
    a: one,
    p: object({ a: one, q: object({ b: { type: "string", default: "b" } }, { default: {} }) }, { default: {} }),
    l: { type: "array", items: object({ a: one }) },
  });
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom("a", "b", "l", "p", "q"), withNullPrototype: false }), value => {
      const once = defaulted(schema, value);
      expect(defaulted(schema, once)).toEqual(once);
    }),
  );
});
