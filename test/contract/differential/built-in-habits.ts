// What sequences do with built-in kinds.

import fc from "fast-check";
import type { Resource } from "../../../src/api/meta.ts";
import type { Habits } from "./generate.ts";
import type { Json, JsonObject } from "./operation.ts";

const resource = (kind: string, plural: string, more: Partial<Resource> = {}): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced: true,
  ...more,
});

const oneOf = (...values: JsonObject[]) => fc.constantFrom<JsonObject>(...values);

export const configMaps: Habits = {
  subject: { resource: resource("ConfigMap", "configmaps"), plain: { data: { key: "value" } } },
  weight: 3,
  bodies: oneOf(
    {},
    { data: { key: "value" } },
    { data: { key: "value", other: "" }, immutable: true },
    { binaryData: { raw: "AAEC" } },
    { data: { key: "x" }, binaryData: { key: "AAEC" } },
    { data: { "not a key": "x" } },
    { data: { key: 7 } },
    { binaryData: { raw: "not base64!" } },
    { data: { key: "value" }, unknown: 1 },
    { kind: "Secret" },
    { apiVersion: "v2" },
  ),
  changes: oneOf(
    { data: { key: "changed" } },
    { data: { key: null } },
    { data: null },
    { data: { added: "x" } },
    { immutable: true },
    { immutable: null },
    { unknown: { deep: 1 } },
    { data: { key: 7 } },
    {},
  ),
  strategic: oneOf(
    { data: { $patch: "replace", only: "this" } },
    { data: { $patch: "delete" } },
    { metadata: { labels: { $patch: "replace", app: "y" } } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["test.fettle.dev/hold"] } },
    { metadata: { finalizers: ["test.fettle.dev/second"] } },
    {
      metadata: {
        "$setElementOrder/finalizers": ["test.fettle.dev/second", "test.fettle.dev/hold"],
        finalizers: ["test.fettle.dev/second"],
      },
    },
    { metadata: { ownerReferences: [{ $patch: "delete", uid: "@uid:a" }] } },
    { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "@b", uid: "@uid:b" }] } },
    { $patch: "nonsense" },
  ),
  jsonPatches: fc.constantFrom<Json[]>(
    [{ op: "add", path: "/data/new", value: "x" }],
    [{ op: "remove", path: "/data" }],
    [{ op: "replace", path: "/data/key", value: 3 }],
    [
      { op: "test", path: "/data/key", value: "value" },
      { op: "remove", path: "/data/key" },
    ],
  ),
};

const containers = (image: string): Json => [{ name: "main", image }];

