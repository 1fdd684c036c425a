// The kinds that make pods: Deployment, ReplicaSet, DaemonSet, StatefulSet, Job.

import { type Change, type Corpus, corpus } from "./case.ts";

type Body = Record<string, unknown>;

const labels = { app: "web" };
const template = (spec: Body = {}, metadata: Body = { labels }): Body => ({
  metadata,
  spec: { containers: [{ name: "main", image: "nginx:1.29" }], ...spec },
});
const spec = (fields: Body = {}): Body => ({
  spec: { selector: { matchLabels: labels }, template: template(), ...fields },
});
const without = (field: string): Body => {
  const body = spec();
  delete (body.spec as Body)[field];
  return body;
};
const changed = (body: Body, put: (object: { spec: Body; metadata: Body; status: Body }) => void) => ({
  body,
  changes: [{ put: object => put(object as never) }] satisfies Change[],
});
const given = (status: Body, body = spec()) => ({ body, changes: [{ status }] satisfies Change[] });

/** Cases that all kinds with a template share. */
const shared = (): Record<string, Body> => ({
  minimal: spec(),
  "no spec": {},
  "no selector": without("selector"),
  "no template": without("template"),
  "empty selector": spec({ selector: {} }),
  "selector that does not match": spec({ selector: { matchLabels: { app: "other" } } }),
  "bad selector": spec({
    selector: {
      matchLabels: labels,
      matchExpressions: [
        { key: "a", operator: "Like" },
        { key: "b", operator: "In" },
      ],
    },
  }),
  "selector by expression": spec({ selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] } }),
  "bad container": spec({ template: template({ containers: [{ name: "Not_OK" }] }) }),
  "restart policy": spec({ template: template({ restartPolicy: "Never" }) }),
  deadline: spec({ template: template({ activeDeadlineSeconds: 5 }) }),
  "negative numbers": spec({ minReadySeconds: -1, revisionHistoryLimit: -1, replicas: -1 }),
  "template labels": spec({ template: template({}, { labels: { ...labels, "not ok": "not ok" } }) }),
  "status is ignored": { ...spec(), status: { replicas: 5, numberReady: 5 } },
  "rich template": spec({
    template: template({
      containers: [
        {
          name: "main",
          image: "nginx",
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: "1" } },
          livenessProbe: { httpGet: { port: 80 } },
        },
      ],
      volumes: [{ name: "v", secret: { secretName: "s" } }],
      nodeSelector: { zone: "a", arch: "x" },
      hostNetwork: true,
    }),
  }),
});

const selectorChanged = changed(spec({ template: template({}, { labels: { ...labels, tier: "a" } }) }), ({ spec }) => {
  Object.assign(spec, { selector: { matchLabels: { tier: "a" } } });
});
const structs = "a Go struct is quoted";

