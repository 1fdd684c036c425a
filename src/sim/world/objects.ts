// The objects of the living box, in the fields that its controllers read and write.

import type { KubeObject, OwnerReference } from "../../api/meta.ts";
import type { Container as ScheduledContainer, PodSpec as ScheduledPodSpec } from "../../api/pod.ts";
import type { LabelSelector } from "../../api/selector.ts";
import type { Taint } from "../../api/taint.ts";

export type Condition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastHeartbeatTime?: string | null;
  lastUpdateTime?: string | null;
  lastTransitionTime?: string | null;
  observedGeneration?: number;
};

export type Container = ScheduledContainer & {
  image?: string;
  readinessProbe?: { initialDelaySeconds?: number; periodSeconds?: number };
};

export type PodSpec = Omit<ScheduledPodSpec, "containers" | "initContainers"> & {
  containers: readonly Container[];
  initContainers?: readonly Container[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  schedulerName?: string;
  schedulingGates?: readonly unknown[];
  readinessGates?: readonly { conditionType: string }[];
  priority?: number;
  hostNetwork?: boolean;
};

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export type PodStatus = {
  phase?: Phase;
  conditions?: Condition[];
  startTime?: string;
  nominatedNodeName?: string;
};

export type Pod = KubeObject & { spec: PodSpec; status: PodStatus };

export type Node = KubeObject & {
  spec: { providerID?: string; unschedulable?: boolean; taints?: Taint[] };
  status: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
  };
};

export type Lease = KubeObject & {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
};

export type PodTemplate = {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
};

type WorkloadSpec = {
  selector: LabelSelector;
  template: PodTemplate;
  minReadySeconds?: number;
};

export type ReplicaSet = KubeObject & {
  spec: WorkloadSpec & { replicas?: number };
  status: {
    replicas: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    terminatingReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
};

export type DeploymentStatus = {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  collisionCount?: number;
  conditions?: Condition[];
};

export type Deployment = KubeObject & {
  spec: WorkloadSpec & {
    replicas?: number;
    paused?: boolean;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    strategy: {
      type?: string;
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
    };
  };
  status: DeploymentStatus;
};

export type DaemonSet = KubeObject & {
  spec: WorkloadSpec & {
    updateStrategy: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
  };
  status: Record<string, number | undefined>;
};

export type StatefulSet = KubeObject & {
  spec: WorkloadSpec & {
    replicas?: number;
    serviceName?: string;
    podManagementPolicy?: string;
    ordinals?: { start?: number };
    updateStrategy: { type?: string; rollingUpdate?: { partition?: number } };
    volumeClaimTemplates?: (KubeObject & { spec: Record<string, unknown> })[];
  };
  status: Record<string, unknown> & { currentRevision?: string; updateRevision?: string };
};

export type JobStatus = {
  active?: number;
  ready?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  startTime?: string;
  completionTime?: string;
  uncountedTerminatedPods?: Record<string, never>;
  conditions?: Condition[];
};

export type Job = KubeObject & {
  spec: WorkloadSpec & {
    completions?: number;
    parallelism?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    suspend?: boolean;
    completionMode?: string;
    managedBy?: string;
  };
  status: JobStatus;
};

/** "namespace/name", or the name alone of what lies in no namespace. */
export function keyOf({ metadata }: { metadata: { name: string; namespace?: string } }): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  // A loop: asked by every controller of workloads for every change of a pod.
  for (const owner of metadata.ownerReferences ?? []) if (owner.controller === true) return owner;
  return undefined;
}

export function ownedBy(owner: KubeObject): { ownerReferences: OwnerReference[] } {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }] };
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasEnded({ status }: Pod): boolean {
  return status.phase === "Succeeded" || status.phase === "Failed";
}

/** Still wanted to run: neither ended nor on its way out. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && !isDeleting(pod);
}
