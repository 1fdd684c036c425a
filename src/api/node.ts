// Nodes as scheduling sees them. The shape only; objects with more fields are assignable.

import type { ResourceList } from "./pod.ts";
import type { Labels } from "./selector.ts";
import type { Taint } from "./taint.ts";

export type Node = {
  metadata: { name: string; uid?: string; creationTimestamp?: string; labels?: Labels };
  spec?: { unschedulable?: boolean; taints?: readonly Taint[] };
  status?: { allocatable?: ResourceList; capacity?: ResourceList };
};

export const hostnameKey = "kubernetes.io/hostname";
export const zoneKey = "topology.kubernetes.io/zone";
export const regionKey = "topology.kubernetes.io/region";
export const instanceTypeKey = "node.kubernetes.io/instance-type";
export const capacityTypeKey = "karpenter.sh/capacity-type";
export const nodePoolKey = "karpenter.sh/nodepool";
