// Caps that are counted wrongly show in worlds by chance too, not only in stories that were made for them.

import { expect, test } from "vitest";
import { startController } from "../../../src/control/controller.ts";
import { randomWorld } from "../../../src/sim/simulation/random-worlds.ts";
import { simulate } from "../../../src/sim/simulation/run.ts";
import { ClusterPicture } from "../../../src/snapshot/cluster-picture.ts";
import { parts } from "../parts.ts";
import { sightMutants } from "./sight-mutants.ts";

const worldsMax = 20;

/** In how many worlds it took until the first in which it was caught. */
async function caughtAfter(blind: (picture: ClusterPicture) => Partial<ClusterPicture>): Promise<number | undefined> {
  for (let seed = 1; seed <= worldsMax; seed++) {
    const { verdict } = await simulate(randomWorld(seed), {
      ...parts,
      verifyEvery: Number.POSITIVE_INFINITY,
      start: options => {
        const controller = startController(options);
        if (controller.picture instanceof ClusterPicture) Object.assign(controller.picture, blind(controller.picture));
        return controller;
      },
    });
    if (verdict.problems.some(problem => problem.includes(" I1 "))) return seed;
  }
  return undefined;
}

test.each(["nothing that goes is counted", "a window forgets what has gone"])("%s", async name => {
  const mutant = sightMutants.find(one => one.name === name);
  if (mutant === undefined || !("blind" in mutant)) throw new Error(`no such mutant: ${name}`);
  expect(await caughtAfter(mutant.blind)).toBeDefined();
});
