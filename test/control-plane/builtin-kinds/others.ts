// The kinds that neither run pods nor are nodes.

import { type Change, type Corpus, corpus } from "./case.ts";

type Body = Record<string, unknown>;
type Loose = Record<string, never> & { metadata: Body; spec: Body; status: Body };

const changed = (body: Body, put: (object: Loose) => void) => ({
  body,
  changes: [{ put: object => put(object as never) }] satisfies Change[],
});
const given = (body: Body, status: Body) => ({ body, changes: [{ status }] satisfies Change[] });
const base64 = (text: string) => Buffer.from(text).toString("base64");

const namespaces = corpus(
  { group: "", plural: "namespaces", kind: "Namespace" },
  {
    minimal: {},
    "own finalizer": { spec: { finalizers: ["example.com/mine"] } },
    "kubernetes finalizer": { spec: { finalizers: ["kubernetes"] } },
    "bad finalizer": { spec: { finalizers: ["mine"] } },
    "labels kept": { metadata: { labels: { a: "b" } } },
    "wrong name label": { metadata: { labels: { "kubernetes.io/metadata.name": "other" } } },
    "status is ignored": { status: { phase: "Terminating" } },
    "name with dots": { metadata: { name: "has.dots" } },
    "long name": { metadata: { name: "x".repeat(64) } },
    "name label taken away": changed({}, ({ metadata }) => delete metadata.labels),
    "finalizer taken away": changed({}, ({ spec }) => delete spec.finalizers),
    "status by subresource": given({}, { conditions: [{ type: "NamespaceContentRemaining", status: "True" }] }),
  },
);

const configMaps = corpus(
  { group: "", plural: "configmaps", kind: "ConfigMap" },
  {
    minimal: {},
    data: { data: { a: "b", "c.d_e-f": "" } },
    "empty data": { data: {} },
    binary: { binaryData: { a: base64("bytes") } },
    both: { data: { a: "1" }, binaryData: { b: base64("2") } },
    "same key in both": { data: { a: "1" }, binaryData: { a: base64("2") } },
    "bad keys": { data: { "not ok": "", "..": "", "..x": "" } },
    "bad base64": { binaryData: { a: "$$$" } },
    "number in data": { data: { a: 1 } },
    "list as data": { data: [] },
    immutable: changed({ data: { a: "1" }, immutable: true }, object => Object.assign(object, { data: { a: "2" } })),
    "immutable taken away": changed({ immutable: true }, object => delete (object as Body).immutable),
    "immutable but labels": changed({ immutable: true }, ({ metadata }) =>
      Object.assign(metadata, { labels: { a: "b" } }),
    ),
    "immutable false": { immutable: false },
    changed: changed({ data: { a: "1" } }, object => Object.assign(object, { data: { b: "2" } })),
    "patched away": { body: { data: { a: "1", b: "2" } }, changes: [{ patch: { data: { a: null } } }] },
    "too large": { data: { a: "x".repeat(1024 * 1024 + 1) } },
    "bad owner": { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "", uid: "" }] } },
    "bad finalizer": { metadata: { finalizers: ["mine"] } },
    "no name": { metadata: { name: "" } },
  },
);

const secrets = corpus(
  { group: "", plural: "secrets", kind: "Secret" },
  {
    minimal: {},
    data: { data: { a: base64("b") } },
    "string data": { stringData: { a: "b" } },
    "string data over data": { data: { a: base64("old"), c: base64("d") }, stringData: { a: "new" } },
    "own type": { type: "example.com/mine" },
    tls: { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } },
    "tls without key": { type: "kubernetes.io/tls", data: { "tls.crt": "" } },
    "basic auth": { type: "kubernetes.io/basic-auth", data: { username: base64("u") } },
    "basic auth without anything": { type: "kubernetes.io/basic-auth" },
    "ssh without key": { type: "kubernetes.io/ssh-auth" },
    "bad key": { data: { "not ok": "" } },
    "bad base64": { data: { a: "YQ" } },
    "type changed": changed({}, object => Object.assign(object, { type: "other" })),
    immutable: changed({ data: { a: base64("1") }, immutable: true }, object => Object.assign(object, { data: {} })),
    "token without account": { type: "kubernetes.io/service-account-token" },
  },
);

