import { expect, test } from "vitest";
import type { Schema } from "../api/schema/schema.ts";
import { knownSchema, unsoundness, vouchFor } from "./known-schemas.ts";

const text = (description: string): Schema => ({ type: "object", properties: { a: { type: "string", description } } });

test("schemas that read the same are one, and nobody may change it", () => {
  const first = knownSchema(text("same"));
  expect(knownSchema(text("same"))).toBe(first);
  expect(knownSchema(text("another"))).not.toBe(first);
  expect(Object.isFrozen(first.properties?.["a"])).toBe(true);
});

test("however many there are, one that is forgotten still reads the same", () => {
  const first = knownSchema(text("first of many"));
  for (let i = 0; i < 200; i++) knownSchema(text(`of many ${i}`));
  expect(knownSchema(text("first of many"))).toEqual(first);
});

test("what is wrong with a schema is said every time, where it stands", () => {
  const wrong = (): Schema => ({ type: "object", properties: { a: {} } });
  expect(unsoundness(wrong(), "here").map(({ path }) => path)).toEqual(["here.properties[a].type"]);
  expect(unsoundness(wrong(), "there").map(({ path }) => path)).toEqual(["there.properties[a].type"]);
  expect([unsoundness(text("sound"), "here"), unsoundness(text("sound"), "there")]).toEqual([[], []]);
});

test("one that somebody vouches for is not judged, whoever defines it", () => {
  const vouched = (): Schema => ({ type: "object", properties: { vouched: {} } });
  vouchFor(vouched());
  expect(unsoundness(vouched(), "here")).toEqual([]);
});
