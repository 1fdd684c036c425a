import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import { nodeFaults, podBehaviour } from "./simulated-faults.ts";

const annotated = (word: string) =>
  ({ metadata: { annotations: { "fettle.dev/simulate": word } } }) as unknown as KubeObject;

describe("what an annotation makes of a node", () => {
  test.each([
    ["", false, false, []],
    ["Ready=False", false, false, [["Ready", "False"]]],
    ["Ready=Unknown", true, false, []],
    ["silent", true, false, []],
    [" stuck , KernelDeadlock = True ", false, true, [["KernelDeadlock", "True"]]],
    ["Ready=maybe, nonsense, =True=", false, false, [["", "True"]].slice(1)],
  ])("%j", (word, isSilent, isStuck, statuses) => {
    const faults = nodeFaults(annotated(word));
    expect([faults.isSilent, faults.isStuck, [...faults.statusByCondition]]).toEqual([isSilent, isStuck, statuses]);
  });
});

describe("what an annotation makes of a pod", () => {
  test.each([
    ["", {}],
    ["start=30s, ready=Never, stop=10m", { startMs: 30_000, readyMs: Number.POSITIVE_INFINITY, stopMs: 600_000 }],
    ["succeed=5s", { end: { afterMs: 5000, exitCode: 0 } }],
    ["fail=0s", { end: { afterMs: 0, exitCode: 1 } }],
    ["start=soon, stop=-3s", { stopMs: 0 }],
  ])("%j", (word, expected) => {
    expect(podBehaviour(annotated(word))).toEqual(expected);
  });
});