const serviceAccounts = corpus(
  { group: "", plural: "serviceaccounts", kind: "ServiceAccount" },
  {
    minimal: {},
    "pull secrets": { imagePullSecrets: [{ name: "a" }] },
    "mounts no token": { automountServiceAccountToken: false },
    "secret references": { secrets: [{ name: "a", namespace: "b", kind: "Secret" }] },
    "empty lists": { secrets: [], imagePullSecrets: [] },
    labelled: { metadata: { labels: { a: "b" } } },
    "bad label": { metadata: { labels: { a: "not ok" } } },
    "bad name": { metadata: { name: "-" } },
    "secrets of another type": { secrets: {} },
    changed: changed({}, object => Object.assign(object, { imagePullSecrets: [{ name: "x" }] })),
    "patched by name": {
      body: { secrets: [{ name: "a" }] },
      changes: [{ patch: { secrets: [{ name: "b" }] } }],
    },
  },
);

const micro = "2021-03-04T05:06:07.000000Z";
const leases = corpus(
  { group: "coordination.k8s.io", plural: "leases", kind: "Lease" },
  {
    minimal: {},
    held: {
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: micro,
        renewTime: micro,
        leaseTransitions: 0,
      },
    },
    "empty holder": { spec: { holderIdentity: "" } },
    "duration zero": { spec: { leaseDurationSeconds: 0 } },
    "negative transitions": { spec: { leaseTransitions: -1 } },
    "time in seconds": { spec: { renewTime: "2021-03-04T05:06:07Z" } },
    "time in milliseconds": { spec: { renewTime: "2021-03-04T05:06:07.123Z" } },
    "time with offset": { spec: { renewTime: "2021-03-04T05:06:07.123456+02:00" } },
    "time that is none": { spec: { renewTime: "yesterday" } },
    "time as number": { spec: { renewTime: 5 } },
    "time of a thirteenth month": { spec: { renewTime: "2021-13-04T05:06:07.123456Z" } },
    "time out of its day": { spec: { renewTime: "2021-02-29T25:06:07.123456Z" } },
    strategy: { spec: { strategy: "OldestEmulationVersion" } },
    renewed: changed({ spec: { holderIdentity: "me" } }, ({ spec }) => Object.assign(spec, { renewTime: micro })),
    "renewed by patch": { body: {}, changes: [{ patch: { spec: { holderIdentity: "you" } } }] },
    "duration of another type": { spec: { leaseDurationSeconds: "15" } },
  },
);

const condition = {
  type: "Told",
  status: "True",
  reason: "Sufficient:Pods",
  message: "",
  lastTransitionTime: "2021-03-04T05:06:07Z",
};

