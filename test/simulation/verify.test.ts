// How often a simulation compares what stands with a look from scratch: tests after every turn, a person's own so often
// that the run takes little longer, and always at the end.

import { expect, test } from "vitest";
import { type ControllerOptions, startController } from "../../src/control/controller.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { noticing } from "./parts.ts";

const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "p" }, spec: { replicas: 3 } };
const scenario: Scenario = { title: "three nodes", until: "30m", cluster: { manifests: [pool] } };

/** A controller that is wrong, or right, from a turn on; with how often it was compared. */
function comparedController(difference: (turns: number) => readonly string[] = () => []) {
  const looks: number[] = [];
  const start = (options: ControllerOptions) => {
    const controller = startController(options);
    const verify = controller.verify.bind(controller);
    controller.verify = () => {
      looks.push(controller.counts.turns);
      return [...verify(), ...difference(controller.counts.turns)];
    };
    return controller;
  };
  return { looks, start };
}

test("in proportion, far fewer subjects are judged from scratch than are asked, and the journal has the same lines", async () => {
  const [each, some] = [comparedController(), comparedController()];
  const afterEach = await simulate(scenario, { ...noticing, start: each.start });
  const inProportion = await simulate(scenario, { ...noticing, start: some.start, verifyEvery: "in proportion" });
  // Who is asked first at an instant may differ.
  expect(inProportion.journal.toSorted()).toEqual(afterEach.journal.toSorted());
  expect([afterEach.verdict.ok, inProportion.verdict.ok]).toEqual([true, true]);
  expect(each.looks.length).toBe(afterEach.counts.turns);
  expect(some.looks.length).toBeGreaterThan(2);
  expect(some.looks.length).toBeLessThan(each.looks.length / 4);
});

test("in proportion, what is wrong at the end is found", async () => {
  const { counts } = await simulate(scenario, { ...noticing, verifyEvery: "in proportion" });
  const { looks, start } = comparedController(turns => (turns === counts.turns ? ["one stands, another should"] : []));
  const { verdict } = await simulate(scenario, { ...noticing, start, verifyEvery: "in proportion" });
  expect(looks.at(-1)).toBe(counts.turns);
  expect(verdict.problems).toEqual([expect.stringContaining("incremental: one stands, another should")]);
});
