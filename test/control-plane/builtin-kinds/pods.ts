// Pods: every default, every rule we have, and the statuses that `kubectl get pods` tells apart.

import { type Change, corpus } from "./case.ts";

type Body = Record<string, unknown>;

const container = (extra: Body = {}): Body => ({ name: "main", image: "nginx:1.29", ...extra });
const pod = (spec: Body = {}, metadata: Body = {}): Body => ({
  metadata,
  spec: { containers: [container()], ...spec },
});
const withContainer = (extra: Body): Body => pod({ containers: [container(extra)] });

/** Long enough ago that its age does not change while the test runs. */
const past = "2021-03-04T05:06:07Z";
const running = (extra: Body = {}): Body => ({
  name: "main",
  image: "nginx:1.29",
  imageID: "",
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: past } },
  lastState: {},
  ...extra,
});
const waiting = (reason: string, extra: Body = {}) =>
  running({ ready: false, state: { waiting: { reason } }, ...extra });
const ended = (terminated: Body, extra: Body = {}) =>
  running({ ready: false, state: { terminated: { startedAt: past, finishedAt: past, ...terminated } }, ...extra });
const condition = (type: string, status: string, extra: Body = {}): Body => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: past,
  ...extra,
});

const inStatus = (status: Body, spec: Body = {}): { body: Body; changes: Change[] } => ({
  body: pod({ nodeName: "somewhere", ...spec }),
  changes: [{ status }],
});
const changed = (put: (spec: Body) => void, spec: Body = {}): { body: Body; changes: Change[] } => ({
  body: pod(spec),
  changes: [{ put: object => put(object.spec as Body) }],
});

const init = {
  initContainers: [
    { name: "first", image: "busybox:1" },
    { name: "second", image: "busybox:1" },
  ],
};
const sidecar = { initContainers: [{ name: "proxy", image: "envoy:1", restartPolicy: "Always" }] };

