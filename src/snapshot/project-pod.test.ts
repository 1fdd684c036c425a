import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { Interning } from "./interning.ts";
import { projectPod } from "./project-pod.ts";
import { unreadableTime } from "./raw.ts";
import type { PodView } from "./views.ts";

type Raw = { metadata?: object; spec?: object; status?: unknown };

function raw({ metadata = {}, spec = {}, status = { phase: "Running" } }: Raw = {}): KubeObject {
  const identity = {
    name: "web-1",
    namespace: "shop",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...identity, ...metadata }, spec, status };
}
const pod = (written: Raw = {}, previous?: PodView) => projectPod(raw(written), previous, new Interning());
const owned = (kind: string, more: object = {}) => ({
  ownerReferences: [{ apiVersion: "v1", kind, name: "o", uid: "o", controller: true, ...more }],
});

test("a pod is kept with what a drain asks of it", () => {
  const view = pod({
    metadata: {
      ...owned("ReplicaSet"),
      labels: { app: "web" },
      annotations: { "karpenter.sh/do-not-disrupt": "10m" },
      deletionTimestamp: "2026-01-01T02:00:00Z",
    },
    spec: {
      nodeName: "a",
      terminationGracePeriodSeconds: 90,
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: "data-web" } },
        { name: "scratch", ephemeral: { volumeClaimTemplate: {} } },
        { name: "token", projected: {} },
      ],
    },
    status: { phase: "Running", startTime: "2026-01-01T00:00:05Z", conditions: [{ type: "Ready", status: "True" }] },
  });
  expect(view).toEqual({
    namespace: "shop",
    name: "web-1",
    uid: "u",
    nodeName: "a",
    createdAt: Date.parse("2026-01-01T00:00:00Z"),
    startedAt: Date.parse("2026-01-01T00:00:05Z"),
    deletionAt: Date.parse("2026-01-01T02:00:00Z"),
    graceMs: 90_000,
    phase: "Running",
    isReady: true,
    tier: "workload",
    isStatic: false,
    toleratesDisruption: false,
    labels: { app: "web" },
    doNotDisrupt: "10m",
    ownerKind: "ReplicaSet",
    volumeClaims: ["data-web", "web-1-scratch"],
    needs: { spec: { containers: [] } },
  });
});

test.each<[string, object, object, number | undefined]>([
  ["nothing", {}, {}, undefined],
  ["its priority", {}, { priority: 2 ** 25 }, 2],
  ["its deletion cost", { "controller.kubernetes.io/pod-deletion-cost": String(-(2 ** 26)) }, {}, 0.5],
  ["more than counts", {}, { priority: 2_000_000_000 }, 10],
  ["less than counts", {}, { priority: -2_000_000_000 }, -10],
  ["what nobody can read", { "controller.kubernetes.io/pod-deletion-cost": "much" }, {}, undefined],
])("how much it would be missed is told by %s", (_, annotations, spec, expected) => {
  expect(pod({ metadata: { annotations }, spec }).evictionCost).toBe(expected);
});

describe("tiers of the drain", () => {
  test.each<[string, Raw, PodView["tier"]]>([
    ["nobody's pod", {}, "workload"],
    ["a daemon", { metadata: owned("DaemonSet") }, "daemon"],
    ["critical for the cluster", { spec: { priorityClassName: "system-cluster-critical" } }, "critical"],
    ["critical for the node", { spec: { priorityClassName: "system-node-critical" } }, "critical"],
    [
      "a critical daemon",
      { metadata: owned("DaemonSet"), spec: { priorityClassName: "system-node-critical" } },
      "critical-daemon",
    ],
    [
      "a high priority of another name is not critical",
      { spec: { priorityClassName: "urgent", priority: 2e9 } },
      "workload",
    ],
  ])("%s", (_, written, tier) => expect(pod(written).tier).toBe(tier));
});

describe("static", () => {
  test.each<[string, Raw, boolean]>([
    ["owned by its node", { metadata: owned("Node") }, true],
    ["a mirror", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } }, true],
    ["owned by a ReplicaSet", { metadata: owned("ReplicaSet") }, false],
  ])("%s", (_, written, isStatic) => expect(pod(written).isStatic).toBe(isStatic));
});

