import { expect, test } from "vitest";
import { LeaseLooks } from "./lease-looks.ts";

test("a lease that says the same has been seen since the first of the looks, one that moved since the last", () => {
  const looks = new LeaseLooks();
  expect(looks.seenAt("a", 500, 100)).toBe(100);
  expect(looks.seenAt("b", 500, 150)).toBe(150);
  expect(looks.seenAt("a", 500, 200)).toBe(100);
  expect(looks.seenAt("a", 501, 300)).toBe(300);
  expect(looks.seenAt("a", 501, 400)).toBe(300);
});

test("the oldest looks are forgotten, one by one", () => {
  const looks = new LeaseLooks();
  for (let node = 0; node <= 1_000; node++) looks.seenAt(`${node}`, 1, node);
  expect(looks.seenAt("1", 1, 2_000)).toBe(1);
  expect(looks.seenAt("0", 1, 2_000)).toBe(2_000);
});