/** A node that is there, so that pods can be bound to it. */
export const nodeInZone = {
  metadata: {
    name: "builtin-kinds-zone",
    labels: { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", other: "x" },
  },
};

const good: Record<string, Body> = {
  "bound to a node in a zone": pod(
    { nodeName: nodeInZone.metadata.name },
    { labels: { "topology.kubernetes.io/zone": "elsewhere" } },
  ),
  minimal: pod(),
  "image without tag": withContainer({ image: "nginx" }),
  "image latest": withContainer({ image: "registry.example:5000/team/nginx:latest" }),
  "image with port and no tag": withContainer({ image: "registry.example:5000/nginx" }),
  "image by digest": withContainer({ image: `nginx@sha256:${"a".repeat(64)}` }),
  "image with tag and digest": withContainer({ image: `nginx:latest@sha256:${"a".repeat(64)}` }),
  "zero values are dropped": pod({
    hostNetwork: false,
    nodeName: "",
    nodeSelector: {},
    tolerations: [],
    hostPID: false,
  }),
  "pointers keep their zero": pod({ terminationGracePeriodSeconds: 0, automountServiceAccountToken: false }),
  nulls: pod({ nodeSelector: null, volumes: null, affinity: null }),
  ports: withContainer({ ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", name: "dns" }] }),
  "host network": pod({ hostNetwork: true, containers: [container({ ports: [{ containerPort: 80 }] })] }),
  probes: withContainer({
    livenessProbe: { httpGet: { port: 80 } },
    readinessProbe: { tcpSocket: { port: "http" }, initialDelaySeconds: 5 },
    startupProbe: { grpc: { port: 9000 }, failureThreshold: 30 },
    lifecycle: { postStart: { httpGet: { port: 80, path: "" } }, preStop: { exec: { command: ["sleep", "5"] } } },
    ports: [{ name: "http", containerPort: 80 }],
  }),
  "limits become requests": withContainer({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
  "requests stay": withContainer({ resources: { limits: { cpu: "1" }, requests: { cpu: "500m", memory: "64Mi" } } }),
  "quantities in other forms": withContainer({
    resources: { requests: { cpu: 0.5, memory: "1024Ki", "ephemeral-storage": "1e3" }, limits: { cpu: "1000m" } },
  }),
  "amounts below a thousandth": withContainer({ resources: { requests: { cpu: "100u" } } }),
  "guaranteed with init": pod({
    containers: [container({ resources: { limits: { cpu: "1", memory: "1Gi" } } })],
    initContainers: [{ name: "i", image: "a:1", resources: { limits: { cpu: "1", memory: "1Gi" } } }],
  }),
  "extended resources": withContainer({ resources: { limits: { "nvidia.com/gpu": 1 } } }),
  environment: withContainer({
    env: [
      { name: "A", value: "" },
      { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "C", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      { name: "D", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
    ],
    envFrom: [{ configMapRef: { name: "c" } }],
  }),
  volumes: pod({
    volumes: [
      { name: "empty" },
      { name: "secret", secret: { secretName: "s" } },
      { name: "config", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
      { name: "host", hostPath: { path: "/var" } },
      { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      { name: "down", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Gi" } },
      {
        name: "projected",
        projected: { sources: [{ configMap: { name: "c" } }, { secret: { name: "s" } }] },
      },
      {
        name: "ephemeral",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
    ],
    containers: [container({ volumeMounts: [{ name: "empty", mountPath: "/data", readOnly: false }] })],
  }),
  "own toleration of not-ready": pod({
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
    ],
  }),
  "tolerates everything": pod({ tolerations: [{ operator: "Exists" }] }),
  "tolerates one taint": pod({ tolerations: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }] }),
  "service account": pod({ serviceAccountName: "robot" }),
  "service account by its old name": pod({ serviceAccount: "robot" }),
  "system priority": pod({ priorityClassName: "system-node-critical" }),
  "status on create is ignored": { ...pod(), status: { phase: "Running", podIP: "10.0.0.1" } },
  gated: pod({ schedulingGates: [{ name: "example.com/wait" }] }),
  "init containers": pod(init),
  sidecar: pod(sidecar),
  affinity: pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: "x", operator: "Exists" }] } },
        ],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "a" } } },
        ],
      },
    },
  }),
  spread: pod({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { a: "b" } },
      },
    ],
  }),
  "security contexts": pod({
    securityContext: { runAsNonRoot: true, fsGroup: 0 },
    containers: [container({ securityContext: { privileged: false, capabilities: { drop: ["ALL"] } } })],
  }),
  "labels and annotations": pod({}, { labels: { app: "web" }, annotations: { note: "" } }),
  "unknown fields are dropped": pod({ nosuchfield: 1, containers: [container({ bogus: true })] }),
  "pod level requests from containers": pod({
    resources: { limits: { cpu: "2", memory: "1Gi" } },
    containers: [
      container({ resources: { requests: { cpu: "500m" } } }),
      container({ name: "b", resources: { requests: { cpu: "250m" } } }),
    ],
    initContainers: [{ name: "i", image: "a:1", resources: { requests: { cpu: "600m" } } }],
  }),
  "pod level resources": pod({ resources: { limits: { cpu: "2", memory: "1Gi" } } }),
};

