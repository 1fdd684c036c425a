import { describe, expect, test } from "vitest";
import { conditionOf, isTrue, sameConditions, withAwaiting, withCondition, withReady } from "./conditions.ts";

const launched = { type: "Launched", status: "True", reason: "Launched", message: "", since: 1_000 };
const drifted = { type: "Drifted", status: "False", reason: "", message: "", since: 2_000 };

describe("a condition written into a list", () => {
  test("keeps its time while its status stays, whatever its reason says", () => {
    const next = withCondition([launched, drifted], { ...launched, reason: "Adopted", message: "found by its tag" });
    expect(next).toEqual([{ ...launched, reason: "Adopted", message: "found by its tag", since: 1_000 }, drifted]);
  });

  test("has no time once its status changes, so that it is stamped when it is written", () => {
    const [first] = withCondition([launched], { type: "Launched", status: "False", reason: "Gone", message: "" });
    expect(first).toEqual({ type: "Launched", status: "False", reason: "Gone", message: "" });
  });

  test("comes last when it is new, and leaves the others alone", () => {
    const next = withCondition([drifted], { type: "Launched", status: "Unknown", reason: "Held", message: "later" });
    expect(next).toEqual([drifted, { type: "Launched", status: "Unknown", reason: "Held", message: "later" }]);
  });

  test("is the same list again when nothing but times would change", () => {
    expect(sameConditions([launched, drifted], withCondition([launched, drifted], launched))).toBe(true);
    expect(sameConditions([launched], withCondition([launched], { ...launched, message: "more" }))).toBe(false);
    expect(sameConditions([launched], [launched, drifted])).toBe(false);
    expect(sameConditions([drifted], [launched])).toBe(false);
  });
});

describe("looking a condition up", () => {
  test("finds it by type; what is absent is not true", () => {
    expect(conditionOf([launched, drifted], "Drifted")).toBe(drifted);
    expect([isTrue([launched], "Launched"), isTrue([drifted], "Drifted"), isTrue([], "Launched")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("what is missing awaits reconciliation; what is there stays", () => {
    expect(withAwaiting([launched], ["Launched", "Registered"])).toEqual([
      launched,
      { type: "Registered", status: "Unknown", reason: "AwaitingReconciliation", message: "" },
    ]);
  });
});

describe("Ready", () => {
  const part = (type: string, status: string) => ({ type, status, reason: type, message: "" });

  test.each([
    [["True", "True"], "True", "Ready", ""],
    [["True", "Unknown"], "Unknown", "ReconcilingDependents", "B=Unknown"],
    [["False", "Unknown"], "False", "UnhealthyDependents", "A=False, B=Unknown"],
    [["True"], "Unknown", "ReconcilingDependents", "B=Unknown"],
  ])("of parts that are %j is %s, %s", (statuses, status, reason, message) => {
    const list = statuses.map((one, index) => part("AB"[index] ?? "", one));
    const ready = conditionOf(withReady(list, ["A", "B"]), "Ready");
    expect(ready).toEqual({ type: "Ready", status, reason, message });
  });

  test("is False by a doubt, whatever its parts are, with the doubt's own time", () => {
    const doubt = { reason: "NodeNotFound", message: "No node." };
    const ready = { type: "Ready", status: "False", ...doubt };
    for (const parts of [["True", "True"], ["True", "Unknown"], ["False"]]) {
      const list = parts.map((one, index) => part("AB"[index] ?? "", one));
      expect(conditionOf(withReady(list, ["A", "B"], doubt), "Ready")).toEqual(ready);
    }
    const since = 5;
    expect(withReady([{ ...ready, since }], [], doubt)).toEqual([{ ...ready, since }]);
    expect(withReady([{ ...ready, reason: "MultipleNodesFound", since }], [], doubt)).toEqual([ready]);
  });
});
