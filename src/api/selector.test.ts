import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bits, differences, vectors } from "../../test/vectors/read.ts";
import { certain, type Parsed } from "./parsed.ts";
import {
  formatSelector,
  type Labels,
  type LabelSelector,
  matches,
  type Requirement,
  requiredValue,
  type Selector,
  selectorOf,
} from "./selector.ts";
import { parseSelector } from "./selector-text.ts";

type Case<T> = [input: T, shown: string, answer: number | string];
const kubernetes = vectors("selectors") as { labels: Labels[]; text: Case<string>[]; objects: Case<LabelSelector>[] };

/** [as shown, matching label sets], or the refusal. */
function answer(selector: Parsed<Selector>): [string, number | string] {
  if (!selector.ok) return ["", selector.error];
  return [formatSelector(selector.value), bits(kubernetes.labels.map(labels => matches(selector.value, labels)))];
}

describe("label selectors agree with Kubernetes", () => {
  test("in their string form: verdict, words of the refusal, text and matches", () => {
    expect(kubernetes.text.length).toBeGreaterThan(1400);
    const wrong = differences(kubernetes.text, ([text, ...theirs]) => ({ ours: answer(parseSelector(text)), theirs }));
    expect(wrong).toEqual([]);
  });

  test("in their object form", () => {
    expect(kubernetes.objects.length).toBeGreaterThan(300);
    const wrong = differences(kubernetes.objects, ([object, ...theirs]) => ({
      ours: answer(selectorOf(object)),
      theirs,
    }));
    expect(wrong).toEqual([]);
  });
});

const key = fc.constantFrom("a", "b", "example.com/c", "in", "notin");
const value = fc.constantFrom("", "x", "y", "in", "1", "a-b_c.d");
const someLabels = fc.dictionary(key, value);
const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("exists", "!"), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom("=", "==", "!="), values: fc.tuple(value) }),
  fc.record({ key, operator: fc.constantFrom("in", "notin"), values: fc.uniqueArray(value, { minLength: 1 }) }),
  fc.record({ key, operator: fc.constantFrom("gt", "lt"), values: fc.tuple(fc.integer({ min: 0 }).map(String)) }),
);

test("what a selector is shown as reads back as the same selector", () => {
  fc.assert(
    fc.property(fc.array(requirement), someLabels, (requirements, labels) => {
      const again = certain(parseSelector(formatSelector(requirements)));
      expect(matches(again, labels)).toBe(matches(requirements, labels));
      expect(certain(parseSelector(formatSelector(again)))).toEqual(again);
    }),
  );
});

test("a requirement and its opposite never both hold", () => {
  const opposite = { "=": "!=", in: "notin", exists: "!" } as const;
  fc.assert(
    fc.property(
      key,
      value,
      fc.constantFrom("=" as const, "in" as const, "exists" as const),
      someLabels,
      (key, value, operator, labels) => {
        const values = operator === "exists" ? [] : [value];
        const holds = matches([{ key, operator, values }], labels);
        expect(matches([{ key, operator: opposite[operator], values }], labels)).toBe(!holds);
      },
    ),
  );
});

test("no labels at all are an empty set of labels", () => {
  expect(matches([], undefined)).toBe(true);
  expect(matches(certain(parseSelector("!a")), undefined)).toBe(true);
  expect(matches(certain(parseSelector("a")), undefined)).toBe(false);
});

test("a key that JavaScript objects have anyway is no label", () => {
  expect(matches(certain(parseSelector("constructor")), {})).toBe(false);
});

test.each([
  ["a=b", "b"],
  ["a in (b)", "b"],
  ["a in (b,c)", undefined],
  ["a!=b", undefined],
  ["b=c", undefined],
  ["a!=x,a=b", undefined], // Kubernetes asks the first requirement on a key alone
])("%j says that a must be %j", (text, value) => {
  expect(requiredValue(certain(parseSelector(text)), "a")).toBe(value);
});