const bad: Record<string, Body> = {
  "no containers": { spec: {} },
  "no spec": {},
  "container without name or image": pod({ containers: [{}] }),
  "container name": pod({ containers: [container({ name: "Main_1" })] }),
  "same container twice": pod({ containers: [container(), container()] }),
  "init container of the same name": pod({ initContainers: [container()] }),
  "padded image": withContainer({ image: " nginx" }),
  "pull policy": withContainer({ imagePullPolicy: "Sometimes" }),
  "restart policy": pod({ restartPolicy: "Maybe" }),
  "dns policy": pod({ dnsPolicy: "None" }),
  "unknown dns policy": pod({ dnsPolicy: "Mine" }),
  "port out of range": withContainer({ ports: [{ containerPort: 70000, hostPort: -1 }] }),
  "port without number": withContainer({ ports: [{ name: "http" }] }),
  "port name": withContainer({ ports: [{ name: "Not--ok-", containerPort: 1 }] }),
  "port protocol": withContainer({ ports: [{ containerPort: 1, protocol: "HTTP" }] }),
  "host port twice": withContainer({
    ports: [
      { containerPort: 1, hostPort: 9 },
      { containerPort: 2, hostPort: 9 },
    ],
  }),
  "mount of no volume": withContainer({ volumeMounts: [{ name: "nowhere", mountPath: "/data" }] }),
  "mount path twice": pod({
    volumes: [{ name: "v" }],
    containers: [
      container({
        volumeMounts: [
          { name: "v", mountPath: "/a" },
          { name: "v", mountPath: "/a" },
        ],
      }),
    ],
  }),
  "same volume twice": pod({ volumes: [{ name: "v" }, { name: "v" }] }),
  "volume with two sources": pod({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] }),
  "volume without its name": pod({ volumes: [{ emptyDir: {} }] }),
  "secret without name": pod({ volumes: [{ name: "v", secret: {} }] }),
  "file mode": pod({ volumes: [{ name: "v", configMap: { name: "c", defaultMode: 1000 } }] }),
  "environment name": withContainer({ env: [{ name: "a=b" }, { name: "" }] }),
  "environment with two sources": withContainer({
    env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
  }),
  "environment without source": withContainer({ env: [{ name: "A", valueFrom: {} }] }),
  "probe without handler": withContainer({ livenessProbe: {} }),
  "probe with two handlers": withContainer({ livenessProbe: { exec: { command: ["a"] }, tcpSocket: { port: 1 } } }),
  "liveness needs one success": withContainer({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
  "negative probe": withContainer({ readinessProbe: { tcpSocket: { port: 0 }, periodSeconds: -1 } }),
  "init container with probe": pod({
    initContainers: [{ ...container({ name: "i" }), livenessProbe: { tcpSocket: { port: 1 } } }],
  }),
  "request above limit": withContainer({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }),
  "negative request": withContainer({ resources: { requests: { memory: "-1" } } }),
  "unknown resource": withContainer({ resources: { requests: { pears: "1" } } }),
  "part of a gpu": withContainer({ resources: { limits: { "nvidia.com/gpu": "500m" } } }),
  "gpu without limit": withContainer({ resources: { requests: { "nvidia.com/gpu": 1 } } }),
  "node selector": pod({ nodeSelector: { "bad key!": "x", ok: "bad value!" } }),
  "toleration without key": pod({ tolerations: [{ operator: "Equal" }] }),
  "toleration operator": pod({ tolerations: [{ key: "a", operator: "Like" }] }),
  "toleration comparison": pod({ tolerations: [{ key: "a", operator: "Gt", value: "1" }] }),
  "toleration seconds": pod({
    tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 1 }],
  }),
  "toleration value with Exists": pod({ tolerations: [{ key: "a", operator: "Exists", value: "x" }] }),
  "toleration effect": pod({ tolerations: [{ key: "a", operator: "Exists", effect: "Soon" }] }),
  "affinity without terms": pod({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  }),
  "affinity operators": pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: "a", operator: "In" },
                { key: "b", operator: "Exists", values: ["x"] },
                { key: "c", operator: "Gt", values: ["1", "2"] },
                { key: "d", operator: "Like", values: ["x"] },
                { key: "", operator: "In", values: ["not ok"] },
              ],
              matchFields: [
                { key: "spec.x", operator: "Exists" },
                { key: "metadata.name", operator: "In", values: ["a", "b"] },
              ],
            },
          ],
        },
      },
    },
  }),
  "affinity weight and topology": pod({
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: "" } }],
      },
    },
  }),
  "spread twice": pod({
    topologySpreadConstraints: [
      { maxSkew: 0, topologyKey: "", whenUnsatisfiable: "DoNotSchedule" },
      { maxSkew: 1, topologyKey: "", whenUnsatisfiable: "DoNotSchedule" },
      { maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "Never" },
    ],
  }),
  "deadline out of range": pod({ activeDeadlineSeconds: 0 }),
  "names in the spec": pod({ hostname: "a.b", subdomain: "-", nodeName: "a b", serviceAccountName: "A" }),
  "gates with a node": pod({ nodeName: "n", schedulingGates: [{ name: "a" }, { name: "a" }] }),
  "readiness gate": pod({ readinessGates: [{ conditionType: "not ok" }] }),
  "ephemeral containers on create": pod({ ephemeralContainers: [{ name: "debug", image: "a:1" }] }),
  "priority class that is not there": pod({ priorityClassName: "urgent" }),
  "priority set by hand": pod({ priority: 5 }),
  "preemption policy": pod({ preemptionPolicy: "Never" }),
  "wrong type deep inside": withContainer({ image: 5 }),
  "list where an object belongs": { spec: [] },
  "text where a list belongs": pod({ containers: "none" }),
  "number that does not fit": pod({ priority: 5_000_000_000 }),
  "quantity that is none": withContainer({ resources: { requests: { cpu: "lots" } } }),
  "labels of another type": pod({}, { labels: { a: 1 } }),
  "bad labels": pod({}, { labels: { "not ok": "not ok" } }),
  "bad annotation key": pod({}, { annotations: { "not ok": "" } }),
  "bad name": pod({}, { name: "Not_OK" }),
};

