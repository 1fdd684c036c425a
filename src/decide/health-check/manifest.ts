// The remediation that a step makes of its template for a node: what the medik8s contract says must stand in it, and a
// name that is always the same for the same step and node, so that it is made once however often it is asked for.

import { apiVersionOf, type Manifest } from "../../api/meta.ts";
import { nodeHealthChecks } from "../../api/node-health-check.ts";
import {
  controlPlaneKeys,
  controlPlaneRemediationKey,
  madeUnderKey,
  nodeNameKey,
  partOf,
  remediationKind,
  templateNameKey,
} from "../../api/node-health-check-contract.ts";
import type { CheckView, RemediationView, StepView, TemplateView } from "../../snapshot/check-views.ts";
import { digestOf } from "../../snapshot/project-check.ts";
import type { NodeView } from "../../snapshot/views.ts";

export type RemediationManifest = Manifest & { metadata: { name: string; namespace?: string } };

export function remediationFor(check: CheckView, node: NodeView, template: TemplateView): RemediationManifest {
  const { apiVersion, kind, namespace, body } = template;
  const isControlPlane = isOfControlPlane(node);
  return {
    apiVersion,
    kind: remediationKind(kind),
    metadata: {
      name: remediationName(node.name, template),
      ...(namespace === "" ? {} : { namespace }),
      labels: { [partOf.key]: partOf.value, ...(isControlPlane ? { [controlPlaneRemediationKey]: "" } : {}) },
      annotations: {
        [nodeNameKey]: node.name,
        [templateNameKey]: template.name,
        [madeUnderKey]: check.madeUnder,
      },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(nodeHealthChecks.resource),
          kind: nodeHealthChecks.resource.kind,
          name: check.name,
          uid: check.uid,
          controller: false,
        },
      ],
    },
    spec: { ...body },
  };
}

/** Kubernetes takes names of at most 253 characters. */
const nameMax = 253;

/** The node's own; where one kind is used several times, with the template's mark behind it. */
export function remediationName(nodeName: string, { name, supportsMultiple }: TemplateView): string {
  if (!supportsMultiple) return nodeName;
  const suffix = `-${digestOf(name).slice(0, 8)}`;
  return `${nodeName.slice(0, nameMax - suffix.length)}${suffix}`;
}

/**
 * Whether the remediation was made by this step: it lies where its template does. One that does not say of which template
 * is told by its kind and place alone.
 */
export function isMadeBy({ template }: StepView, remediation: RemediationView): boolean {
  const { namespace } = remediation;
  return (
    remediation.apiVersion === template.apiVersion &&
    remediation.kind === remediationKind(template.kind) &&
    // What is written for a kind that has none means nothing.
    (namespace === "" || namespace === template.namespace) &&
    (remediation.templateName ?? template.name) === template.name
  );
}

export function isOfControlPlane({ labels }: NodeView): boolean {
  return controlPlaneKeys.some(key => labels[key] !== undefined);
}
