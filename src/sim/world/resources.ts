// Where the kinds are served that the living box works on.

import type { Resource } from "../../api/meta.ts";

const core = (plural: string, kind: string, namespaced = true): Resource => {
  return { group: "", version: "v1", plural, kind, namespaced };
};
const inGroup = (group: string, plural: string, kind: string): Resource => {
  return { group, version: "v1", plural, kind, namespaced: true };
};

export const podResource = core("pods", "Pod");
export const nodeResource = core("nodes", "Node", false);
export const namespaceResource = core("namespaces", "Namespace", false);
export const eventResource = core("events", "Event");
export const claimResource = core("persistentvolumeclaims", "PersistentVolumeClaim");
export const leaseResource = inGroup("coordination.k8s.io", "leases", "Lease");
export const replicaSetResource = inGroup("apps", "replicasets", "ReplicaSet");
export const deploymentResource = inGroup("apps", "deployments", "Deployment");
export const daemonSetResource = inGroup("apps", "daemonsets", "DaemonSet");
export const statefulSetResource = inGroup("apps", "statefulsets", "StatefulSet");
export const jobResource = inGroup("batch", "jobs", "Job");
