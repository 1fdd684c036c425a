import { expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { label1035Errors, labelErrors, labelValueErrors, qualifiedNameErrors, subdomainErrors } from "./name.ts";

type Complaints = string[] | null;
type Case = [
  text: string,
  qualified: Complaints,
  value: Complaints,
  label: Complaints,
  subdomain: Complaints,
  label1035: Complaints,
];
const { cases } = vectors("names") as { cases: Case[] };

test("names are refused as Kubernetes refuses them, in its words", () => {
  expect(cases.length).toBeGreaterThan(70);
  const wrong = differences(cases, ([text, ...theirs]) => ({
    ours: [qualifiedNameErrors, labelValueErrors, labelErrors, subdomainErrors, label1035Errors].map(check =>
      check(text),
    ),
    theirs: theirs.map(complaints => complaints ?? []),
  }));
  expect(wrong).toEqual([]);
});

test.each([
  ["a label value", labelValueErrors, 63],
  ["a namespace", labelErrors, 63],
  ["an object", subdomainErrors, 253],
])("the name of %s may be as long as its limit and no longer", (_, check, max) => {
  expect(check("a".repeat(max))).toEqual([]);
  expect(check("a".repeat(max + 1))).toHaveLength(1);
});

test("length is counted in bytes", () => {
  expect(labelValueErrors("ä".repeat(32))[0]).toBe("must be no more than 63 bytes");
});
