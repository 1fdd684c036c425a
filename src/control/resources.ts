// Where the built-in kinds that the shell reads and writes are served.

import type { Resource } from "../api/meta.ts";

export const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
export const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
export const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };
export const volumeClaims: Resource = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
};
export const disruptionBudgets: Resource = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
};
export const attachments: Resource = {
  group: "storage.k8s.io",
  version: "v1",
  plural: "volumeattachments",
  kind: "VolumeAttachment",
  namespaced: false,
};
export const leases: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};
