import { describe, expect, test } from "vitest";
import { nearest } from "./nearest.ts";

describe("the word a person most likely meant", () => {
  const known = ["consolidateAfter", "consolidationPolicy", "budgets", "windows", "nodes", "schedule"];
  test.each([
    ["budget", "budgets"],
    ["Budgets", "budgets"],
    ["bugdets", "budgets"],
    ["consolidateafter", "consolidateAfter"],
    ["consolidationPolice", "consolidationPolicy"],
    ["node", "nodes"],
    ["shedule", "schedule"],
  ])("%s → %s", (typed, meant) => expect(nearest(typed, known)).toBe(meant));

  test.each(["replicas", "x", "", "budgetPrecedenceMode"])("nothing is close to %j", typed =>
    expect(nearest(typed, known)).toBeUndefined(),
  );

  test("of two equally close words the first known one is taken", () => {
    expect(nearest("cat", ["bat", "rat"])).toBe("bat");
  });
});
