import { expect, test } from "vitest";
import { backoff } from "./backoff.ts";

test("delays double up to their bound, around the middle of the jitter", () => {
  const delays = backoff({ minMs: 800, maxMs: 3000 }, () => 0.5);
  expect([delays.nextMs(), delays.nextMs(), delays.nextMs(), delays.nextMs()]).toEqual([800, 1600, 3000, 3000]);
});

test("jitter spreads a delay from half to one and a half", () => {
  expect(backoff({ minMs: 800, maxMs: 3000 }, () => 0).nextMs()).toBe(400);
  expect(backoff({ minMs: 800, maxMs: 3000 }, () => 0.999).nextMs()).toBeCloseTo(1199, 0);
});

test("success starts again from the shortest", () => {
  const delays = backoff({ minMs: 800, maxMs: 3000 }, () => 0.5);
  delays.nextMs();
  delays.nextMs();
  delays.reset();
  expect(delays.nextMs()).toBe(800);
});
