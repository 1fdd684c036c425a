import { describe, expect, test } from "vitest";
import { bits, differences, vectors } from "../../test/vectors/read.ts";
import { matchesTerms, type NodeSelector, nodeRequirements, type NodeOperator, readyTerms } from "./node-selector.ts";
import { certain } from "./parsed.ts";
import { type Labels, matches } from "./selector.ts";

const kubernetes = vectors("node-selectors") as {
  labels: Labels[];
  cases: [selector: NodeSelector, matching: number][];
};
const nodes = kubernetes.labels.map((labels, index) => ({ name: `n${index}`, labels }));

test("node affinity agrees with the scheduler's", () => {
  expect(kubernetes.cases.length).toBeGreaterThanOrEqual(400);
  const wrong = differences(kubernetes.cases, ([selector, theirs]) => {
    const terms = readyTerms(selector);
    return { ours: bits(nodes.map(node => matchesTerms(terms, node))), theirs };
  });
  expect(wrong).toEqual([]);
});

describe("a term that cannot be read", () => {
  const good = { matchExpressions: [{ key: "a", operator: "Exists" as const }] };

  test("matches nothing, and the others still count", () => {
    const bad = { matchExpressions: [{ key: "a", operator: "In" as const, values: [] }] };
    const node = { name: "n", labels: { a: "" } };
    expect(matchesTerms(readyTerms({ nodeSelectorTerms: [bad] }), node)).toBe(false);
    expect(matchesTerms(readyTerms({ nodeSelectorTerms: [bad, good] }), node)).toBe(true);
  });

  test.each([
    [
      { matchExpressions: [{ key: "a", operator: "Gte" as const, values: ["1"] }] },
      /operator: Unsupported value: "Gte"/,
    ],
    [{ matchExpressions: [{ key: "a", operator: "Gt" as const, values: ["x"] }] }, /must be an integer/],
    [{ matchFields: [{ key: "metadata.name", operator: "Exists" as const }] }, /supported values: "In", "NotIn"/],
    [{ matchFields: [{ key: "metadata.name", operator: "In" as const }] }, /must have one element/],
  ])("%j says why", (term, why) => {
    const [ready] = readyTerms({ nodeSelectorTerms: [term] });
    expect(ready && "error" in ready ? ready.error : "").toMatch(why);
  });
});

test.each<[NodeOperator, string, boolean[]]>([
  //            label: none   "4"    "5"    "6"    "x"
  ["Gt", "5", [false, false, false, true, false]],
  ["Gte", "5", [false, false, true, true, false]],
  ["Lt", "5", [false, true, false, false, false]],
  ["Lte", "5", [false, true, true, false, false]],
])("a pool's requirement %s %s compares whole numbers", (operator, bound, expected) => {
  const selector = certain(nodeRequirements([{ key: "a", operator, values: [bound] }]));
  const labels: Labels[] = [{}, { a: "4" }, { a: "5" }, { a: "6" }, { a: "x" }];
  expect(labels.map(one => matches(selector, one))).toEqual(expected);
});

test("numbers beyond 2^53 are still told apart", () => {
  const selector = certain(nodeRequirements([{ key: "a", operator: "Gt", values: ["9007199254740992"] }]));
  expect(matches(selector, { a: "9007199254740993" })).toBe(true);
  expect(matches(selector, { a: "9007199254740992" })).toBe(false);
});

test.each([
  [{ key: "a", operator: "Lte" as const, values: ["x"] }, /for 'Gte', 'Lte' operators, the value must be an integer/],
  [{ key: "a", operator: "Gte" as const, values: ["1", "2"] }, /exactly one value is required/],
  [{ key: "a", operator: "Near" as NodeOperator, values: [] }, /supported values: "In", .*"Lte"/],
  [{ key: "a b", operator: "Exists" as const }, /\[0\]\.key: Invalid value: "a b"/],
])("a pool's requirement %j is refused", (requirement, why) => {
  const parsed = nodeRequirements([requirement]);
  expect(parsed.ok ? "" : parsed.error).toMatch(why);
});