const deployments = corpus(
  { group: "apps", plural: "deployments", kind: "Deployment" },
  {
    ...shared(),
    "zero replicas": spec({ replicas: 0 }),
    recreate: spec({ strategy: { type: "Recreate" } }),
    "recreate with rolling update": spec({ strategy: { type: "Recreate", rollingUpdate: {} } }),
    "other strategy": { body: spec({ strategy: { type: "Big bang" } }), otherWords: structs },
    surge: spec({ strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } }),
    "surge and unavailable zero": spec({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    "unavailable above all": spec({ strategy: { rollingUpdate: { maxUnavailable: "101%" } } }),
    "no percentage": spec({ strategy: { rollingUpdate: { maxSurge: "many" } } }),
    "deadline below ready": spec({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
    scaled: changed(spec(), ({ spec }) => Object.assign(spec, { replicas: 3 })),
    "annotation changed": changed(spec(), ({ metadata }) => Object.assign(metadata, { annotations: { a: "b" } })),
    "label changed": changed(spec(), ({ metadata }) => Object.assign(metadata, { labels: { a: "b" } })),
    "selector changed": selectorChanged,
    "status counts": given({
      replicas: 3,
      readyReplicas: 2,
      updatedReplicas: 3,
      availableReplicas: 1,
      unavailableReplicas: 2,
    }),
    "status too much": given({ replicas: 1, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 4 }),
    "status below zero": given({ replicas: -1, observedGeneration: -1 }),
    "status condition": given({
      conditions: [{ type: "Available", status: "True", lastUpdateTime: "2021-03-04T05:06:07Z" }],
    }),
  },
);

const replicaSets = corpus(
  { group: "apps", plural: "replicasets", kind: "ReplicaSet" },
  {
    ...shared(),
    "zero replicas": spec({ replicas: 0 }),
    scaled: changed(spec(), ({ spec }) => Object.assign(spec, { replicas: 3 })),
    "selector changed": selectorChanged,
    "status counts": given({ replicas: 3, readyReplicas: 2, availableReplicas: 1, fullyLabeledReplicas: 3 }),
    "status too much": given({ replicas: 1, readyReplicas: 2, availableReplicas: 3, fullyLabeledReplicas: 4 }),
  },
);

const daemonSets = corpus(
  { group: "apps", plural: "daemonsets", kind: "DaemonSet" },
  {
    ...shared(),
    "on delete": spec({ updateStrategy: { type: "OnDelete" } }),
    "other strategy": { body: spec({ updateStrategy: { type: "Soon" } }), otherWords: structs },
    surge: spec({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    "surge and unavailable": spec({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    "neither surge nor unavailable": spec({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }),
    "unavailable above all": spec({ updateStrategy: { rollingUpdate: { maxUnavailable: "200%" } } }),
    "template changed": changed(spec(), ({ spec }) =>
      Object.assign(spec, { template: template({ dnsPolicy: "Default" }) }),
    ),
    "nothing but a label changed": changed(spec(), ({ metadata }) => Object.assign(metadata, { labels: { a: "b" } })),
    "selector changed": selectorChanged,
    "status counts": given({
      currentNumberScheduled: 1,
      desiredNumberScheduled: 2,
      numberReady: 1,
      numberMisscheduled: 0,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      numberUnavailable: 1,
    }),
    "status below zero": given({ numberReady: -1 }),
  },
);

const claim = (fields: Body = {}): Body => ({
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...fields },
});

const statefulSets = corpus(
  { group: "apps", plural: "statefulsets", kind: "StatefulSet" },
  {
    ...shared(),
    "with service": spec({ serviceName: "web" }),
    "bad service": spec({ serviceName: "Not_OK" }),
    "bad name": { metadata: { name: "has.dots" }, ...spec() },
    parallel: spec({ podManagementPolicy: "Parallel" }),
    "other management": spec({ podManagementPolicy: "Random" }),
    "on delete": spec({ updateStrategy: { type: "OnDelete" } }),
    "on delete with rolling update": {
      body: spec({ updateStrategy: { type: "OnDelete", rollingUpdate: {} } }),
      otherWords: structs,
    },
    "rolling update said": spec({ updateStrategy: { type: "RollingUpdate" } }),
    "other strategy": { body: spec({ updateStrategy: { type: "Soon" } }), otherWords: structs },
    partition: spec({ updateStrategy: { rollingUpdate: { partition: 2 } } }),
    "negative partition": spec({ updateStrategy: { rollingUpdate: { partition: -2 } } }),
    claims: spec({
      volumeClaimTemplates: [claim()],
      template: template({
        containers: [{ name: "main", image: "a:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      }),
    }),
    "bad claims": spec({ volumeClaimTemplates: [claim({ accessModes: [] })] }),
    retention: spec({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } }),
    "other retention": spec({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Burn" } }),
    ordinals: spec({ ordinals: { start: 3 } }),
    scaled: changed(spec(), ({ spec }) => Object.assign(spec, { replicas: 3 })),
    "service changed": changed(spec({ serviceName: "a" }), ({ spec }) => Object.assign(spec, { serviceName: "b" })),
    "status counts": given({ replicas: 3, readyReplicas: 2, availableReplicas: 1, currentReplicas: 3 }),
    "status too much": given({ replicas: 1, readyReplicas: 2 }),
  },
);

const job = (fields: Body = {}): Body => ({ spec: { template: template({ restartPolicy: "Never" }), ...fields } });
const past = "2021-03-04T05:06:07Z";

const jobs = corpus(
  { group: "batch", plural: "jobs", kind: "Job" },
  {
    minimal: job(),
    "no spec": {},
    "restart always": { spec: { template: template() } },
    "other restart policy": { spec: { template: template({ restartPolicy: "Maybe" }) } },
    "on failure": { spec: { template: template({ restartPolicy: "OnFailure" }) } },
    parallel: job({ parallelism: 3 }),
    completions: job({ completions: 5 }),
    "zero parallelism": job({ parallelism: 0, completions: 0 }),
    indexed: job({ completionMode: "Indexed", completions: 2 }),
    "indexed without completions": job({ completionMode: "Indexed", parallelism: 2 }),
    "other mode": job({ completionMode: "Sorted" }),
    "per index": job({ completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 1 }),
    "per index without mode": job({ backoffLimitPerIndex: 1 }),
    "max failed without limit": job({ completionMode: "Indexed", completions: 2, maxFailedIndexes: 1 }),
    "negative numbers": job({
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
    }),
    suspended: job({ suspend: true }),
    "own selector": job({
      manualSelector: true,
      selector: { matchLabels: labels },
    }),
    "selector without leave": { body: job({ selector: { matchLabels: labels } }), otherWords: "a uid is quoted" },
    "selector changed": {
      ...changed(job(), ({ spec }) => {
        const { selector } = spec as { selector: { matchLabels: Body } };
        Object.assign(selector.matchLabels, { app: "web" });
      }),
      otherWords: "a uid is quoted",
    },
    "no labels at all": { spec: { template: template({ restartPolicy: "Never" }, {}) } },
    "own selector missing": job({ manualSelector: true }),
    "failure policy": job({
      podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
    }),
    "failure policy with restarts": {
      spec: {
        template: template({ restartPolicy: "OnFailure" }),
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
      },
    },
    "replacement policy": job({ podReplacementPolicy: "Failed" }),
    "other replacement policy": job({ podReplacementPolicy: "Never" }),
    "parallelism changed": changed(job(), ({ spec }) => Object.assign(spec, { parallelism: 2 })),
    "completions changed": changed(job(), ({ spec }) => Object.assign(spec, { completions: 2 })),
    "template changed": {
      ...changed(job(), ({ spec }) => {
        const { template } = spec as { template: { spec: Body } };
        Object.assign(template.spec, { dnsPolicy: "Default" });
      }),
      otherWords: structs,
    },
    "shows Running": given({ startTime: past, active: 1 }, job()),
    "shows Complete": given(
      {
        startTime: past,
        completionTime: "2021-03-04T06:06:07Z",
        succeeded: 1,
        conditions: [
          { type: "SuccessCriteriaMet", status: "True", lastProbeTime: past, lastTransitionTime: past },
          { type: "Complete", status: "True", lastProbeTime: past, lastTransitionTime: past },
        ],
      },
      job(),
    ),
    "shows Suspended": given(
      { conditions: [{ type: "Suspended", status: "True", lastProbeTime: past, lastTransitionTime: past }] },
      job({ suspend: true }),
    ),
  },
);

export const workloads: readonly Corpus[] = [deployments, replicaSets, daemonSets, statefulSets, jobs];
