import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bits, differences, vectors } from "../../test/vectors/read.ts";
import {
  escapeValue,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredField,
} from "./field-selector.ts";
import { certain } from "./parsed.ts";

type Case = [text: string, shown: string, answer: number | string];
const kubernetes = vectors("selectors") as { fieldSets: Record<string, string>[]; fields: Case[] };

test("field selectors agree with Kubernetes: verdict, words of the refusal, text and matches", () => {
  expect(kubernetes.fields.length).toBeGreaterThan(500);
  const wrong = differences(kubernetes.fields, ([text, ...theirs]) => {
    const selector = parseFieldSelector(text);
    if (!selector.ok) return { ours: ["", selector.error], theirs };
    const matching = bits(kubernetes.fieldSets.map(fields => matchesFields(selector.value, fields)));
    return { ours: [formatFieldSelector(selector.value), matching], theirs };
  });
  expect(wrong).toEqual([]);
});

test("any value can be asked for once it is escaped", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), value => {
      const selector = certain(parseFieldSelector(`metadata.name=${escapeValue(value)},status.phase!=x`));
      expect(requiredField(selector, "metadata.name")).toBe(value);
      expect(matchesFields(selector, { "metadata.name": value })).toBe(true);
    }),
  );
});

test("a field that must differ is not one that must have a value", () => {
  const selector = certain(parseFieldSelector("status.phase!=Running"));
  expect(requiredField(selector, "status.phase")).toBeUndefined();
});