const changes: Record<string, { body: Body; changes: Change[]; otherWords?: string }> = {
  "nothing changed": changed(() => {}),
  "image changed": changed(spec => Object.assign((spec.containers as Body[])[0] ?? {}, { image: "nginx:1.30" })),
  "toleration added": changed(spec => {
    (spec.tolerations as Body[]).push({ key: "new", operator: "Exists" });
  }),
  "toleration removed": changed(spec => Object.assign(spec, { tolerations: [] }), {
    tolerations: [{ key: "mine", operator: "Exists" }],
  }),
  "toleration seconds changed": changed(spec =>
    Object.assign((spec.tolerations as Body[])[0] ?? {}, { tolerationSeconds: 9 }),
  ),
  "deadline set": changed(spec => Object.assign(spec, { activeDeadlineSeconds: 60 })),
  "deadline lengthened": changed(spec => Object.assign(spec, { activeDeadlineSeconds: 60 }), {
    activeDeadlineSeconds: 30,
  }),
  "deadline taken away": changed(spec => delete spec.activeDeadlineSeconds, { activeDeadlineSeconds: 30 }),
  "gate removed": changed(spec => delete spec.schedulingGates, { schedulingGates: [{ name: "a" }] }),
  "gate added": changed(spec => Object.assign(spec, { schedulingGates: [{ name: "a" }] })),
  "container added": changed(spec => (spec.containers as Body[]).push(container({ name: "more" }))),
  "node changed": {
    ...changed(spec => Object.assign(spec, { nodeName: "other" })),
    otherWords: "a diff of Go structs",
  },
  "priority dropped": changed(spec => delete spec.priority),
  "status ignored on the main resource": {
    body: pod(),
    changes: [{ put: object => Object.assign(object, { status: { phase: "Running" } }) }],
  },
  "labels by strategic patch": { body: pod(), changes: [{ patch: { metadata: { labels: { a: "b" } } } }] },
  "image by strategic patch": {
    body: pod(),
    changes: [{ patch: { spec: { containers: [{ name: "main", image: "nginx:2" }] } } }],
  },
  "qos class changed": { body: pod(), changes: [{ status: { qosClass: "Guaranteed" } }] },
  "ended container runs again": {
    body: pod({ restartPolicy: "Never", nodeName: "n" }),
    changes: [
      { status: { containerStatuses: [ended({ exitCode: 0 })] } },
      { status: { containerStatuses: [running()] } },
    ],
  },
  "failed container runs again": {
    body: pod({ restartPolicy: "OnFailure", nodeName: "n" }),
    changes: [
      { status: { containerStatuses: [ended({ exitCode: 1 })] } },
      { status: { containerStatuses: [running()] } },
    ],
  },
  "addresses of one family": {
    body: pod(),
    changes: [{ status: { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] } }],
  },
  "address that is none": { body: pod(), changes: [{ status: { podIP: "here", podIPs: [{ ip: "here" }] } }] },
  "condition type": { body: pod(), changes: [{ status: { conditions: [condition("not ok", "True")] } }] },
};

