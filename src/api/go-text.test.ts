import { expect, test } from "vitest";
import { goFloat, goJson, goNumber, runes } from "./go-text.ts";

test.each([
  [100000, "100000"],
  [1000000, "1e+06"],
  [123456789, "1.23456789e+08"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [-0, "-0"],
  [0, "0"],
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NaN, "NaN"],
])("the float %d is printed %s", (value, text) => {
  expect(goFloat(value)).toBe(text);
});

test("a whole number is printed in full as long as it is an int64", () => {
  expect(goNumber(1e6)).toBe("1000000");
  expect(goNumber(2 ** 53)).toBe("9007199254740992");
  expect(goNumber(1e20)).toBe("1e+20");
});

test("JSON has its keys in order and nothing that HTML would read", () => {
  expect(goJson({ b: 1, a: ["<&>", { d: null, c: undefined }] })).toBe(
    '{"a":["\\u003c\\u0026\\u003e",{"c":null,"d":null}],"b":1}',
  );
});

test("runes are code points, not halves of them", () => {
  expect(runes("a😀é")).toEqual(["a", "😀", "é"]);
});
