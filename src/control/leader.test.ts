import { expect, test } from "vitest";
import { termNumber } from "./leader.ts";

const of = (...epochs: number[]) => epochs.map(epoch => ({ spec: { epoch } }));

test.each<[string, number[], number]>([
  ["no action", [], 7],
  ["older ones", [3, 6], 7],
  ["one of its own number", [7], 7],
  ["a newer one", [6, 8], 9],
  ["several newer ones", [12, 40, 8], 41],
  ["one that nothing can follow", [Number.MAX_SAFE_INTEGER, 8], 9],
])("a term acts under a number above all that the ledger shows: %s", (_, epochs, term) => {
  expect(termNumber(7, of(...epochs))).toBe(term);
});