export const pods: Habits = {
  subject: { resource: resource("Pod", "pods"), plain: { spec: { containers: containers("app:1") } } },
  weight: 4,
  bodies: oneOf(
    { spec: { containers: containers("app:1") } },
    { spec: { containers: containers("app") } },
    { spec: { nodeName: "n1", containers: containers("app:1"), terminationGracePeriodSeconds: 5 } },
    { spec: { nodeName: "n1", containers: containers("app:1") } },
    {
      spec: {
        nodeSelector: { zone: "a" },
        tolerations: [{ key: "k", operator: "Exists" }],
        containers: [
          {
            name: "main",
            image: "app:1",
            resources: { requests: { cpu: "100m", memory: "1Gi" }, limits: { cpu: "1" } },
          },
          { name: "side", image: "side:latest", ports: [{ containerPort: 80 }] },
        ],
      },
    },
    { spec: { restartPolicy: "Never", containers: containers("app:1"), priorityClassName: "system-node-critical" } },
    { spec: { containers: containers("app:1"), priorityClassName: "absent" } },
    { spec: { schedulingGates: [{ name: "test.dev/gate" }], containers: containers("app:1") } },
    { spec: { containers: [] } },
    { spec: { containers: [{ name: "Main", image: "app:1" }] } },
    { spec: { containers: [{ name: "main" }] } },
    { spec: { containers: containers("app:1"), restartPolicy: "Sometimes" } },
    { spec: { containers: containers("app:1"), unknown: 1 } },
    { spec: { containers: "none" } },
    { spec: { containers: containers("app:1") }, status: { phase: "Running" } },
    {},
  ),
  changes: oneOf(
    { spec: { containers: containers("app:2") } },
    { spec: { activeDeadlineSeconds: 30 } },
    { spec: { tolerations: [{ key: "new", operator: "Exists" }] } },
    { spec: { nodeName: "n2" } },
    { spec: { restartPolicy: "Never" } },
    { spec: { terminationGracePeriodSeconds: 1 } },
    { spec: { schedulingGates: null } },
    { status: { phase: "Failed" } },
    { spec: null },
  ),
  statuses: oneOf(
    { status: { phase: "Running" } },
    { status: { phase: "Succeeded" } },
    {
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" }],
      },
    },
    { status: { conditions: [{ type: "Ready", status: "False" }] } },
    { status: { phase: 7 } },
    { status: null },
  ),
  strategic: oneOf(
    { spec: { containers: [{ name: "main", image: "app:3" }] } },
    { spec: { containers: [{ name: "side", image: "side:1" }] } },
    { spec: { containers: [{ name: "main", $patch: "delete" }] } },
    {
      spec: {
        "$setElementOrder/containers": [{ name: "side" }, { name: "main" }],
        containers: [{ name: "main", image: "app:4" }],
      },
    },
    { spec: { containers: [{ image: "nameless" }] } },
    { spec: { tolerations: [{ key: "t", operator: "Exists" }] } },
    { metadata: { labels: { app: "x" } } },
  ),
  jsonPatches: fc.constantFrom<Json[]>(
    [{ op: "replace", path: "/spec/containers/0/image", value: "app:5" }],
    [{ op: "add", path: "/spec/containers/-", value: { name: "late", image: "late:1" } }],
    [{ op: "remove", path: "/spec/containers/0" }],
    [{ op: "replace", path: "/spec/containers/7/image", value: "app:5" }],
  ),
  fieldSelectors: ["spec.restartPolicy=Always", "status.phase=Pending", "status.phase!=Failed", "spec.nodeName="],
  posts: fc.oneof(
    fc
      .constantFrom<JsonObject>(
        {},
        {},
        { deleteOptions: { gracePeriodSeconds: 0 } },
        { deleteOptions: { dryRun: ["All"] } },
        { deleteOptions: { preconditions: { uid: "@uid:a" } } },
      )
      .map(rest => ({
        subresource: "eviction",
        body: { apiVersion: "policy/v1", kind: "Eviction", ...rest } as JsonObject,
      })),
    fc
      .constantFrom<JsonObject>(
        { target: { apiVersion: "v1", kind: "Node", name: "n1" } },
        { target: { apiVersion: "v1", kind: "Node", name: "n2" } },
        { target: { kind: "Pod", name: "n1" } },
        { target: {} },
      )
      .map(rest => ({ subresource: "binding", body: { apiVersion: "v1", kind: "Binding", ...rest } as JsonObject })),
  ),
};

