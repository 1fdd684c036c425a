import { describe, expect, test } from "vitest";
import { generatedName, seededRandom, uuid } from "./random.ts";

describe("chance from a seed", () => {
  test("repeats itself for the same seed and not for its neighbour", () => {
    const take = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 5 }, () => random());
    };
    expect(take(7)).toEqual(take(7));
    expect(take(7)).not.toEqual(take(8));
  });

  test("makes version 4 UUIDs", () => {
    const random = seededRandom(1);
    const made = Array.from({ length: 200 }, () => uuid(random));
    for (const each of made)
      expect(each).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(made).size).toBe(200);
  });

  test("generates names of five letters that cannot spell a word, cut to fit a DNS label", () => {
    const random = seededRandom(1);
    expect(generatedName("web-", random)).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(generatedName("x".repeat(80), random)).toHaveLength(63);
  });
});
