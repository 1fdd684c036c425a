import { expect, test } from "vitest";
import { remembered } from "./remembered.ts";

test("a text is read once", () => {
  const read: string[] = [];
  const length = remembered(text => {
    read.push(text);
    return text.length;
  });
  expect([length("a"), length("bb"), length("a")]).toEqual([1, 2, 1]);
  expect(read).toEqual(["a", "bb"]);
});

test("undefined is an answer like any other", () => {
  let count = 0;
  const none = remembered(() => {
    count++;
    return undefined;
  });
  expect([none(""), none("")]).toEqual([undefined, undefined]);
  expect(count).toBe(1);
});

test("what makes no answer is asked again", () => {
  const refuse = remembered(text => {
    throw new Error(text);
  });
  expect(() => refuse("a")).toThrow("a");
  expect(() => refuse("a")).toThrow("a");
});

test("texts without end are not kept without end, and their answers stay right", () => {
  let count = 0;
  const number = remembered(text => {
    count++;
    return Number(text);
  });
  for (let i = 0; i < 10_000; i++) expect(number(String(i))).toBe(i);
  expect(number("0")).toBe(0);
  expect(count).toBe(10_001);
});

test("a text that is longer than anything sensible is not kept", () => {
  const read: number[] = [];
  const length = remembered(text => {
    read.push(text.length);
    return text.length;
  });
  for (const count of [256, 256, 257, 257]) expect(length("x".repeat(count))).toBe(count);
  expect(read).toEqual([256, 257, 257]);
});