describe("tolerates the taint of a node that goes", () => {
  const key = "karpenter.sh/disrupted";
  test.each<[string, unknown, boolean]>([
    ["no toleration", undefined, false],
    ["everything", [{ operator: "Exists" }], true],
    ["the key with any effect", [{ key, operator: "Exists" }], true],
    ["the key with its effect", [{ key, operator: "Exists", effect: "NoSchedule" }], true],
    ["the key with an empty value", [{ key, effect: "NoSchedule" }], true],
    ["the key with another value", [{ key, value: "x", effect: "NoSchedule" }], false],
    ["another effect", [{ key, operator: "Exists", effect: "NoExecute" }], false],
    ["another key", [{ key: "x", operator: "Exists" }], false],
    ["one that cannot be read", [{ key: 1, operator: "Exists" }, null], false],
  ])("%s", (_, tolerations, expected) => expect(pod({ spec: { tolerations } }).toleratesDisruption).toBe(expected));
});

test.each<[string, unknown, PodView["phase"]]>([
  ["a phase", { phase: "Succeeded" }, "Succeeded"],
  ["no status", undefined, "Unknown"],
  ["a word that is no phase", { phase: "Done" }, "Unknown"],
])("phase: %s; only what has surely ended needs no drain", (_, status, phase) =>
  expect(pod({ status: status ?? null }).phase).toBe(phase),
);

test.each<[string, unknown, number]>([
  ["written", 5, 5_000],
  ["none", 0, 0],
  ["absent", undefined, 30_000],
  ["negative", -1, 30_000],
  ["no number", "60", 30_000],
])("grace: %s", (_, terminationGracePeriodSeconds, ms) =>
  expect(pod({ spec: { terminationGracePeriodSeconds } }).graceMs).toBe(ms),
);

test("a protection that is no text still protects; a deletion at no time is a deletion that is never overdue", () => {
  const view = pod({ metadata: { annotations: { "karpenter.sh/do-not-disrupt": true }, deletionTimestamp: "soon" } });
  expect(view.doNotDisrupt).toBe("true");
  expect(view.deletionAt).toBe(unreadableTime);
});

describe("what changes nothing visible is no change", () => {
  const previous = pod();
  test.each<[string, Raw]>([
    ["the version", { metadata: { resourceVersion: "2" } }],
    ["an IP address", { status: { phase: "Running", podIP: "10.0.0.1" } }],
    ["restarts", { status: { phase: "Running", containerStatuses: [{ restartCount: 3 }] } }],
    ["an annotation that nobody reads", { metadata: { annotations: { note: "x" } } }],
  ])("%s", (_, written) => expect(pod(written, previous)).toBe(previous));

  test("readiness is one", () => {
    expect(pod({ status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } }, previous)).not.toBe(
      previous,
    );
  });
});

test("pods share what they have in common", () => {
  const interning = new Interning();
  const at = (name: string) =>
    projectPod(
      raw({ metadata: { name, uid: name, labels: { app: "web" } }, spec: { nodeName: "a" } }),
      undefined,
      interning,
    );
  const [one, other] = [at("web-1"), at("web-2")];
  expect(one.labels).toBe(other.labels);
  expect(one.volumeClaims).toBe(other.volumeClaims);
});

test("a full table of shared values starts anew and stays right", () => {
  const interning = new Interning();
  const labels = Array.from({ length: 20_001 }, (_, index) => interning.labels({ app: String(index) }));
  expect(labels.map(({ app }) => Number(app))).toEqual(labels.map((_, index) => index));
  expect(interning.labels({ app: "20000" })).toBe(labels[20_000]);
  expect(interning.labels({ app: "0" })).not.toBe(labels[0]);
});

test("nothing that stands in a pod makes it throw, and twice the same is the same", () => {
  const anything = fc.anything({ maxDepth: 4, withNullPrototype: false });
  const metadata = fc.record(
    { labels: anything, annotations: anything, ownerReferences: anything },
    { requiredKeys: [] },
  );
  const volumes = fc.array(fc.record({ name: anything, persistentVolumeClaim: anything, ephemeral: anything }));
  const spec = fc.record(
    { tolerations: anything, volumes: fc.oneof(anything, volumes), nodeName: anything },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(metadata, spec, anything, (metadata, spec, status) => {
      const object = JSON.parse(JSON.stringify(raw({ metadata, spec, status }))) as KubeObject;
      const view = projectPod(object, undefined, new Interning());
      expect(projectPod(object, view, new Interning())).toBe(view);
    }),
  );
});
