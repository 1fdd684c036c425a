import { expect, test } from "vitest";
import { accepted, certain, quoted, refused } from "./parsed.ts";

test("a text of the program's own that cannot be read is a broken invariant", () => {
  expect(certain(accepted(3))).toBe(3);
  expect(() => certain(refused("no such thing"))).toThrow("no such thing");
});

test.each([
  ["plain", '"plain"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ["tab\tline\n", '"tab\\tline\\n"'],
  ["bell\u0007null\u0000", '"bell\\anull\\x00"'],
  ["ä 日本 😀", '"ä 日本 😀"'],
  ["\u00a0\u2028", '"\\u00a0\\u2028"'],
])("%j is shown as Go shows it", (text, shown) => {
  expect(quoted(text)).toBe(shown);
});
