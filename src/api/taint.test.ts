import { describe, expect, test } from "vitest";
import { bits, differences, vectors } from "../../test/vectors/read.ts";
import { formatTaint, isSameTaint, type Taint, tolerates, type Toleration, untoleratedTaint } from "./taint.ts";

type Case = [toleration: Toleration, tolerated: number, withComparison: number];
const kubernetes = vectors("tolerations") as { taints: Taint[]; cases: Case[] };

test("tolerations agree with Kubernetes, with and without the comparing operators", () => {
  expect(kubernetes.cases.length).toBeGreaterThan(800);
  const wrong = differences(kubernetes.cases, ([toleration, ...theirs]) => ({
    ours: [false, true].map(comparison =>
      bits(kubernetes.taints.map(taint => tolerates(toleration, taint, { comparison }))),
    ),
    theirs,
  }));
  expect(wrong).toEqual([]);
});

test("without the gate, a toleration that compares tolerates nothing", () => {
  const taint: Taint = { key: "k", value: "5", effect: "NoSchedule" };
  expect(tolerates({ key: "k", operator: "Lt", value: "6" }, taint)).toBe(false);
  expect(tolerates({ key: "k", operator: "Lt", value: "6" }, taint, { comparison: true })).toBe(true);
});

describe("the first taint that nobody tolerates", () => {
  const taints: Taint[] = [
    { key: "a", effect: "NoSchedule" },
    { key: "b", effect: "PreferNoSchedule" },
    { key: "c", effect: "NoExecute" },
  ];

  test("is found in the order of the taints", () => {
    expect(untoleratedTaint(taints, [])?.key).toBe("a");
    expect(untoleratedTaint(taints, [{ key: "a", operator: "Exists" }])?.key).toBe("b");
  });

  test("is none if each is tolerated by one", () => {
    expect(untoleratedTaint(taints, [{ operator: "Exists" }])).toBeUndefined();
    expect(untoleratedTaint([], [])).toBeUndefined();
  });

  test("is looked for only among those that count", () => {
    const counts = (taint: Taint) => taint.effect === "NoExecute";
    expect(untoleratedTaint(taints, [], { counts })?.key).toBe("c");
    expect(untoleratedTaint(taints, [{ key: "c", operator: "Exists" }], { counts })).toBeUndefined();
  });
});

test("a node holds one taint for a key and an effect, whatever the value", () => {
  const taint: Taint = { key: "a", value: "x", effect: "NoSchedule" };
  expect(isSameTaint(taint, { ...taint, value: "y" })).toBe(true);
  expect(isSameTaint(taint, { ...taint, effect: "NoExecute" })).toBe(false);
});

test.each<[Taint, string]>([
  [{ key: "a", effect: "NoSchedule" }, "a:NoSchedule"],
  [{ key: "a", value: "b", effect: "NoExecute" }, "a=b:NoExecute"],
])("%j is written %s", (taint, text) => {
  expect(formatTaint(taint)).toBe(text);
});
