// Days in worlds drawn from seeds. What fails is made smaller for as long as it still fails, and told as a scenario that
// `fettle simulate` plays.

import { stringify } from "yaml";
import { randomWorld } from "../../src/sim/simulation/random-worlds.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { shrink } from "../../src/sim/simulation/shrink.ts";
import { parts } from "./parts.ts";

const runsToShrinkMax = 150;

/** Every turn would take twice as long, and what is forgotten once is still forgotten some turns later. */
const options = { ...parts, verifyEvery: 40 };

/** Undefined: all held. */
export async function failureOf(seed: number, world = randomWorld(seed)): Promise<string | undefined> {
  const problems = await problemsOf(world);
  if (problems.length === 0) return undefined;
  const small = await shrink(world, brokenRule, runsToShrinkMax);
  return [`seed ${seed}:`, ...problems, "", "The smallest scenario that fails so:", stringify(small)].join("\n");
}

export async function journalOf(seed: number): Promise<readonly string[]> {
  return (await simulate(randomWorld(seed), options)).journal;
}

async function problemsOf(scenario: Scenario): Promise<readonly string[]> {
  return (await simulate(scenario, options)).verdict.problems;
}

/** "+01:02:03 I5 node …": which rule. */
async function brokenRule(scenario: Scenario): Promise<string | undefined> {
  return (await problemsOf(scenario))[0]?.split(" ")[1];
}
