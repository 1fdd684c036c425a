import { expect, test } from "vitest";
import { fingerprint, fingerprintOf } from "./fingerprint.ts";

test("neighbouring texts are far apart", () => {
  const numbers = ["web 0", "web 1", "web 2"].map(fingerprint);
  expect(new Set(numbers.map(number => number >>> 24)).size).toBe(3);
});

test("of a value does not depend on the order of fields, but on that of lists and on each value", () => {
  const of = fingerprintOf({ a: 1, b: { c: [1, 2], d: "x" } });
  expect(of).toMatch(/^[0-9a-f]{8}$/);
  expect(fingerprintOf({ b: { d: "x", c: [1, 2] }, a: 1 })).toBe(of);
  expect(fingerprintOf({ a: 1, b: { c: [2, 1], d: "x" } })).not.toBe(of);
  expect(fingerprintOf({ a: 1, b: { c: [1, 2], d: "y" } })).not.toBe(of);
});
