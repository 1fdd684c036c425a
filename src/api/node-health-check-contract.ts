// The words between a health check and whoever remediates: medik8s' where it has them, ours under fettle.dev.

/** On a remediation: the node that it is for. Absent, its name is the node's. */
export const nodeNameKey = "remediation.medik8s.io/node-name";
/** On a remediation: the template that it was made from. */
export const templateNameKey = "remediation.medik8s.io/template-name";
/** On a remediation: when its time was up. Whoever carries it out should stop. */
export const timedOutKey = "remediation.medik8s.io/nhc-timed-out";
/** On a remediation: since when the node has been seen healthy again, while healthyDelay runs. */
export const healthySinceKey = "remediation.medik8s.io/healthy-delay";
/** On a remediation: under which selector and templates it was made, so that an edit while it runs is noticed. */
export const madeUnderKey = "fettle.dev/made-under";
/** On a template, with any value: one check may use several of its kind. */
export const multipleTemplatesKey = "remediation.medik8s.io/multiple-templates-support";
/** On a node, with any value: somebody has seen that it is healthy. */
export const confirmedHealthyKey = "remediation.medik8s.io/manually-confirmed-healthy";
/** On a node, as a label, "true": it is counted and never remediated. */
export const excludedKey = "remediation.medik8s.io/exclude-from-remediation";

/** On a remediation, as a label: its node is one of the control plane. */
export const controlPlaneRemediationKey = "remediation.medik8s.io/isControlPlaneNode";
export const partOf = { key: "app.kubernetes.io/part-of", value: "node-healthcheck-controller" } as const;

/** Labels of nodes. */
export const controlPlaneKeys = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"] as const;
export const workerKey = "node-role.kubernetes.io/worker";

/** On an OpenShift node: the configuration it has, and the one it shall have. */
export const currentConfigKey = "machineconfiguration.openshift.io/currentConfig";
export const desiredConfigKey = "machineconfiguration.openshift.io/desiredConfig";

/** Where the leases lie by which those who work on a node keep out of one another's way. */
export const nodeLeaseNamespace = "medik8s-leases";
const nodeLeasePrefix = "node-";
const holderPrefix = "NodeHealthCheck-";

export function nodeLeaseName(nodeName: string): string {
  return `${nodeLeasePrefix}${nodeName}`;
}

export function nodeOfLease(leaseName: string): string | undefined {
  return leaseName.startsWith(nodeLeasePrefix) ? leaseName.slice(nodeLeasePrefix.length) : undefined;
}

/** As medik8s' own controller signs, so that each knows the other's leases. */
export function leaseHolder(checkName: string): string {
  return `${holderPrefix}${checkName}`;
}

/** Undefined: somebody else's. */
export function checkOfHolder(holder: string): string | undefined {
  return holder.startsWith(holderPrefix) ? holder.slice(holderPrefix.length) : undefined;
}

/** PoisonPillRemediationTemplate → PoisonPillRemediation. */
export function remediationKind(templateKind: string): string {
  return templateKind.replace(/Template$/, "");
}
