// Volumes are detached before the machine goes, or its time is up.

import { describe, expect, test } from "vitest";
import { aCondition, anAttachment, aPod, at, type WorldOptions } from "../../test/builders.ts";
import { decided, leavingClaim, withConditions } from "../../test/termination-world.ts";
import type { Decision } from "./decision.ts";

const now = at("11m");
const drained = withConditions(leavingClaim(), aCondition("Drained", "True"));

function on(world: WorldOptions = {}): Decision {
  return decided(now, { claims: [drained], ...world });
}

function volumesDetached({ commands }: Decision) {
  const update = commands.find(({ kind }) => kind === "update-claim");
  const conditions = update?.kind === "update-claim" ? update.status?.conditions : undefined;
  const found = conditions?.find(({ type }) => type === "VolumesDetached");
  return found && `${found.status} ${found.reason}`;
}

const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);

describe("volumes", () => {
  test("none: at once", () => {
    expect(volumesDetached(on())).toBe("True VolumesDetached");
  });

  test("that are attached are waited for, each by name", () => {
    const attachments = [anAttachment("v1", { on: "a" }), anAttachment("v2", { on: "a" })];
    const decision = on({ attachments });
    expect(volumesDetached(decision)).toBe("Unknown AwaitingVolumeDetachment");
    expect(decision.refusals).toMatchObject([
      { code: "volume-attached", message: expect.stringContaining("v1") },
      { code: "volume-attached", message: expect.stringContaining("v2") },
    ]);
    expect(decision.wakeAt).toBeUndefined();
    expect(decision.notices).toMatchObject([{ about: { kind: "Node" }, reason: "AwaitingVolumeDetachment" }]);
    expect(decision.commands.map(({ kind }) => kind)).not.toContain("delete-instance");
  });

  test("on another node are not", () => {
    expect(volumesDetached(on({ attachments: [anAttachment("v", { on: "b" })] }))).toBe("True VolumesDetached");
  });

  test("that are no PersistentVolumes are waited for too", () => {
    const { volume: _, ...inline } = anAttachment("inline", { on: "a" });
    const decision = on({ attachments: [inline] });
    expect(decision.refusals[0]?.message).toContain("VolumeAttachment inline is still attached");
  });

  test.each([
    ["tolerates the taint", { toleratesDisruption: true }, []],
    ["is static", { isStatic: true }, []],
    ["is stuck", { deletionAt: at("10m") }, []],
    ["is over", { phase: "Succeeded" }, ["volume-attached"]],
  ] as const)("of a pod that %s", (_what, options, expected) => {
    const decision = on({
      pods: [aPod("p", { on: "a", volumeClaims: ["data"], ...options })],
      volumeClaims: [{ namespace: "default", name: "data", volume: "v" }],
      attachments: [anAttachment("att", { on: "a", volume: "v" })],
    });
    expect(codes(decision).filter(code => code === "volume-attached")).toEqual(expected);
  });

  test.each([
    { when: at("12m") - 1, condition: "Unknown AwaitingVolumeDetachment", code: "volume-attached" },
    { when: at("12m"), condition: "False TerminationGracePeriodElapsed", code: "instance-terminating" },
    { when: at("12m") + 1, condition: "False TerminationGracePeriodElapsed", code: "instance-terminating" },
  ])("until the node's time is up: $when", ({ when, condition, code }) => {
    const claims = [withConditions(leavingClaim({ terminationAt: at("12m") }), aCondition("Drained", "True"))];
    const decision = decided(when, { claims, attachments: [anAttachment("v", { on: "a" })] });
    expect(volumesDetached(decision)).toBe(condition);
    expect(codes(decision)).toEqual([code]);
    if (code === "volume-attached") expect(decision.wakeAt).toBe(at("12m"));
  });
});
