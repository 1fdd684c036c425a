// The solver's answers to random worlds, judged by the verifier.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { podKey } from "../../src/api/pod.ts";
import type { Answer } from "../../src/decide/packing/answer.ts";
import { reasonText } from "../../src/decide/packing/reasons.ts";
import { solveNow } from "../../src/decide/packing/solve.ts";
import type { Problem } from "../../src/decide/packing/problem.ts";
import { type Breach, verify } from "./verifier/verify.ts";
import { worlds } from "./worlds/pools.ts";

const runs = Number(process.env["FETTLE_WORLDS"] ?? 400);
const seed = Number(process.env["FETTLE_SEED"] ?? 20_260_101);

/** What a person needs to see why. */
function story(problem: Problem, answer: Answer, breaches: readonly Breach[]): string {
  const placed = answer.placements.map(({ pod, target }) => `${podKey(pod)} → ${JSON.stringify(target)}`);
  const left = answer.unplaced.map(({ pod, reason }) => `${podKey(pod)}: ${reasonText(reason)}`);
  return [...breaches.map(({ rule, says }) => `${rule}: ${says}`), ...placed, ...left, JSON.stringify(problem)].join(
    "\n",
  );
}

/** The same problem with every list of it in the opposite order. */
function backwards(problem: Problem): Problem {
  const lists = Object.entries(problem).map(([name, list]): [string, unknown] => [name, [...list].reverse()]);
  return { ...problem, ...Object.fromEntries(lists) };
}

describe(`the solver, in ${runs} random worlds of seed ${seed}`, () => {
  test("breaks no rule and leaves no pod out that would fit somewhere", () => {
    fc.assert(
      fc.property(worlds, problem => {
        const answer = solveNow(problem);
        const breaches = verify(problem, answer);
        expect(breaches.length === 0 ? "" : story(problem, answer, breaches)).toBe("");
      }),
      { numRuns: runs, seed },
    );
  });

  test("answers the same whatever the order of what it is given", () => {
    fc.assert(
      fc.property(worlds, problem => {
        expect(solveNow(backwards(problem))).toEqual(solveNow(problem));
      }),
      { numRuns: runs, seed },
    );
  });

  test("has something to do: nodes that exist, nodes on their way, new nodes and pods that fit nowhere", () => {
    const answers = fc.sample(worlds, { numRuns: runs, seed }).map(problem => solveNow(problem));
    const kinds = answers.flatMap(({ placements }) => placements.map(({ target }) => target.kind));
    const count = (kind: string) => kinds.filter(one => one === kind).length;
    expect(count("existing")).toBeGreaterThan(runs / 2);
    expect(count("upcoming")).toBeGreaterThan(runs / 20);
    expect(count("new")).toBeGreaterThan(runs / 10);
    expect(answers.flatMap(({ unplaced }) => unplaced).length).toBeGreaterThan(runs / 4);
  });
});
