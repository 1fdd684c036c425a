// Every kind that Fettle defines, in the order of the documentation.

import type { KindDefinition } from "./kind-definition.ts";
import { parseApiVersion } from "./meta.ts";
import { nodeActions } from "./node-action.ts";
import { nodeClaims } from "./node-claim.ts";
import { nodeHealthChecks } from "./node-health-check.ts";
import { nodePools } from "./node-pool.ts";
import {
  rebootRemediations,
  rebootRemediationTemplates,
  replaceRemediations,
  replaceRemediationTemplates,
} from "./remediation.ts";
import { safetyPolicies } from "./safety-policy.ts";
import { simulatedNodeClasses } from "./simulated-node-class.ts";

export const kinds: readonly KindDefinition[] = [
  nodePools,
  nodeClaims,
  nodeHealthChecks,
  nodeActions,
  safetyPolicies,
  simulatedNodeClasses,
  replaceRemediations,
  replaceRemediationTemplates,
  rebootRemediations,
  rebootRemediationTemplates,
];

/** The definition that serves this apiVersion and kind, if it is one of ours. */
export function kindOf(object: { apiVersion: string; kind: string }): KindDefinition | undefined {
  const { group, version } = parseApiVersion(object.apiVersion);
  return kinds.find(
    ({ resource, versions }) => resource.kind === object.kind && resource.group === group && versions.includes(version),
  );
}
