import { expect, test } from "vitest";
import { elapsed, Journal } from "./journal.ts";

const startedAt = Date.parse("2026-01-01T00:00:00Z");
const at = startedAt + 12 * 60_000 + 30_000;
const claim = { name: "web-1", uid: "u1" };

test.each([
  [0, "+00:00:00"],
  [999, "+00:00:00"],
  [3_599_999, "+00:59:59"],
  [3_600_000, "+01:00:00"],
  [48 * 3_600_000 + 61_000, "+48:01:01"],
  [-61_000, "-00:01:01"],
])("%i ms after the start reads %s", (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});

test("a command is told once, when it ends; one without an end as it was decided", () => {
  const journal = new Journal(startedAt);
  const launch = { kind: "launch-instance", claim, why: "it has none" } as const;
  const list = { kind: "list-instances", why: "two minutes have passed" } as const;
  journal.add({ at: startedAt, event: "decided", rule: "lifecycle", subject: "claim/web-1", command: launch });
  journal.add({ at: startedAt, event: "decided", rule: "garbage", subject: "cluster", command: list });
  journal.add({ at, event: "ended", command: launch, outcome: { result: "done" } });
  expect(journal.lines()).toEqual([
    "+00:00:00  instances  list-instances  decided: two minutes have passed",
    "+00:12:30  claim/web-1  launch-instance  done: it has none",
  ]);
});

test("failures, refusals, events, terms and the world are told in a line each", () => {
  const journal = new Journal(startedAt);
  const command = { kind: "delete-node", node: { name: "a", uid: "u" }, why: "its claim goes" } as const;
  const refusal = {
    subject: "claim/web-1",
    code: "budget-spent",
    message: "The budget web allows 0.",
    until: at,
    liftedBy: "a larger budget",
  } as const;
  const about = { kind: "NodeClaim", ...claim } as const;
  journal.add({ at, event: "ended", command, outcome: { result: "retry", reason: "Timeout", message: "no answer" } });
  journal.add({ at, event: "refused", refusal });
  journal.add({ at, event: "lifted", refusal });
  journal.add({ at, event: "noticed", notice: { about, type: "Normal", reason: "Launched", message: "It runs." } });
  journal.add({ at, event: "leading", epoch: 2, message: "Leads." });
  journal.add({ at, event: "person", message: "deletes Node/a" });
  expect(journal.lines().map(line => line.replace("+00:12:30  ", ""))).toEqual([
    "node/a  delete-node  retry (Timeout no answer): its claim goes",
    "claim/web-1  refused  budget-spent: The budget web allows 0. (until 2026-01-01T00:12:30Z) [a larger budget]",
    "claim/web-1  no longer refused  budget-spent",
    "NodeClaim/web-1  event Launched  It runs.",
    "controller  leading  epoch 2: Leads.",
    "person  deletes Node/a",
  ]);
});
