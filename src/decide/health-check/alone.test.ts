import { describe, expect, test } from "vitest";
import { aCondition, at } from "../../../test/builders.ts";
import { aLease, aRemediation, commandsOf, decideOn as decide, running, web } from "../../../test/check-builders.ts";
import type { Instant } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import type { Decision } from "../decision.ts";

describe("the only step of a check", () => {
  const alone = (more: Partial<RemediationView>, now: Instant) =>
    decide({
      actions: [running(web)],
      leases: [aLease("n0", { renewedAt: now })],
      remediations: [aRemediation({ of: web, on: "n0", createdAt: at("30m"), ...more })],
      now,
    });
  const phases = ({ commands }: Decision) =>
    commands.flatMap(command => (command.kind === "update-action" ? (command.progress?.phase ?? []) : []));

  test.each([
    { now: at("60m") - 1, stamped: 0, wakeAt: at("60m") },
    { now: at("60m"), stamped: 1, wakeAt: undefined },
  ])("has half an hour where nobody says anything, as in medik8s: $now", ({ now, stamped, wakeAt }) => {
    const found = alone({}, now);
    expect(commandsOf(found, "annotate-remediation")).toHaveLength(stamped);
    if (wakeAt !== undefined) expect(Math.min(found.wakeAt ?? 0, wakeAt)).toBe(found.wakeAt);
    expect(phases(found)).toEqual(stamped === 0 ? [] : ["Failed"]);
  });

  test("is not stamped once it has succeeded, and keeps its place no longer all the same", () => {
    const found = alone({ succeeded: aCondition("Succeeded", "True") }, at("60m"));
    expect(commandsOf(found, "annotate-remediation")).toEqual([]);
    expect(phases(found)).toEqual(["Failed"]);
  });

  test("of ours has all the time it wants, and half an hour if it has succeeded and the node fails again", () => {
    const own = { spec: {}, status: {}, conditions: [] };
    expect(phases(alone({ own }, at("24h")))).not.toContain("Failed");
    const succeeded = aCondition("Succeeded", "True");
    expect(phases(alone({ own, succeeded }, at("60m") - 1))).not.toContain("Failed");
    expect(phases(alone({ own, succeeded }, at("60m")))).toEqual(["Failed"]);
  });
});
