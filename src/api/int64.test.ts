import { expect, test } from "vitest";
import { int64 } from "./int64.ts";

test.each([
  ["0", 0n],
  ["-0", 0n],
  ["+7", 7n],
  ["007", 7n],
  ["9223372036854775807", 9223372036854775807n],
  ["-9223372036854775808", -9223372036854775808n],
])("%s is %d", (text, number) => {
  expect(int64(text)).toBe(number);
});

test.each([
  [""],
  ["-"],
  ["+-1"],
  ["1.0"],
  ["1e3"],
  ["0x1"],
  ["1_000"],
  [" 1"],
  ["9223372036854775808"],
  ["-9223372036854775809"],
])("%j is no number of 64 bits", text => {
  expect(int64(text)).toBeUndefined();
});
