// What the controllers of the box share: a mirror of each kind they work on, and pods by node and by controller.

import type { KubeObject, Resource } from "../../api/meta.ts";
import type { Clock, KubeApi } from "../../control/ports.ts";
import { type RecordEvent, recorder } from "./events.ts";
import { Grouping } from "./grouping.ts";
import { Mirror } from "./mirror.ts";
import {
  controllerOf,
  type DaemonSet,
  type Deployment,
  type Job,
  type Lease,
  type Node,
  type Pod,
  type ReplicaSet,
  type StatefulSet,
} from "./objects.ts";
import {
  daemonSetResource,
  deploymentResource,
  jobResource,
  leaseResource,
  namespaceResource,
  nodeResource,
  podResource,
  replicaSetResource,
  statefulSetResource,
} from "./resources.ts";

/** What kubelets need, on the box and on a real API server. */
export type NodePicture = {
  api: KubeApi;
  clock: Clock;
  pods: Mirror<Pod>;
  nodes: Mirror<Node>;
  leases: Mirror<Lease>;
  podsByNode: Grouping<Pod>;
  synced: Promise<void>;
  stop(): void;
};

/** What the controllers of workloads need on top of it. */
export type Picture = NodePicture & {
  namespaces: Mirror<KubeObject>;
  replicaSets: Mirror<ReplicaSet>;
  deployments: Mirror<Deployment>;
  daemonSets: Mirror<DaemonSet>;
  statefulSets: Mirror<StatefulSet>;
  jobs: Mirror<Job>;
  podsByController: Grouping<Pod>;
  replicaSetsByController: Grouping<ReplicaSet>;
  record: RecordEvent;
};

export function nodePicture(api: KubeApi, clock: Clock): NodePicture {
  const mirror = <T extends KubeObject>(resource: Resource) => new Mirror<T>({ api, clock, resource });
  const mirrors = {
    nodes: mirror<Node>(nodeResource),
    leases: mirror<Lease>(leaseResource),
    pods: mirror<Pod>(podResource),
  };
  const podsByNode = new Grouping(mirrors.pods, ({ spec }) => spec.nodeName || undefined);
  return { api, clock, ...mirrors, podsByNode, ...together(Object.values(mirrors)) };
}

export function picture(api: KubeApi, clock: Clock, record = recorder(api, clock)): Picture {
  const nodes = nodePicture(api, clock);
  const mirror = <T extends KubeObject>(resource: Resource) => new Mirror<T>({ api, clock, resource });
  const mirrors = {
    namespaces: mirror(namespaceResource),
    deployments: mirror<Deployment>(deploymentResource),
    replicaSets: mirror<ReplicaSet>(replicaSetResource),
    daemonSets: mirror<DaemonSet>(daemonSetResource),
    statefulSets: mirror<StatefulSet>(statefulSetResource),
    jobs: mirror<Job>(jobResource),
  };
  const byController = (object: KubeObject) => controllerOf(object)?.uid;
  return {
    ...nodes,
    ...mirrors,
    podsByController: new Grouping(nodes.pods, byController),
    replicaSetsByController: new Grouping(mirrors.replicaSets, byController),
    record,
    ...together([nodes, ...Object.values(mirrors)]),
  };
}

function together(parts: readonly { synced: Promise<void>; stop(): void }[]): Pick<NodePicture, "synced" | "stop"> {
  return {
    synced: allSynced(parts),
    stop: () => parts.forEach(part => part.stop()),
  };
}

async function allSynced(parts: readonly { synced: Promise<void> }[]): Promise<void> {
  await Promise.all(parts.map(({ synced }) => synced));
}
