import { describe, expect, test } from "vitest";
import { nodeHealthChecks, type NodeHealthCheckSpec } from "./node-health-check.ts";
import { validate } from "./schema/validate.ts";

const template = { apiVersion: "fence.example.org/v1", kind: "FenceRemediationTemplate", name: "fence" };
const step = { remediationTemplate: template, order: 1, timeout: "5m" };
const check = (spec: NodeHealthCheckSpec) => ({ metadata: { name: "web" }, spec });

function refusals(spec: NodeHealthCheckSpec, old?: NodeHealthCheckSpec): string[] {
  const options = old === undefined ? {} : { old: check(old) };
  return validate(check(spec), nodeHealthChecks.schema, options).map(({ message }) => message);
}

/** Stored while the rules were others: by medik8s' definition, say, which has none. */
describe("a check that a rule of today refuses can be paused all the same", () => {
  const machines = { ...template, kind: "MachineDeletionRemediationTemplate" };
  test.each<[string, NodeHealthCheckSpec]>([
    ["with both limits", { minHealthy: 1, maxUnhealthy: 2, remediationTemplate: template }],
    ["without a template", {}],
    ["with both kinds of templates", { remediationTemplate: template, escalatingRemediations: [step] }],
    ["that may delete machines by maxUnhealthy", { maxUnhealthy: 2, remediationTemplate: machines }],
    [
      "that may delete machines by maxUnhealthy in a step",
      { maxUnhealthy: 2, escalatingRemediations: [{ ...step, remediationTemplate: machines }] },
    ],
    ["with a step of a few seconds", { escalatingRemediations: [{ ...step, timeout: "5s" }] }],
    ["with a template of no such kind", { remediationTemplate: { ...template, kind: "Fence" } }],
    ["with two steps of one order", { escalatingRemediations: [step, step] }],
  ])("%s", (_what, spec) => {
    expect(refusals(spec)).not.toEqual([]);
    expect(refusals({ ...spec, pauseRequests: ["me"] }, spec)).toEqual([]);
  });

  test("and one that they take cannot be made so", () => {
    const well = { maxUnhealthy: 2, remediationTemplate: template };
    expect(refusals({ ...well, minHealthy: 1 }, well)).toHaveLength(1);
    expect(refusals({ ...well, escalatingRemediations: [step] }, well)).toHaveLength(1);
    expect(refusals({ ...well, remediationTemplate: machines }, well)).toHaveLength(1);
    const byMin = { minHealthy: 2, remediationTemplate: machines };
    expect(refusals({ maxUnhealthy: 2, remediationTemplate: machines }, byMin)).toHaveLength(1);
  });
});
