import { expect, test } from "vitest";
import { ledgerActions } from "../api/node-action.ts";
import { classOf, outranks, precedence } from "./precedence.ts";

test("every action that the ledger knows has one place in the order", () => {
  expect([...precedence].sort()).toEqual([...ledgerActions].sort());
  expect(new Set(precedence).size).toBe(precedence.length);
});

test("a person's delete, then repair, remediation, expiration, drift, emptiness, consolidation", () => {
  const stated = ["Deletion", "Repair", "Remediation", "Expiration", "Drift", "Emptiness", "Consolidation"] as const;
  expect(precedence.filter(action => (stated as readonly string[]).includes(action))).toEqual(stated);
});

test.each(
  precedence.flatMap((action, place) =>
    precedence.map((other, otherPlace) => ({ action, other, above: place < otherPlace })),
  ),
)("$action outranks $other: $above", ({ action, other, above }) => expect(outranks(action, other)).toBe(above));

test.each([
  ["Repair", "repair"],
  ["Remediation", "repair"],
  ["Consolidation", "disruption"],
  ["Emptiness", "disruption"],
  ["Expiration", "disruption"],
  ["Drift", "disruption"],
  ["Deletion", "other"],
  ["ScaleDown", "other"],
  ["GarbageCollection", "other"],
] as const)("%s is counted as %s", (action, expected) => expect(classOf(action)).toBe(expected));
