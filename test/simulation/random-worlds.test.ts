// Days in worlds drawn from seeds. What fails is made smaller for as long as it still fails, and printed as a scenario
// that `fettle simulate` plays. FETTLE_SEED=N begins with another seed.

import { stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { randomWorld } from "../../src/sim/simulation/random-worlds.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { checkScenario, type Scenario } from "../../src/sim/simulation/scenario.ts";
import { shrink } from "../../src/sim/simulation/shrink.ts";
import { parts } from "./parts.ts";

const worldCount = 200;
const worldsInATest = 5;
const runsToShrinkMax = 150;
const firstSeed = /^\d+$/.test(process.env["FETTLE_SEED"] ?? "") ? Number(process.env["FETTLE_SEED"]) : 1;

/** Every turn would take twice as long, and what is forgotten once is still forgotten some turns later. */
const options = { ...parts, verifyEvery: 20 };

async function problemsOf(scenario: Scenario): Promise<readonly string[]> {
  return (await simulate(scenario, options)).verdict.problems;
}

/** "+01:02:03 I5 node …": which rule. */
async function brokenRule(scenario: Scenario): Promise<string | undefined> {
  return (await problemsOf(scenario))[0]?.split(" ")[1];
}

async function told(seed: number, problems: readonly string[]): Promise<string> {
  const small = await shrink(randomWorld(seed), brokenRule, runsToShrinkMax);
  return [`seed ${seed}:`, ...problems, "", "The smallest scenario that fails so:", stringify(small)].join("\n");
}

describe("a day in a world by chance", () => {
  const starts = Array.from({ length: worldCount / worldsInATest }, (_, index) => firstSeed + index * worldsInATest);

  test.each(starts)(
    "seeds from %i: nothing is harmed that may not be, and all comes to rest",
    async first => {
      for (let seed = first; seed < first + worldsInATest; seed++) {
        const problems = await problemsOf(randomWorld(seed));
        expect(problems.length === 0 ? "" : await told(seed, problems)).toBe("");
      }
    },
    600_000,
  );

  test("is the same day each time", async () => {
    const [once, again] = [await simulate(randomWorld(7), options), await simulate(randomWorld(7), options)];
    expect(again.journal).toEqual(once.journal);
  });

  test("is a scenario as people write them", () => {
    for (let seed = 1; seed <= 50; seed++) {
      expect(checkScenario(JSON.parse(JSON.stringify(randomWorld(seed))))).toMatchObject({ ok: true });
    }
  });
});
