// Where each pending pod could go at once, node by node: as the verifier sees it and as the solver does, in one form.

import { podKey } from "../../src/api/pod.ts";
import { pictureOf } from "../../src/decide/packing/build.ts";
import { verdicts } from "../../src/decide/packing/feasible.ts";
import type { Problem } from "../../src/decide/packing/problem.ts";
import { existingMachine } from "./verifier/cluster.ts";
import { Cluster } from "./verifier/crowds.ts";
import { rules, type RuleSet, troubles } from "./verifier/rules.ts";

/** By pod, then by node: what is in the way, "" for nothing. */
export type Feasibility = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function byVerifier(problem: Problem, by: RuleSet = rules): Feasibility {
  const machines = problem.nodes.map(existing => existingMachine(existing, problem));
  const cluster = new Cluster(problem, machines);
  const judged = problem.pods.map(pod => {
    const row = machines.flatMap(machine =>
      machine.shapes.map(shape => {
        const found = troubles(pod, { machine, shape }, { cluster, by });
        return [machine.name, found.map(({ rule }) => rule).join(", ")] as const;
      }),
    );
    return [podKey(pod), Object.fromEntries(row)] as const;
  });
  return Object.fromEntries(judged);
}

export function bySolver(problem: Problem): Feasibility {
  const picture = pictureOf(problem);
  return Object.fromEntries(
    problem.pods.map(pod => [
      podKey(pod),
      Object.fromEntries(verdicts(picture, pod).map(({ node, trouble }) => [node, trouble ?? ""])),
    ]),
  );
}

export type Disagreement = { world: number; pod: string; node: string; one: string; other: string };

/** Where one says yes and the other no. What they say no for may differ. */
export function disagreements(world: number, one: Feasibility, other: Feasibility): Disagreement[] {
  return Object.entries(one).flatMap(([pod, row]) =>
    Object.entries(row).flatMap(([node, mine]) => {
      const theirs = other[pod]?.[node] ?? "not answered";
      return (mine === "") === (theirs === "") ? [] : [{ world, pod, node, one: mine, other: theirs }];
    }),
  );
}
