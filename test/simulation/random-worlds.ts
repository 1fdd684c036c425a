// The worlds of one file of the suite: several share the work, since each file has a core of its own.

import { describe, expect, test } from "vitest";
import { randomWorld } from "../../src/sim/simulation/random-worlds.ts";
import { failureOf } from "./failing-world.ts";

const worldsInATest = 5;

/** Such a world takes three times as long as the others; `npm run soak -- disruption` plays more of them. */
const isDisrupted = (seed: number) => seed % 20 === 0;

/** FETTLE_SEED=N begins with another seed. */
const firstSeed = /^\d+$/.test(process.env["FETTLE_SEED"] ?? "") ? Number(process.env["FETTLE_SEED"]) : 1;

export function playWorlds(from: number, count: number): void {
  describe("a day in a world by chance", () => {
    const starts = Array.from(
      { length: count / worldsInATest },
      (_, index) => firstSeed + from + index * worldsInATest,
    );

    test.each(starts)(
      "seeds from %i: nothing is harmed that may not be, and all comes to rest",
      async first => {
        for (let seed = first; seed < first + worldsInATest; seed++) {
          const world = randomWorld(seed, { isDisrupted: isDisrupted(seed) });
          expect((await failureOf(seed, world)) ?? "").toBe("");
        }
      },
      1_200_000,
    );
  });
}