export const disruptionBudgets: Habits = {
  subject: {
    resource: resource("PodDisruptionBudget", "poddisruptionbudgets", { group: "policy" }),
    plain: { spec: { minAvailable: 1, selector: { matchLabels: { app: "none" } } } },
  },
  weight: 2,
  bodies: oneOf(
    { spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } },
    { spec: { maxUnavailable: "50%", selector: { matchLabels: { app: "x" } } } },
    { spec: { maxUnavailable: 0, selector: {}, unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    { spec: { minAvailable: "150%" } },
    { spec: { minAvailable: -1 } },
    { spec: { selector: { matchExpressions: [{ key: "app", operator: "In", values: [] }] } } },
    {},
  ),
  changes: oneOf(
    { spec: { minAvailable: 2 } },
    { spec: { selector: { matchLabels: { app: "y" } } } },
    { spec: { unhealthyPodEvictionPolicy: "IfHealthyBudget" } },
    { spec: { maxUnavailable: 1, minAvailable: null } },
    { status: { disruptionsAllowed: 9 } },
  ),
  statuses: fc.integer({ min: 0, max: 2 }).map(disruptionsAllowed => ({
    status: { disruptionsAllowed, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 },
  })),
  strategic: oneOf(
    { spec: { selector: { $patch: "replace", matchLabels: { app: "z" } } } },
    { spec: { minAvailable: null } },
  ),
};

export const nodes: Habits = {
  subject: { resource: resource("Node", "nodes", { namespaced: false }), plain: {} },
  weight: 3,
  bodies: oneOf(
    {},
    { spec: { providerID: "sim://1", taints: [{ key: "k", value: "v", effect: "NoSchedule" }] } },
    { spec: { podCIDR: "10.0.0.0/24" } },
    { spec: { unschedulable: true } },
    { status: { capacity: { cpu: "4", memory: "16Gi" }, conditions: [{ type: "Ready", status: "True" }] } },
    { spec: { taints: [{ key: "k", effect: "Never" }] } },
    {
      spec: {
        taints: [
          { key: "k", effect: "NoExecute" },
          { key: "k", effect: "NoExecute" },
        ],
      },
    },
    { status: { capacity: { cpu: "many" } } },
  ),
  changes: oneOf(
    { spec: { unschedulable: true } },
    { spec: { unschedulable: null } },
    { spec: { taints: [{ key: "drain", effect: "NoSchedule" }] } },
    { spec: { taints: null } },
    { spec: { providerID: "sim://1" } },
    { spec: { providerID: "sim://2" } },
    { status: { phase: "Running" } },
  ),
  statuses: oneOf(
    {
      status: {
        conditions: [{ type: "Ready", status: "False", reason: "Gone", lastTransitionTime: "2020-01-01T00:00:00Z" }],
      },
    },
    { status: { capacity: { cpu: "8" }, allocatable: { cpu: "7500m" } } },
    { status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } },
    { status: { nodeInfo: { kubeletVersion: "v1.36.0" } } },
    { spec: { unschedulable: true } },
  ),
  strategic: oneOf(
    { spec: { taints: [{ key: "other", effect: "NoExecute" }] } },
    { status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
    { spec: { $retainKeys: ["taints"], taints: [] } },
    { metadata: { labels: { zone: "a" } } },
  ),
  fieldSelectors: ["spec.unschedulable=false"],
};

export const leases: Habits = {
  subject: { resource: resource("Lease", "leases", { group: "coordination.k8s.io" }), plain: { spec: {} } },
  bodies: oneOf(
    {},
    { spec: { holderIdentity: "one", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" } },
    { spec: { holderIdentity: "", leaseTransitions: 3 } },
    { spec: { renewTime: "2020-01-01T00:00:00Z" } },
    { spec: { renewTime: "2020-01-01T00:00:00.000Z" } },
    { spec: { leaseDurationSeconds: 0 } },
    { spec: { leaseTransitions: -1 } },
  ),
  changes: oneOf(
    { spec: { holderIdentity: "two" } },
    { spec: { renewTime: "2020-01-02T00:00:00.123456Z" } },
    { spec: { leaseDurationSeconds: -5 } },
    { spec: null },
  ),
  strategic: oneOf({ spec: { holderIdentity: null } }),
};

const template = (image: string): JsonObject => ({
  metadata: { labels: { app: "x" } },
  spec: { containers: containers(image) },
});

export const deployments: Habits = {
  subject: {
    resource: resource("Deployment", "deployments", { group: "apps" }),
    plain: { spec: { selector: { matchLabels: { app: "x" } }, template: template("app:1") } },
  },
  weight: 2,
  // Always another number: for the same one the real server writes anew who owns it.
  scales: oneOf({ spec: { replicas: "@next" } }, { spec: { replicas: -1 } }, { spec: { replicas: "2" } }),
  bodies: oneOf(
    { spec: { selector: { matchLabels: { app: "x" } }, template: template("app:1") } },
    {
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "x" } },
        template: template("app:1"),
        strategy: { type: "Recreate" },
      },
    },
    { spec: { selector: { matchLabels: { app: "y" } }, template: template("app:1") } },
    { spec: { replicas: -1, selector: { matchLabels: { app: "x" } }, template: template("app:1") } },
    { spec: { template: template("app:1") } },
    { spec: { selector: {}, template: template("app:1") } },
    {
      spec: {
        selector: { matchLabels: { app: "x" } },
        template: template("app:1"),
        strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
      },
    },
    {},
  ),
  changes: oneOf(
    { spec: { replicas: 2 } },
    { spec: { paused: true } },
    { spec: { template: { spec: { containers: containers("app:2") } } } },
    { spec: { selector: { matchLabels: { app: "z" } } } },
    { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
    { spec: { strategy: { type: "Recreate" } } },
    { status: { replicas: 5 } },
  ),
  statuses: oneOf(
    { status: { replicas: 1, observedGeneration: 1 } },
    { status: { replicas: -1 } },
    { spec: { replicas: 7 } },
  ),
  strategic: oneOf(
    { spec: { template: { spec: { containers: [{ name: "main", image: "app:9" }] } } } },
    { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
    { spec: { template: { spec: { containers: [{ $patch: "replace" }, { name: "new", image: "new:1" }] } } } },
  ),
};

export const namespaces: Habits = {
  subject: { resource: resource("Namespace", "namespaces", { namespaced: false }), plain: {} },
  bodies: oneOf(
    {},
    { spec: { finalizers: ["test.fettle.dev/hold"] } },
    { status: { phase: "Terminating" } },
    { spec: { unknown: 1 } },
  ),
  // Not spec.finalizers: the real server ignores them, but writes anew who owns them.
  changes: oneOf({ status: { phase: "Terminating" } }, { spec: { unknown: 1 } }, {}),
  statuses: oneOf({ status: { phase: "Active" } }),
  strategic: oneOf({ metadata: { labels: { app: "x" } } }),
  fieldSelectors: ["status.phase=Active"],
};