const budgets = corpus(
  { group: "policy", plural: "poddisruptionbudgets", kind: "PodDisruptionBudget" },
  {
    minimal: {},
    "min available": { spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
    "max unavailable percent": { spec: { maxUnavailable: "30%", selector: {} } },
    zero: { spec: { maxUnavailable: 0, minAvailable: null } },
    both: { body: { spec: { minAvailable: 1, maxUnavailable: 1 } }, otherWords: "a Go struct is quoted" },
    negative: { spec: { minAvailable: -1 } },
    "above all": { spec: { minAvailable: "101%" } },
    "no percentage": { spec: { maxUnavailable: "half" } },
    "bad selector": { spec: { minAvailable: 1, selector: { matchExpressions: [{ key: "a", operator: "Near" }] } } },
    "eviction policy": { spec: { minAvailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    "other eviction policy": { spec: { minAvailable: 1, unhealthyPodEvictionPolicy: "Ask" } },
    "status is ignored": { spec: { minAvailable: 1 }, status: { disruptionsAllowed: 9 } },
    changed: changed({ spec: { minAvailable: 1 } }, ({ spec }) => Object.assign(spec, { minAvailable: 2 })),
    "status by subresource": given(
      { spec: { minAvailable: 1 } },
      { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
    ),
    "status below zero": given({ spec: { minAvailable: 1 } }, { disruptionsAllowed: -1 }),
    "status with a condition": given({ spec: {} }, { conditions: [condition] }),
    "status with half a condition": given({ spec: {} }, { conditions: [{ type: "Told", status: "True" }] }),
    "status with bad conditions": given(
      { spec: {} },
      {
        conditions: [
          condition,
          { ...condition, status: "Perhaps", reason: "not ok", observedGeneration: -1 },
          { ...condition, type: "not ok", reason: "x".repeat(1025), message: "x".repeat(32 * 1024 + 1) },
        ],
      },
    ),
    "count as boolean": { spec: { minAvailable: true } },
  },
);

const involved = { kind: "Node", name: "a", namespace: "builtin-kinds" };
const reported = {
  eventTime: micro,
  reportingComponent: "example.com/me",
  reportingInstance: "me-0",
  action: "Look",
  reason: "Because",
};

const coreEvents = corpus(
  { group: "", plural: "events", kind: "Event" },
  {
    minimal: { involvedObject: involved },
    "of old": {
      involvedObject: { ...involved, fieldPath: "spec.x" },
      type: "Warning",
      reason: "Failed",
      message: " it failed\n",
      count: 3,
      firstTimestamp: "2021-03-04T05:06:07Z",
      lastTimestamp: "2021-03-04T05:06:07Z",
      source: { component: "kubelet", host: "a" },
    },
    "of new": { involvedObject: involved, ...reported, type: "Normal" },
    series: { involvedObject: involved, ...reported, type: "Normal", series: { count: 5, lastObservedTime: micro } },
    "other namespace": { involvedObject: { kind: "Pod", name: "a", namespace: "other" } },
    "no namespace": { involvedObject: { kind: "Node", name: "a" } },
    "no object": {},
    "new without reporter": { involvedObject: involved, eventTime: micro },
    "long action": { involvedObject: involved, ...reported, action: "x".repeat(129) },
    "time without microseconds": { involvedObject: involved, eventTime: "2021-03-04T05:06:07Z" },
    "count changed": changed({ involvedObject: involved, count: 1 }, object => Object.assign(object, { count: 2 })),
    "object without name": { involvedObject: { kind: "Node", namespace: "builtin-kinds" } },
  },
);

const regarding = involved;
const strict = {
  eventTime: micro,
  reportingController: "example.com/me",
  reportingInstance: "me-0",
  action: "Look",
  reason: "Because",
  type: "Normal",
  regarding,
};

const newEvents = corpus(
  { group: "events.k8s.io", plural: "events", kind: "Event" },
  {
    minimal: strict,
    noted: { ...strict, note: "it happened", related: { kind: "Pod", name: "p", namespace: "builtin-kinds" } },
    empty: {},
    "without time": { ...strict, eventTime: null },
    "other type": { ...strict, type: "Odd" },
    "old fields": {
      ...strict,
      deprecatedCount: 3,
      deprecatedSource: { component: "x" },
      deprecatedFirstTimestamp: "2021-03-04T05:06:07Z",
    },
    series: { ...strict, series: { count: 2, lastObservedTime: micro } },
    "short series": { ...strict, series: { count: 1, lastObservedTime: null } },
    "long note": { ...strict, note: "x".repeat(1025) },
    "other namespace": { ...strict, regarding: { kind: "Pod", name: "a", namespace: "other" } },
    "note changed": changed(strict, object => Object.assign(object, { note: "other" })),
    "series begins": changed(strict, object =>
      Object.assign(object, { series: { count: 2, lastObservedTime: micro } }),
    ),
    "reporter is no name": { ...strict, reportingController: "not ok" },
  },
);

const priorityClasses = corpus(
  { group: "scheduling.k8s.io", plural: "priorityclasses", kind: "PriorityClass" },
  {
    minimal: {},
    value: { value: 1000, description: "for some" },
    negative: { value: -5 },
    "never preempts": { value: 5, preemptionPolicy: "Never" },
    "other policy": { value: 5, preemptionPolicy: "Maybe" },
    "too high": { value: 1_000_000_001 },
    highest: { value: 1_000_000_000 },
    "system name": { metadata: { name: "system-mine" }, value: 5 },
    "value changed": changed({ value: 5 }, object => Object.assign(object, { value: 6 })),
    "policy changed": changed({ value: 5 }, object => Object.assign(object, { preemptionPolicy: "Never" })),
    "description changed": changed({ value: 5 }, object => Object.assign(object, { description: "x" })),
    "value of another type": { value: "5" },
    "default given up": changed({ value: 5, globalDefault: true }, object =>
      Object.assign(object, { globalDefault: false }),
    ),
  },
);

const storageClasses = corpus(
  { group: "storage.k8s.io", plural: "storageclasses", kind: "StorageClass" },
  {
    minimal: { provisioner: "example.com/disk" },
    "no provisioner": {},
    "bad provisioner": { provisioner: "not ok" },
    rich: {
      provisioner: "example.com/disk",
      parameters: { type: "fast" },
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
      mountOptions: ["noatime"],
    },
    "expansion false": { provisioner: "example.com/disk", allowVolumeExpansion: false },
    "other reclaim policy": { provisioner: "example.com/disk", reclaimPolicy: "Burn" },
    "other binding mode": { provisioner: "example.com/disk", volumeBindingMode: "Later" },
    "empty parameter": { provisioner: "example.com/disk", parameters: { "": "x" } },
    "parameters changed": changed({ provisioner: "example.com/disk" }, object =>
      Object.assign(object, { parameters: { a: "b" } }),
    ),
    "provisioner changed": changed({ provisioner: "example.com/disk" }, object =>
      Object.assign(object, { provisioner: "example.com/other" }),
    ),
    "marked as default": changed({ provisioner: "example.com/disk" }, ({ metadata }) =>
      Object.assign(metadata, { annotations: { "storageclass.kubernetes.io/is-default-class": "false" } }),
    ),
    "shows default": {
      metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "example.com/disk",
    },
  },
);

const claim = (fields: Body = {}): Body => ({
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    storageClassName: "",
    ...fields,
  },
});

const claims = corpus(
  { group: "", plural: "persistentvolumeclaims", kind: "PersistentVolumeClaim" },
  {
    minimal: claim(),
    "named class": claim({ storageClassName: "fast" }),
    block: claim({ volumeMode: "Block" }),
    "other mode": claim({ volumeMode: "Tape" }),
    empty: {},
    "no access mode": claim({ accessModes: [] }),
    "other access mode": claim({ accessModes: ["Sometimes"] }),
    "pod and others": claim({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }),
    "no size": claim({ resources: {} }),
    "size zero": claim({ resources: { requests: { storage: "0" } } }),
    "size in another form": claim({ resources: { requests: { storage: "1024Mi" } } }),
    "bad class": claim({ storageClassName: "Not_OK" }),
    "data source": claim({ dataSource: { kind: "PersistentVolumeClaim", name: "other" } }),
    "data source reference": claim({ dataSourceRef: { kind: "PersistentVolumeClaim", name: "other" } }),
    selector: claim({ selector: { matchLabels: { a: "b" } } }),
    "volume filled in": changed(claim(), ({ spec }) => Object.assign(spec, { volumeName: "v" })),
    "access changed": {
      ...changed(claim(), ({ spec }) => Object.assign(spec, { accessModes: ["ReadWriteMany"] })),
      otherWords: "a diff of Go structs",
    },
    "size changed before it is bound": {
      ...changed(claim(), ({ spec }) => Object.assign(spec, { resources: { requests: { storage: "2Gi" } } })),
      otherWords: "a diff of Go structs",
    },
    bound: given(claim({ volumeName: "v" }), {
      phase: "Bound",
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    }),
  },
);

const volume = (fields: Body = {}): Body => ({
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" }, ...fields },
});

const volumes = corpus(
  { group: "", plural: "persistentvolumes", kind: "PersistentVolume" },
  {
    minimal: volume(),
    empty: {},
    csi: volume({ hostPath: null, csi: { driver: "example.com", volumeHandle: "h" } }),
    "csi without handle": volume({ hostPath: null, csi: { driver: "example.com" } }),
    "two sources": volume({ csi: { driver: "example.com", volumeHandle: "h" } }),
    "no source": volume({ hostPath: null }),
    "no capacity": volume({ capacity: null }),
    "other capacity": volume({ capacity: { cpu: "1" } }),
    "capacity zero": volume({ capacity: { storage: "0" } }),
    "other reclaim policy": volume({ persistentVolumeReclaimPolicy: "Burn" }),
    "many modes": volume({ accessModes: ["ReadWriteMany", "ReadWriteOnce", "ReadOnlyMany"] }),
    "no modes": volume({ accessModes: [] }),
    claimed: volume({ claimRef: { namespace: "a", name: "b" }, storageClassName: "fast" }),
    local: volume({ hostPath: null, local: { path: "/mnt" } }),
    "local with affinity": volume({
      hostPath: null,
      local: { path: "/mnt" },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }] },
      },
    }),
    "source changed": {
      ...changed(volume(), ({ spec }) => Object.assign(spec, { hostPath: { path: "/other" } })),
      otherWords: "a diff of Go structs",
    },
    "size changed": changed(volume(), ({ spec }) => Object.assign(spec, { capacity: { storage: "2Gi" } })),
    bound: given(volume(), { phase: "Bound" }),
    failed: given(volume(), { phase: "Failed", reason: "Broken", message: "it broke" }),
  },
);

