import { expect, test } from "vitest";
import type { Refusal } from "../decide/decision.ts";
import { RefusalTimes } from "./refusal-times.ts";

const no = (message: string, code = "budget-spent"): Refusal => ({
  subject: "node/a",
  code,
  message,
  liftedBy: "time",
});

test("a no stands since it was first said, however its sentence changes", () => {
  const times = new RefusalTimes();
  times.refused(no("1 of 1"), 10);
  times.refused(no("2 of 2"), 20);
  expect(times.since(no("3 of 3"))).toBe(10);
  expect(times.since(no("another", "frozen"))).toBeUndefined();
});

test("it is over when nobody says it any more, and a later one is a new one", () => {
  const times = new RefusalTimes();
  times.refused(no("by one rule"), 10);
  times.lifted(no("by one rule"), [no("by another rule"), no("else", "frozen")]);
  expect(times.since(no("by another rule"))).toBe(10);
  times.lifted(no("by another rule"), [no("else", "frozen")]);
  expect(times.since(no(""))).toBeUndefined();
  times.refused(no("again"), 30);
  expect(times.since(no("again"))).toBe(30);
  times.clear();
  expect(times.since(no("again"))).toBeUndefined();
});