const statuses: Record<string, { body: Body; changes: Change[] }> = {
  "shows Running": inStatus({
    phase: "Running",
    podIP: "10.1.2.3",
    podIPs: [{ ip: "10.1.2.3" }],
    conditions: [condition("Ready", "True"), condition("Initialized", "True")],
    containerStatuses: [running()],
  }),
  "shows restarts": inStatus({
    phase: "Running",
    containerStatuses: [
      running({ restartCount: 3, lastState: { terminated: { exitCode: 1, startedAt: past, finishedAt: past } } }),
    ],
  }),
  "shows CrashLoopBackOff": inStatus({
    phase: "Running",
    containerStatuses: [waiting("CrashLoopBackOff", { restartCount: 7 })],
  }),
  "shows ContainerCreating": inStatus({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
  "shows ImagePullBackOff": inStatus({ phase: "Pending", containerStatuses: [waiting("ImagePullBackOff")] }),
  "shows Init:0/2": inStatus(
    { phase: "Pending", initContainerStatuses: [waiting("PodInitializing", { name: "first" })] },
    init,
  ),
  "shows Init:1/2": inStatus(
    {
      phase: "Pending",
      initContainerStatuses: [
        ended({ exitCode: 0, reason: "Completed" }, { name: "first" }),
        running({ name: "second", ready: false }),
      ],
    },
    init,
  ),
  "shows Init:CrashLoopBackOff": inStatus(
    { phase: "Pending", initContainerStatuses: [waiting("CrashLoopBackOff", { name: "first", restartCount: 2 })] },
    init,
  ),
  "shows Init:Error": inStatus(
    { phase: "Pending", initContainerStatuses: [ended({ exitCode: 1, reason: "Error" }, { name: "first" })] },
    init,
  ),
  "shows Init:ExitCode": inStatus(
    { phase: "Pending", initContainerStatuses: [ended({ exitCode: 3 }, { name: "first" })] },
    init,
  ),
  "shows Init:Signal": inStatus(
    { phase: "Pending", initContainerStatuses: [ended({ exitCode: 137, signal: 9 }, { name: "first" })] },
    init,
  ),
  "counts a started sidecar": inStatus(
    {
      phase: "Running",
      conditions: [condition("Initialized", "True")],
      initContainerStatuses: [running({ name: "proxy", started: true, restartCount: 2 })],
      containerStatuses: [running()],
    },
    sidecar,
  ),
  "shows Completed": inStatus(
    { phase: "Succeeded", containerStatuses: [ended({ exitCode: 0, reason: "Completed" })] },
    { restartPolicy: "Never" },
  ),
  "shows Error": inStatus(
    { phase: "Failed", containerStatuses: [ended({ exitCode: 1, reason: "Error" })] },
    { restartPolicy: "Never" },
  ),
  "shows Signal": inStatus(
    { phase: "Failed", containerStatuses: [ended({ exitCode: 9, signal: 9 })] },
    { restartPolicy: "Never" },
  ),
  "shows ExitCode": inStatus(
    { phase: "Failed", containerStatuses: [ended({ exitCode: 9 })] },
    { restartPolicy: "Never" },
  ),
  "shows OOMKilled": inStatus(
    { phase: "Failed", containerStatuses: [ended({ exitCode: 137, reason: "OOMKilled" })] },
    { restartPolicy: "Never" },
  ),
  "shows Evicted": inStatus({ phase: "Failed", reason: "Evicted", message: "out of room" }),
  "shows NotReady": inStatus(
    {
      phase: "Running",
      containerStatuses: [ended({ exitCode: 0, reason: "Completed" }), running({ name: "side" })],
    },
    { containers: [container(), container({ name: "side" })], restartPolicy: "Never" },
  ),
  "shows the error of one of two": inStatus(
    {
      phase: "Running",
      containerStatuses: [
        ended({ exitCode: 0, reason: "Completed" }),
        ended({ exitCode: 2, reason: "Error" }, { name: "side" }),
      ],
    },
    { containers: [container(), container({ name: "side" })], restartPolicy: "Never" },
  ),
  "shows readiness gates": inStatus(
    { phase: "Running", conditions: [condition("example.com/a", "True"), condition("example.com/b", "False")] },
    { readinessGates: [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }] },
  ),
  "shows a nominated node": { body: pod(), changes: [{ status: { nominatedNodeName: "soon" } }] },
};

export const pods = corpus({ group: "", plural: "pods", kind: "Pod" }, { ...good, ...bad, ...changes, ...statuses });