const attachment = (spec: Body = {}): Body => ({
  spec: { attacher: "example.com", nodeName: "a", source: { persistentVolumeName: "v" }, ...spec },
});

const attachments = corpus(
  { group: "storage.k8s.io", plural: "volumeattachments", kind: "VolumeAttachment" },
  {
    minimal: attachment(),
    empty: {},
    "no source": attachment({ source: {} }),
    "empty volume": attachment({ source: { persistentVolumeName: "" } }),
    "bad attacher": attachment({ attacher: "not ok" }),
    "long attacher": attachment({ attacher: "x".repeat(64) }),
    "bad node": attachment({ nodeName: "Not_OK" }),
    "bad volume name": attachment({ source: { persistentVolumeName: "Not_OK" } }),
    "status is ignored": { ...attachment(), status: { attached: true } },
    "spec changed": {
      ...changed(attachment(), ({ spec }) => Object.assign(spec, { nodeName: "b" })),
      otherWords: "a Go struct is quoted",
    },
    attached: given(attachment(), { attached: true, attachmentMetadata: { device: "/dev/x" } }),
    "status alone": {
      body: { ...attachment(), metadata: { labels: { kept: "yes" }, annotations: { kept: "yes" } } },
      changes: [{ status: { attached: true }, metadata: { labels: { kept: null, lost: "yes" }, annotations: null } }],
    },
    broken: given(attachment(), { attachError: { message: "no", time: "2021-03-04T05:06:07Z" } }),
  },
);

