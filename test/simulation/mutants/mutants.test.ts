// Deliberate bugs, each of which some check must catch: what holds in every run, what a story expects, or the comparison
// with a look from scratch. The controller as it is passes the same checks. The table says who caught what.

import { afterAll, describe, expect, test } from "vitest";
import { disruptionMutants } from "./disruption-mutants.ts";
import { endMutants } from "./end-mutants.ts";
import { portMutants } from "./port-mutants.ts";
import { rebootMutants } from "./reboot-mutants.ts";
import { repairMutants } from "./repair-mutants.ts";
import { ruleMutants } from "./rule-mutants.ts";
import { sightMutants } from "./sight-mutants.ts";
import type { StoryName } from "./stories.ts";
import { told, trial } from "./trial.ts";

const mutants = [
  ...endMutants,
  ...portMutants,
  ...sightMutants,
  ...ruleMutants,
  ...rebootMutants,
  ...repairMutants,
  ...disruptionMutants,
];
const stories: readonly StoryName[] = [...new Set(mutants.map(({ story }) => story))];
const rows: string[][] = [];

describe("the controller as it is passes", () => {
  test.each(stories)("%s", async story => {
    expect(await trial(story)).toEqual([]);
  });
});

describe("caught:", () => {
  test.each(mutants.map(mutant => [mutant.name, mutant] as const))("%s", async (name, mutant) => {
    const problems = await trial(mutant.story, mutant);
    const caught = problems.find(({ by }) => by === mutant.caughtBy);
    expect(problems.map(({ by }) => by)).toContain(mutant.caughtBy);
    if (caught !== undefined) rows.push([name, mutant.story, caught.at, caught.by, caught.message]);
  });
});

test("there are at least 25, each with a name of its own", () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  expect(mutants.length).toBeGreaterThanOrEqual(25);
});

afterAll(() => {
  process.stdout.write(`${told(rows)}\n`);
});
