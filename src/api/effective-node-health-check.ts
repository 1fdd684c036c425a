// What a NodeHealthCheck means: its limit, and its remediations as one list in order.

import { nodeHealthCheckDefaults as defaults } from "./effective-defaults.ts";
import { defaultedSpec } from "./kind-definition.ts";
import {
  nodeHealthChecks,
  type NodeHealthCheckSpec,
  type TemplateReference,
  type UnhealthyCondition,
} from "./node-health-check.ts";

export type EffectiveRemediation = {
  template: TemplateReference;
  order: number;
  /** Absent: none is written, since it is the only one. */
  timeout?: string;
};

export type EffectiveNodeHealthCheck = {
  /** Absent or empty: all nodes. */
  selector?: NonNullable<NodeHealthCheckSpec["selector"]>;
  unhealthyConditions: readonly UnhealthyCondition[];
  /** Amounts of the selected nodes: maxUnhealthy is rounded down but not below 1, minHealthy up. */
  limit: { maxUnhealthy: string } | { minHealthy: string };
  remediations: readonly EffectiveRemediation[];
  pauseRequests: readonly string[];
  /** Negative: until somebody confirms it. */
  healthyDelay: string;
  stormCooldownDuration: string;
  dryRun: boolean;
};

export function effectiveNodeHealthCheck(written: NodeHealthCheckSpec): EffectiveNodeHealthCheck {
  const spec = defaultedSpec(nodeHealthChecks, written);
  return {
    ...(spec.selector ? { selector: spec.selector } : {}),
    unhealthyConditions: spec.unhealthyConditions ?? [],
    limit: limit(spec),
    remediations: remediations(spec),
    pauseRequests: spec.pauseRequests ?? [],
    healthyDelay: spec.healthyDelay ?? defaults["spec.healthyDelay"],
    stormCooldownDuration: spec.stormCooldownDuration ?? defaults["spec.stormCooldownDuration"],
    dryRun: spec.dryRun ?? defaults["spec.dryRun"],
  };
}

function limit({ minHealthy, maxUnhealthy }: NodeHealthCheckSpec): EffectiveNodeHealthCheck["limit"] {
  if (minHealthy !== undefined) return { minHealthy: String(minHealthy) };
  return { maxUnhealthy: String(maxUnhealthy ?? defaults["spec.maxUnhealthy"]) };
}

function remediations({
  remediationTemplate,
  escalatingRemediations = [],
}: NodeHealthCheckSpec): EffectiveRemediation[] {
  if (remediationTemplate) return [{ template: remediationTemplate, order: 0 }];
  return escalatingRemediations
    .map(({ remediationTemplate: template, order, timeout }) => ({ template, order, timeout }))
    .sort((a, b) => a.order - b.order);
}
