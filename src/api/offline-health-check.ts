// What only we know about a health check: a selector that cannot be read, and what is legal and does nothing, or not what
// was meant.

import { parseAmount } from "./amount.ts";
import type { NodeHealthCheckSpec, TemplateReference } from "./node-health-check.ts";
import { multipleTemplatesKey, remediationKind } from "./node-health-check-contract.ts";
import { finding, type OfflineFinding } from "./offline-finding.ts";
import { selectorOf } from "./selector.ts";

export function nodeHealthCheckFindings(spec: NodeHealthCheckSpec): OfflineFinding[] {
  const { selector, unhealthyConditions } = spec;
  const findings = selectorFindings(selector, "spec.selector");
  if (Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length === 0) {
    findings.push(
      finding("spec.selector", "selects-all", "without a selector every node is checked, control plane included"),
    );
  }
  if (unhealthyConditions?.length === 0) {
    findings.push(
      finding(
        "spec.unhealthyConditions",
        "without-effect",
        "with an empty list no node is ever unhealthy; leave the field out for the defaults",
      ),
    );
  }
  return [
    ...findings,
    ...unhealthyConditionFindings(unhealthyConditions ?? []),
    ...gateShut(spec),
    ...templateFindings(spec),
    ...sameTemplates(spec),
  ];
}

function unhealthyConditionFindings(
  conditions: NonNullable<NodeHealthCheckSpec["unhealthyConditions"]>,
): OfflineFinding[] {
  return conditions.flatMap(({ status }, index) => {
    if (["True", "False", "Unknown"].includes(status)) return [];
    const path = `spec.unhealthyConditions[${index}].status`;
    return [finding(path, "without-effect", `a condition is True, False or Unknown, so "${status}" is never seen`)];
  });
}

function gateShut({ maxUnhealthy, minHealthy }: NodeHealthCheckSpec): OfflineFinding[] {
  const none = "no node may be unhealthy, so nothing is ever remediated";
  const max = parseAmount(maxUnhealthy);
  // 49% of one node is one; 0% is meant so.
  if (max.ok && ("count" in max.value ? max.value.count : max.value.percent) === 0) {
    return [finding("spec.maxUnhealthy", "without-effect", none)];
  }
  const min = parseAmount(minHealthy);
  if (min.ok && "percent" in min.value && min.value.percent === 100) {
    return [finding("spec.minHealthy", "without-effect", none)];
  }
  return [];
}

type Placed = { readonly path: string; readonly template: TemplateReference };

function templatesOf({ remediationTemplate, escalatingRemediations = [] }: NodeHealthCheckSpec): readonly Placed[] {
  const steps = escalatingRemediations.map(({ remediationTemplate: template }, index) => ({
    path: `spec.escalatingRemediations[${index}].remediationTemplate`,
    template,
  }));
  return remediationTemplate === undefined
    ? steps
    : [{ path: "spec.remediationTemplate", template: remediationTemplate }, ...steps];
}

function templateFindings(spec: NodeHealthCheckSpec): OfflineFinding[] {
  return templatesOf(spec).flatMap(({ path, template: { apiVersion, kind } }) => [
    ...(/^[^/]+\/[^/]+$/.test(apiVersion)
      ? []
      : [finding(`${path}.apiVersion`, "without-effect", `no template has "${apiVersion}": write group/version`)]),
    ...(remediationKind(kind) === ""
      ? [finding(`${path}.kind`, "without-effect", "nothing is left of the kind without Template")]
      : []),
  ]);
}

/** Which template a remediation is of is told by kind, namespace and name: the second use would find the first one's. */
function sameTemplates(spec: NodeHealthCheckSpec): OfflineFinding[] {
  const templates = templatesOf(spec);
  return templates.flatMap(({ path, template }, index) => {
    const ofKind = templates
      .slice(0, index)
      .filter(({ template: { apiVersion, kind } }) => apiVersion === template.apiVersion && kind === template.kind);
    if (ofKind.length === 0) return [];
    const { name, namespace = "" } = template;
    const isSame = ofKind.some(one => one.template.name === name && (one.template.namespace ?? "") === namespace);
    if (isSame) return [finding(path, "template-twice", `${template.kind} ${name} is used by a step before`)];
    const message = `a second template of the kind ${template.kind}: each of them must say ${multipleTemplatesKey}`;
    return [finding(path, "kind-twice", message)];
  });
}

export function selectorFindings(selector: NodeHealthCheckSpec["selector"], path: string): OfflineFinding[] {
  const parsed = selectorOf(selector ?? {});
  return parsed.ok ? [] : [finding(path, "bad-selector", parsed.error)];
}
