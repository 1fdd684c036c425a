import { expect, test } from "vitest";
import { at } from "../../test/builders.ts";
import type { Refusal } from "../decide/decision.ts";
import { refusalsAnswer, type RefusalsQuestion } from "./refusals-answer.ts";

const no = (subject: Refusal["subject"], code: string, until?: number): Refusal => ({
  subject,
  code,
  message: `${subject} may not.`,
  liftedBy: "a person",
  ...(until === undefined ? {} : { until }),
});

const standing = [
  no("pool/web", "frozen", at("2h")),
  no("node/b", "cap-reached"),
  no("node/a", "not-due", at("30m")),
  no("cluster", "picture-stale"),
  no("node/a", "do-not-disrupt", Number.POSITIVE_INFINITY),
];
const asked = { epoch: 3, refusals: () => standing, refusedSince: () => at("1m") };
const ask = (question: RefusalsQuestion = {}) => refusalsAnswer(asked, question);

test("all that stands, by object and code, with its times", () => {
  const answer = ask();
  expect([answer.leading, answer.count]).toEqual([true, 5]);
  expect(answer.refusals.map(({ kind, name, code }) => [kind, name, code])).toEqual([
    ["Cluster", undefined, "picture-stale"],
    ["Node", "a", "do-not-disrupt"],
    ["Node", "a", "not-due"],
    ["Node", "b", "cap-reached"],
    ["NodePool", "web", "frozen"],
  ]);
  expect(answer.refusals[2]).toEqual({
    kind: "Node",
    name: "a",
    code: "not-due",
    sentence: "node/a may not.",
    since: "2026-01-01T00:01:00Z",
    until: "2026-01-01T00:30:00Z",
    lifts: "a person",
  });
  expect(answer.refusals[1]).not.toHaveProperty("until");
});

test("what a limit counts is told by name", () => {
  const counted = "b (Drift), c (deleted by somebody)";
  const { refusals } = refusalsAnswer({ ...asked, refusals: () => [{ ...no("node/a", "budget-spent"), counted }] }, {});
  expect(refusals).toMatchObject([{ sentence: `node/a may not. Counted: ${counted}.` }]);
});

test("of a kind, of an object, of a name", () => {
  const found = (question: RefusalsQuestion) => ask(question).refusals.map(({ code }) => code);
  expect(found({ kind: "node" })).toEqual(["do-not-disrupt", "not-due", "cap-reached"]);
  expect(found({ kind: "Node", name: "a" })).toEqual(["do-not-disrupt", "not-due"]);
  expect(found({ name: "web" })).toEqual(["frozen"]);
  expect(found({ kind: "Cluster" })).toEqual(["picture-stale"]);
  expect(found({ kind: "Pod" })).toEqual([]);
});

test("no more than a thousand are told, and how many there are", () => {
  const many = Array.from({ length: 1200 }, (_, index) => no(`node/n${index}`, "cap-reached"));
  const { count, refusals } = refusalsAnswer({ ...asked, refusals: () => many }, {});
  expect([count, refusals.length]).toEqual([1200, 1000]);
});

test("whoever does not lead says so", () => {
  const idle = { epoch: undefined, refusals: () => [], refusedSince: () => undefined };
  expect(refusalsAnswer(idle, {})).toEqual({ leading: false, count: 0, refusals: [] });
});