const driver = (fields: Body = {}): Body => ({ name: "example.com", nodeID: "n", topologyKeys: null, ...fields });

const csiNodes = corpus(
  { group: "storage.k8s.io", plural: "csinodes", kind: "CSINode" },
  {
    minimal: {},
    "no drivers": { spec: { drivers: [] } },
    "one driver": { spec: { drivers: [driver()] } },
    topology: { spec: { drivers: [driver({ topologyKeys: ["example.com/zone"], allocatable: { count: 5 } })] } },
    "driver without id": { spec: { drivers: [driver({ nodeID: "" })] } },
    "driver without name": { spec: { drivers: [driver({ name: "" })] } },
    "driver twice": { spec: { drivers: [driver(), driver()] } },
    "negative count": { spec: { drivers: [driver({ allocatable: { count: -1 } })] } },
    "topology twice": { spec: { drivers: [driver({ topologyKeys: ["a", "a", "not ok"] })] } },
    "long id": { spec: { drivers: [driver({ nodeID: "x".repeat(257) })] } },
    "driver added": changed({ spec: { drivers: [driver()] } }, ({ spec }) =>
      (spec.drivers as Body[]).push(driver({ name: "other.example.com" })),
    ),
    "driver changed": {
      ...changed({ spec: { drivers: [driver()] } }, ({ spec }) =>
        Object.assign((spec.drivers as Body[])[0] ?? {}, { nodeID: "m" }),
      ),
      otherWords: "a Go struct is quoted",
    },
  },
);

export const others: readonly Corpus[] = [
  namespaces,
  configMaps,
  secrets,
  serviceAccounts,
  leases,
  budgets,
  coreEvents,
  newEvents,
  priorityClasses,
  storageClasses,
  claims,
  volumes,
  attachments,
  csiNodes,
];
