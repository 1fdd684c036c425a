import { expect, test } from "vitest";
import { isOlder } from "./resource-version.ts";

test.each([
  ["9", "10", true],
  ["10", "9", false],
  ["10", "10", false],
  ["18446744073709551614", "18446744073709551615", true],
  ["abc", "10", false],
  ["10", "abc", false],
  ["", "10", false],
])("version %s is older than %s: %s", (one, other, older) => expect(isOlder(one, other)).toBe(older));
