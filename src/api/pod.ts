// Pods as scheduling sees them: what they ask of a node and of one another. The shape only; every field that no rule of
// scheduling reads is left out, and objects with more fields are assignable.

import type { NodeSelector, NodeSelectorTerm } from "./node-selector.ts";
import type { OwnerReference } from "./meta.ts";
import type { LabelSelector, Labels } from "./selector.ts";
import type { Toleration } from "./taint.ts";

/** Quantities as texts, by resource name. */
export type ResourceList = Readonly<Record<string, string>>;

export type ResourceRequirements = { requests?: ResourceList; limits?: ResourceList };

export type ContainerPort = { containerPort: number; hostPort?: number; hostIP?: string; protocol?: string };

export type Container = {
  name: string;
  resources?: ResourceRequirements;
  ports?: readonly ContainerPort[];
  /** `Always` on an init container makes it a sidecar: it keeps running, and its requests count with the others. */
  restartPolicy?: string;
};

export type PodAffinityTerm = {
  topologyKey: string;
  /** Absent matches no pod, empty matches every one. */
  labelSelector?: LabelSelector;
  /** With no selector of namespaces either: the pod's own. */
  namespaces?: readonly string[];
  /** Empty means all namespaces; absent adds none. */
  namespaceSelector?: LabelSelector;
  matchLabelKeys?: readonly string[];
  mismatchLabelKeys?: readonly string[];
};

export type WeightedPodAffinityTerm = { weight: number; podAffinityTerm: PodAffinityTerm };

export type PodAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
};

export type PreferredSchedulingTerm = { weight: number; preference: NodeSelectorTerm };

export type NodeAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
};

export type Affinity = { nodeAffinity?: NodeAffinity; podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity };

export type TopologySpreadConstraint = {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  /** Absent matches no pod. */
  labelSelector?: LabelSelector;
  /** Default 1. */
  minDomains?: number;
  /** Default Honor. */
  nodeAffinityPolicy?: "Honor" | "Ignore";
  /** Default Ignore. */
  nodeTaintsPolicy?: "Honor" | "Ignore";
  matchLabelKeys?: readonly string[];
};

/** Only volumes that a node's place or its attach limit can matter for. */
export type Volume = {
  name: string;
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  /** Its claim is called `<pod>-<volume>`. */
  ephemeral?: { volumeClaimTemplate?: { spec?: { storageClassName?: string } } };
};

export type PodSpec = {
  containers: readonly Container[];
  initContainers?: readonly Container[];
  overhead?: ResourceList;
  /** Requests of the pod as a whole; where given they stand for cpu, memory and huge pages of its containers. */
  resources?: ResourceRequirements;
  nodeName?: string;
  nodeSelector?: Labels;
  affinity?: Affinity;
  tolerations?: readonly Toleration[];
  topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  volumes?: readonly Volume[];
  /** Devices that are allocated to it (DRA). */
  resourceClaims?: readonly { name: string }[];
};

export type ContainerStatus = {
  name: string;
  /** What the kubelet has set aside; after a resize it may differ from the spec. */
  allocatedResources?: ResourceList;
  resources?: ResourceRequirements;
};

export type PodStatus = {
  phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  containerStatuses?: readonly ContainerStatus[];
  initContainerStatuses?: readonly ContainerStatus[];
};

export type Pod = {
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Labels;
    ownerReferences?: readonly OwnerReference[];
  };
  spec: PodSpec;
  status?: PodStatus;
};

/** Namespace and name: what a placement and a reason call a pod by. */
export function podKey({ metadata }: Pod): string {
  return `${metadata.namespace ?? "default"}/${metadata.name}`;
}
