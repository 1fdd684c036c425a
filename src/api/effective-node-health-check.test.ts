import { expect, test } from "vitest";
import { effectiveNodeHealthCheck } from "./effective-node-health-check.ts";

const template = { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: "default" };

test("seed 003: a check that names only its template has the seed's defaults", () => {
  expect(effectiveNodeHealthCheck({ remediationTemplate: template })).toEqual({
    unhealthyConditions: [
      { type: "Ready", status: "False", duration: "300s" },
      { type: "Ready", status: "Unknown", duration: "300s" },
    ],
    limit: { maxUnhealthy: "49%" },
    remediations: [{ template, order: 0 }],
    pauseRequests: [],
    healthyDelay: "0s",
    stormCooldownDuration: "0s",
    dryRun: false,
  });
});

test("minHealthy takes the place of the default maxUnhealthy; numbers are texts", () => {
  expect(effectiveNodeHealthCheck({ minHealthy: "51%" }).limit).toEqual({ minHealthy: "51%" });
  expect(effectiveNodeHealthCheck({ maxUnhealthy: 2 }).limit).toEqual({ maxUnhealthy: "2" });
});

test("an explicit empty list of conditions stays empty", () => {
  expect(effectiveNodeHealthCheck({ unhealthyConditions: [] }).unhealthyConditions).toEqual([]);
});

test("escalations run in their order, whatever the order of the list", () => {
  const step = (order: number) => ({
    remediationTemplate: { ...template, name: `step-${order}` },
    order,
    timeout: "5m",
  });
  const { remediations } = effectiveNodeHealthCheck({ escalatingRemediations: [step(7), step(-1), step(3)] });
  expect(remediations.map(({ order, template }) => [order, template.name])).toEqual([
    [-1, "step--1"],
    [3, "step-3"],
    [7, "step-7"],
  ]);
});
