// A cluster in which nothing is left to do: one pool, its claims, their nodes and instances, the pods that run there. It is
// laid into the store of an embedded API server as it is, past all checks, so that a large one is there in seconds.

import type { KubeObject, ObjectMeta } from "../src/api/meta.ts";
import { nodePoolKey, zoneKey } from "../src/api/node.ts";
import {
  providerIdOf,
  type SimulatedInstance,
  simulatedInstanceManifest,
  simulatedNamespace,
} from "../src/api/simulated-instance.ts";
import { formatTime } from "../src/api/time.ts";
import { initializedKey, nodeClassKey, registeredKey, terminationFinalizer } from "../src/api/well-known.ts";
import type { ApiServer } from "../src/sim/api-server.ts";
import { keyOf } from "../src/sim/store.ts";

export const clusterName = "bench";
export const poolName = "workers";

const classRef = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
const capacity = { cpu: "16", memory: "64Gi", pods: "110", "ephemeral-storage": "200Gi" };
const zones = ["zone-a", "zone-b", "zone-c"];
const namespaceCount = 20;

/** How long all has been there. */
export const ageMs = 24 * 3_600_000;

export type Size = { readonly nodes: number; readonly podsPerNode: number };

export const nodeName = (index: number) => `node-${index}`;
export const claimName = (index: number) => `${poolName}-${index}`;

export function settle(server: ApiServer, { nodes, podsPerNode }: Size, now: number): void {
  const madeAt = formatTime(now - ageMs);
  const put = (collection: string, object: KubeObject) => {
    server.store.put(
      server.store.collection(collection),
      keyOf(object.metadata.namespace, object.metadata.name),
      object,
    );
  };
  const namespaces = [simulatedNamespace, ...Array.from({ length: namespaceCount }, (_, index) => `team-${index}`)];
  for (const name of namespaces) {
    put("namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: meta(name, madeAt),
      status: { phase: "Active" },
    });
  }
  put("safetypolicies.fettle.dev", safetyPolicy(madeAt));
  put("nodepools.karpenter.sh", pool(nodes, madeAt));
  for (let index = 0; index < nodes; index++) {
    const instance = instanceOf(index, `uid-${claimName(index)}`, now - ageMs);
    put("configmaps", stored(simulatedInstanceManifest(instance), madeAt));
    put("nodeclaims.karpenter.sh", claim(index, providerIdOf(instance), madeAt));
    put("nodes", node(index, providerIdOf(instance), madeAt));
  }
  for (let index = 0; index < nodes * podsPerNode; index++) put("pods", pod(index, nodes, madeAt));
}

function meta(name: string, madeAt: string, more: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name, uid: `uid-${name}`, resourceVersion: "", creationTimestamp: madeAt, ...more };
}

function stored(manifest: { metadata: object; [field: string]: unknown }, madeAt: string): KubeObject {
  const { name } = manifest.metadata as { name: string };
  return { ...manifest, metadata: { ...meta(name, madeAt), ...manifest.metadata } } as KubeObject;
}

function safetyPolicy(madeAt: string): KubeObject {
  const metadata = meta("default", madeAt, { generation: 1 });
  return { apiVersion: "fettle.dev/v1alpha1", kind: "SafetyPolicy", metadata, spec: {} };
}

function pool(replicas: number, madeAt: string): KubeObject {
  const spec = { replicas, template: { spec: { nodeClassRef: classRef } } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: meta(poolName, madeAt, { generation: 1 }), spec };
}

/** The one of the claim with this uid. */
export function instanceOf(index: number, uid: string, launchedAt: number): SimulatedInstance {
  return {
    name: `i-${uid}`,
    cluster: clusterName,
    claimUid: uid,
    type: "m-16x",
    zone: zoneOf(index),
    capacityType: "on-demand",
    nodeClass: classRef.name,
    nodeName: nodeName(index),
    labels: {},
    capacity,
    allocatable: capacity,
    launchedAt,
  };
}

