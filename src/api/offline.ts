// What no API server refuses and we still know: texts that a pattern cannot judge, and policies that are legal but mean
// something else than their author thinks. The command line shows it before, the controller as a condition after.

import { kinds } from "./kinds.ts";
import type { NodeClaimSpec } from "./node-claim.ts";
import type { NodeHealthCheckSpec } from "./node-health-check.ts";
import type { NodePoolSpec } from "./node-pool.ts";
import { finding, type OfflineFinding } from "./offline-finding.ts";
import { nodeHealthCheckFindings, selectorFindings } from "./offline-health-check.ts";
import { nodeClaimFindings, nodePoolFindings } from "./offline-node-pool.ts";
import { badTexts } from "./offline-texts.ts";
import { clusterUpgradeAnnotation, type SafetyPolicySpec } from "./safety-policy.ts";
import { parseTime } from "./time.ts";

export type { OfflineFinding } from "./offline-finding.ts";

/** `object` must have passed validation by its schema. */
export function offlineFindings(kind: string, object: Readonly<Record<string, unknown>>): OfflineFinding[] {
  const definition = kinds.find(({ resource }) => resource.kind === kind);
  const spec = object["spec"];
  if (definition === undefined || spec === undefined) return [];
  return [...badTexts(object, definition.schema), ...findingsOf(kind, spec, object)];
}

function findingsOf(kind: string, spec: unknown, object: Readonly<Record<string, unknown>>): OfflineFinding[] {
  switch (kind) {
    case "NodePool":
      return nodePoolFindings(spec as NodePoolSpec);
    case "NodeClaim":
      return nodeClaimFindings(spec as NodeClaimSpec);
    case "NodeHealthCheck":
      return nodeHealthCheckFindings(spec as NodeHealthCheckSpec);
    case "SafetyPolicy":
      return safetyPolicyFindings(spec as SafetyPolicySpec, annotationsOf(object));
    default:
      return [];
  }
}

function annotationsOf(object: Readonly<Record<string, unknown>>): Record<string, string> {
  return (object["metadata"] as { annotations?: Record<string, string> } | undefined)?.annotations ?? {};
}

function safetyPolicyFindings(spec: SafetyPolicySpec, annotations: Record<string, string>): OfflineFinding[] {
  const findings = selectorFindings(spec.untouchable, "spec.untouchable");
  const deadline = annotations[clusterUpgradeAnnotation];
  if (deadline !== undefined && !parseTime(deadline).ok) {
    const path = `metadata.annotations.${clusterUpgradeAnnotation}`;
    findings.push(finding(path, "bad-deadline", `"${deadline}" is no time; write it as 2006-01-02T15:04:05Z`));
  }
  return findings;
}
