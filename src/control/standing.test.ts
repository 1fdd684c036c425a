import { expect, test } from "vitest";
import { nothing, type Refusal } from "../decide/decision.ts";
import { StandingDecisions } from "./standing.ts";

const arbiter = { rule: "arbiter", subject: "cluster" } as const;

function spent(node: string, more: Partial<Refusal> = {}): Refusal {
  const message = "2 nodes are going away; at most 2 may be.";
  return { subject: `node/${node}`, code: "budget-spent", message, liftedBy: "an end", ...more };
}

function standingWith(refusals: readonly Refusal[]) {
  const standing = new StandingDecisions();
  standing.replace(arbiter, { ...nothing, refusals });
  return (after: readonly Refusal[]) => ({ standing, ...standing.replace(arbiter, { ...nothing, refusals: after }) });
}

test("another sentence is told anew; what is counted by then is not, and yet stands", () => {
  const replace = standingWith([spent("a", { counted: "x (Drift)" })]);
  const counted = replace([spent("a", { counted: "y (Repair)" })]);
  expect([counted.refused, counted.lifted]).toEqual([[], []]);
  expect(counted.standing.refusals("node/a")).toMatchObject([{ counted: "y (Repair)" }]);
  expect(replace([spent("a", { message: "3 nodes are." })]).refused).toMatchObject([{ message: "3 nodes are." }]);
});

test("of many, those that came are told, and those that ended are lifted", () => {
  const many = Array.from({ length: 3000 }, (_, index) => spent(`n${index}`));
  const replace = standingWith(many);
  const { refused, lifted } = replace([...many.slice(1), spent("new")]);
  expect([refused, lifted].map(list => list.map(({ subject }) => subject))).toEqual([["node/new"], ["node/n0"]]);
  expect(replace([]).lifted).toHaveLength(3000);
});

test("of the same no to a node, said twice, one may end", () => {
  const replace = standingWith([spent("a"), spent("a", { message: "By another budget." })]);
  expect(replace([spent("a")])).toMatchObject({ refused: [], lifted: [] });
});