export function claim(index: number, providerID: string, madeAt: string): KubeObject {
  const conditions = ["Launched", "Registered", "Initialized", "Ready"].map(type => condition(type, "True", madeAt));
  const metadata = meta(claimName(index), madeAt, {
    generation: 1,
    labels: { [nodePoolKey]: poolName, [nodeClassKey(classRef)]: classRef.name, [zoneKey]: zoneOf(index) },
    finalizers: [terminationFinalizer],
  });
  const status = {
    nodeName: nodeName(index),
    providerID,
    capacity,
    allocatable: capacity,
    firstReadyTime: madeAt,
    conditions,
  };
  const spec = { nodeClassRef: classRef, readinessTTL: "15m", expireAfter: "720h" };
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec, status };
}

/** About 10 KB of JSON, most of it images. */
export function node(index: number, providerID: string, madeAt: string): KubeObject {
  const images = Array.from({ length: 40 }, (_, i) => ({
    names: [`registry.example/team-${i}/service@sha256:${"0".repeat(64)}`, `registry.example/team-${i}/service:v1`],
    sizeBytes: 100_000_000 + i,
  }));
  const metadata = meta(nodeName(index), madeAt, {
    labels: {
      "kubernetes.io/hostname": nodeName(index),
      "kubernetes.io/os": "linux",
      [zoneKey]: zoneOf(index),
      [nodePoolKey]: poolName,
      [registeredKey]: "true",
      [initializedKey]: "true",
    },
    finalizers: [terminationFinalizer],
  });
  const status = { capacity, allocatable: capacity, conditions: nodeConditions(madeAt), images };
  return { apiVersion: "v1", kind: "Node", metadata, spec: { providerID }, status };
}

export function nodeConditions(at: string, changed: Readonly<Record<string, string>> = {}) {
  return ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(type => ({
    ...condition(type, changed[type] ?? (type === "Ready" ? "True" : "False"), at),
    lastHeartbeatTime: at,
  }));
}

function condition(type: string, status: string, lastTransitionTime: string) {
  return { type, status, reason: type, message: "", lastTransitionTime };
}

/** About 4 KB of JSON. */
function pod(index: number, nodeCount: number, madeAt: string): KubeObject {
  const resources = { requests: { cpu: "100m", memory: "128Mi" } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: podMeta(index, madeAt),
    spec: {
      nodeName: nodeName(index % nodeCount),
      terminationGracePeriodSeconds: 30,
      containers: [container(index, resources)],
    },
    status: { phase: "Running", startTime: madeAt, conditions: [condition("Ready", "True", madeAt)] },
  };
}

type Wanted = { readonly requests: Readonly<Record<string, string>>; readonly nodeSelector: object };

/** Beside them, just as large, and as kube-scheduler leaves it where it finds no node. */
export function waitingPod(index: number, { requests, nodeSelector }: Wanted, madeAt: string): KubeObject {
  const unscheduled = { ...condition("PodScheduled", "False", madeAt), reason: "Unschedulable" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: podMeta(index, madeAt),
    spec: { nodeSelector, terminationGracePeriodSeconds: 30, containers: [container(index, { requests })] },
    status: { phase: "Pending", conditions: [unscheduled] },
  };
}

function podMeta(index: number, madeAt: string): ObjectMeta {
  const app = `app-${index % 500}`;
  return meta(`pod-${index}`, madeAt, {
    namespace: `team-${index % namespaceCount}`,
    labels: { app, tier: "web" },
    annotations: { "example.com/padding": "x".repeat(1_650) },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: `uid-${app}`, controller: true }],
  });
}

function container(index: number, resources: object) {
  const env = Array.from({ length: 30 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${index}-${i}` }));
  return { name: "main", image: "registry.example/app:v1", env, resources };
}

function zoneOf(index: number): string {
  return zones[index % zones.length] ?? "";
}
