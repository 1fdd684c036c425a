// Protobuf is read as the real server writes it: the messages in the repository are those of the pinned Go types, and
// an object fetched as protobuf decodes to what the same object is in JSON.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, request } from "undici";
import { describe, expect, test } from "vitest";
import { decodeProtobuf } from "../../src/sim/http/protobuf.ts";
import { isUnavailable, whyUnavailable } from "./binaries.ts";
import { sharedControlPlane } from "./shared.ts";

// The list comes from Go's own types, so that programs found elsewhere do not help.
const withoutGo = whyUnavailable(["kube-apiserver"], {}) !== undefined;

test.skipIf(withoutGo)("protobuf-messages.json equals a fresh generation (go run ./cmd/protomessages)", () => {
  const fresh = execFileSync("go", ["run", "./cmd/protomessages"], { cwd: import.meta.dirname, maxBuffer: 1 << 24 });
  const committed = readFileSync(join(import.meta.dirname, "../../src/sim/http/protobuf-messages.json"), "utf8");
  expect(fresh.toString()).toBe(committed);
});

const template = {
  metadata: { labels: { app: "a" } },
  spec: {
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] }],
        },
      },
    },
    volumes: [
      { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
      { name: "settings", configMap: { name: "settings", optional: true, items: [{ key: "a", path: "b" }] } },
    ],
    containers: [
      {
        name: "main",
        image: "app:1",
        command: ["sh", "-c"],
        ports: [{ containerPort: 80, name: "http" }],
        env: [
          { name: "A", value: "b" },
          { name: "S", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: false } } },
        ],
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1" } },
        livenessProbe: { httpGet: { path: "/", port: "http" }, initialDelaySeconds: 3 },
        readinessProbe: { tcpSocket: { port: 80 } },
        securityContext: { runAsUser: 0, capabilities: { drop: ["ALL"] } },
        volumeMounts: [{ name: "scratch", mountPath: "/scratch" }],
      },
    ],
  },
};
const selector = { matchLabels: { app: "a" } };
const job = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };

type Kind = { path: string; object: { apiVersion: string; kind: string; [field: string]: unknown } };
const inDefault = (group: string, plural: string, object: Kind["object"]): Kind => ({
  path: `${group}/namespaces/default/${plural}`,
  object,
});

const kinds: Kind[] = [
  inDefault("/api/v1", "pods", { apiVersion: "v1", kind: "Pod", ...template }),
  inDefault("/apis/apps/v1", "deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { replicas: 0, selector, template, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "25%" } } },
  }),
  inDefault("/apis/apps/v1", "replicasets", {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    spec: { selector, template },
  }),
  inDefault("/apis/apps/v1", "daemonsets", { apiVersion: "apps/v1", kind: "DaemonSet", spec: { selector, template } }),
  inDefault("/apis/apps/v1", "statefulsets", {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    spec: { selector, template, serviceName: "s" },
  }),
  inDefault("/apis/batch/v1", "jobs", {
    apiVersion: "batch/v1",
    kind: "Job",
    spec: { template: job, backoffLimit: 0 },
  }),
  inDefault("/apis/policy/v1", "poddisruptionbudgets", {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    spec: { maxUnavailable: 1, selector: { matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] } },
  }),
  inDefault("/apis/coordination.k8s.io/v1", "leases", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.678901Z" },
  }),
  inDefault("/api/v1", "secrets", { apiVersion: "v1", kind: "Secret", data: { k: "AAEC" } }),
  inDefault("/api/v1", "configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { a: "ä" },
    binaryData: { b: "AAEC" },
  }),
  inDefault("/api/v1", "serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    automountServiceAccountToken: false,
  }),
  inDefault("/api/v1", "persistentvolumeclaims", {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  }),
  inDefault("/api/v1", "events", {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
    reason: "Why",
    lastTimestamp: "2026-01-02T03:04:05Z",
    count: 2,
  }),
  {
    path: "/api/v1/nodes",
    object: {
      apiVersion: "v1",
      kind: "Node",
      spec: { providerID: "p://1", taints: [{ key: "a", effect: "NoSchedule" }] },
      status: { capacity: { cpu: "8" }, conditions: [{ type: "Ready", status: "True" }] },
    },
  },
  { path: "/api/v1/namespaces", object: { apiVersion: "v1", kind: "Namespace" } },
  {
    path: "/api/v1/persistentvolumes",
    object: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], csi: { driver: "d", volumeHandle: "h" } },
    },
  },
  {
    path: "/apis/storage.k8s.io/v1/storageclasses",
    object: { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", provisioner: "p", parameters: { a: "b" } },
  },
  {
    path: "/apis/storage.k8s.io/v1/volumeattachments",
    object: {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } },
    },
  },
  {
    path: "/apis/storage.k8s.io/v1/csinodes",
    object: {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSINode",
      spec: { drivers: [{ name: "d", nodeID: "n", topologyKeys: ["zone"], allocatable: { count: 3 } }] },
    },
  },
  {
    path: "/apis/scheduling.k8s.io/v1/priorityclasses",
    object: { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", value: -7, globalDefault: false },
  },
];

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("an object fetched as protobuf", () => {
  test.each(kinds.map(kind => [kind.object.kind, kind] as const))("%s", async (_, { path, object }) => {
    const { url, token, caData } = await sharedControlPlane();
    const dispatcher = new Agent({ connect: { ca: Buffer.from(caData, "base64") } });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ ...object, metadata: { name: "protobuf", labels: { l: "", m: "1" } } });
    const created = await request(`${url}${path}`, { method: "POST", headers, body, dispatcher });
    expect([created.statusCode, await created.body.text()]).toMatchObject([201, expect.anything()]);

    const fetched = async (accept: string) => {
      const { body: bytes } = await request(`${url}${path}/protobuf`, { headers: { ...headers, accept }, dispatcher });
      return Buffer.from(await bytes.arrayBuffer());
    };
    const json = JSON.parse((await fetched("application/json")).toString()) as unknown;
    const protobuf = decodeProtobuf(await fetched("application/vnd.kubernetes.protobuf"));
    expect(withoutEmpty(protobuf)).toEqual(withoutEmpty(json));
    await dispatcher.destroy();
  });
});

// Go writes empty values into protobuf and leaves most of them out of JSON: the server's decoding makes both the same.
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, nested]) => [key, withoutEmpty(nested)] as const)
    .filter(([, nested]) => !isEmpty(nested));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "" || value === 0 || value === false;
}
