import fc from "fast-check";
import { expect, test } from "vitest";
import type { NodeOperator, NodeRequirement } from "../../api/node-selector.ts";
import { nodeRequirements } from "../../api/node-selector.ts";
import { matches } from "../../api/selector.ts";
import { allows, hasValue, intersect, isImpossible, overlaps, toRequirements, valueSet } from "./value-set.ts";

const requirement = (operator: NodeOperator, ...values: string[]): NodeRequirement => ({ key: "k", operator, values });

test.each<[NodeRequirement, string | undefined, boolean]>([
  [requirement("In", "a"), "a", true],
  [requirement("In", "a"), undefined, false],
  [requirement("NotIn", "a"), "a", false],
  [requirement("NotIn", "a"), undefined, true],
  [requirement("Exists"), "", true],
  [requirement("Exists"), undefined, false],
  [requirement("DoesNotExist"), undefined, true],
  [requirement("DoesNotExist"), "a", false],
  [requirement("Gt", "4"), "5", true],
  [requirement("Gt", "4"), "4", false],
  [requirement("Gte", "4"), "4", true],
  [requirement("Lt", "4"), "3", true],
  [requirement("Lt", "4"), "4", false],
  [requirement("Lte", "4"), "4", true],
  [requirement("Gt", "4"), "many", false],
  [requirement("Gt", "4"), undefined, false],
])("%j with the label %s: %s", (one, value, expected) => {
  expect(allows(valueSet(one), value)).toBe(expected);
});

test("bounds that leave no integer leave nothing", () => {
  const between = intersect(valueSet(requirement("Gt", "4")), valueSet(requirement("Lt", "6")));
  expect(hasValue(between)).toBe(true);
  expect(isImpossible(intersect(between, valueSet(requirement("NotIn", "5"))))).toBe(true);
  expect(isImpossible(intersect(valueSet(requirement("Gt", "4")), valueSet(requirement("Lt", "5"))))).toBe(true);
});

const values = ["a", "b", "1", "2", "3", "7"];
const anyRequirement = fc.oneof(
  fc.record({
    key: fc.constant("k"),
    operator: fc.constantFrom<NodeOperator>("In", "NotIn"),
    values: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ key: fc.constant("k"), operator: fc.constantFrom<NodeOperator>("Exists", "DoesNotExist") }),
  fc.record({
    key: fc.constant("k"),
    operator: fc.constantFrom<NodeOperator>("Gt", "Lt", "Gte", "Lte"),
    values: fc.tuple(fc.constantFrom("1", "2", "3")),
  }),
);

test("a set means what the requirement means, and an intersection both", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, fc.constantFrom(undefined, ...values), (a, b, value) => {
      const labels = value === undefined ? {} : { k: value };
      const parsed = [a, b].map(one => nodeRequirements([one]));
      const holds = parsed.map(one => one.ok && matches(one.value, labels));
      const both = intersect(valueSet(a), valueSet(b));
      expect(allows(valueSet(a), value)).toBe(holds[0]);
      expect(allows(both, value)).toBe(holds[0] && holds[1]);
      if (allows(both, value)) expect(overlaps(valueSet(a), valueSet(b))).toBe(true);
      expect(overlaps(valueSet(a), valueSet(b))).toBe(!isImpossible(both));
    }),
  );
});

test("written as requirements again, a set means the same", () => {
  expect.hasAssertions();
  fc.assert(
    fc.property(anyRequirement, anyRequirement, fc.constantFrom(undefined, ...values), (a, b, value) => {
      const both = intersect(valueSet(a), valueSet(b));
      if (isImpossible(both)) return;
      const again = toRequirements("k", both).map(valueSet);
      // Absence together with values cannot be said in one requirement: those that stay are the narrower reading.
      const allowed = again.every(set => allows(set, value));
      if (allowed) expect(allows(both, value)).toBe(true);
      if (value !== undefined) expect(allowed).toBe(allows(both, value));
    }),
  );
});
