// The question that packing answers: given these nodes, pools and pods, where does each pod go, and which new nodes are
// needed? Plain data in the shapes of the API; nothing in it is ever changed.

import type { InstanceType } from "../../api/instance-type.ts";
import type { Node } from "../../api/node.ts";
import type { NodeRequirement } from "../../api/node-selector.ts";
import type { Pod, ResourceList } from "../../api/pod.ts";
import type { Labels } from "../../api/selector.ts";
import type { CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/storage.ts";
import type { Taint } from "../../api/taint.ts";

/** A requirement of a pool: so many different values must stay possible for a new node. */
export type PoolRequirement = NodeRequirement & { minValues?: number };

export type ExistingNode = {
  node: Node;
  /** Nodes that are ready for pods are filled before those that are not. Default true. */
  initialized?: boolean;
  /** Taints that are going to be taken off by themselves (startup, not ready): they keep no pod away. */
  passingTaints?: readonly Taint[];
};

/** A claim whose node has not registered: what is still possible for it. */
export type UpcomingNode = {
  name: string;
  pool: string;
  labels?: Labels;
  taints?: readonly Taint[];
  requirements: readonly NodeRequirement[];
  /** Those that it may still become; one once it is launched. */
  instanceTypes: readonly InstanceType[];
  /** Placed there by an earlier answer, and not yet bound. */
  pods: readonly Pod[];
};

export type Pool = {
  name: string;
  /** The heaviest is tried first. Default 0. */
  weight?: number;
  labels?: Labels;
  taints?: readonly Taint[];
  /** They keep no pod away. */
  startupTaints?: readonly Taint[];
  requirements: readonly PoolRequirement[];
  instanceTypes: readonly InstanceType[];
  /** Quantities by resource; `nodes` counts nodes. */
  limits?: ResourceList;
  /** What of the limits is in use, nodes on their way included. */
  usage?: ResourceList;
};

export type Namespace = { metadata: { name: string; labels?: Labels } };

export type Problem = {
  nodes: readonly ExistingNode[];
  upcoming: readonly UpcomingNode[];
  pools: readonly Pool[];
  /** One pod for each DaemonSet, as its template makes it. */
  daemons: readonly Pod[];
  /** Pods on nodes, by spec.nodeName. Those that have ended, or whose node is not among `nodes`, count for nothing. */
  bound: readonly Pod[];
  /** Pods to place. */
  pods: readonly Pod[];
  namespaces: readonly Namespace[];
  claims: readonly PersistentVolumeClaim[];
  volumes: readonly PersistentVolume[];
  storageClasses: readonly StorageClass[];
  csiNodes: readonly CsiNode[];
};

/** A problem with nothing in it, to spread over. */
export const emptyProblem: Problem = {
  nodes: [],
  upcoming: [],
  pools: [],
  daemons: [],
  bound: [],
  pods: [],
  namespaces: [],
  claims: [],
  volumes: [],
  storageClasses: [],
  csiNodes: [],
};
