import { expect, test } from "vitest";
import { VirtualClock } from "../sim/clock.ts";
import { scaledClock } from "./scaled-clock.ts";

test("begins with the wall's time and runs so many times as fast", async () => {
  const wall = new VirtualClock(1_000_000);
  await wall.runFor(500);
  const clock = scaledClock(wall, 60);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000_500, 0]);
  await wall.runFor(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_060_500, 60_000]);
});

test("a wait is as much shorter, and can be given up", async () => {
  const wall = new VirtualClock(0);
  const clock = scaledClock(wall, 20);
  const rung: number[] = [];
  clock.after(60_000, () => rung.push(wall.now()));
  clock.after(60_000, () => rung.push(-1))();
  await wall.runFor(2_999);
  expect(rung).toEqual([]);
  await wall.runFor(1);
  expect(rung).toEqual([3_000]);
});
