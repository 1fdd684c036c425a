import { describe, expect, test } from "vitest";
import { EmbeddedServer } from "../../../test/embedded-server.ts";
import type { Workload } from "./workload.ts";

const labels = { app: "web" };
const template = (spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "a:1" }], ...spec },
});
const kinds = {
  Deployment: { group: "apps", plural: "deployments" },
  ReplicaSet: { group: "apps", plural: "replicasets" },
  DaemonSet: { group: "apps", plural: "daemonsets" },
  StatefulSet: { group: "apps", plural: "statefulsets" },
  Job: { group: "batch", plural: "jobs" },
} as const;

type Kind = keyof typeof kinds;

function created(kind: Kind, spec: object = {}, server = new EmbeddedServer()): Workload {
  const usual =
    kind === "Job"
      ? { template: template({ restartPolicy: "Never" }) }
      : { selector: { matchLabels: labels }, template: template() };
  const body = { metadata: { name: "w" }, spec: { ...usual, ...spec } };
  return server.written({ verb: "create", ...kinds[kind], body }) as Workload;
}

function changed(kind: Kind, change: (object: Workload) => void, spec: object = {}): Workload {
  const server = new EmbeddedServer();
  const object = created(kind, spec, server);
  change(object);
  return server.written({ verb: "update", ...kinds[kind], name: "w", body: object }) as Workload;
}

describe("defaults", () => {
  test.each<[Kind, object]>([
    [
      "Deployment",
      {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
      },
    ],
    ["ReplicaSet", { replicas: 1 }],
    [
      "DaemonSet",
      {
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      },
    ],
    [
      "StatefulSet",
      {
        replicas: 1,
        podManagementPolicy: "OrderedReady",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      },
    ],
    ["Job", { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false }],
  ])("of %s", (kind, expected) => {
    const { spec, metadata } = created(kind);
    expect(spec).toMatchObject(expected);
    expect(spec.template.spec).toMatchObject({ dnsPolicy: "ClusterFirst", schedulerName: "default-scheduler" });
    expect(metadata.generation).toBe(1);
  });

  test("a template is no pod: it gets neither requests nor service links", () => {
    const containers = [{ name: "c", image: "a:1", resources: { limits: { cpu: "1" } } }];
    const { spec } = created("Deployment", { template: template({ containers }) }).spec.template;
    expect(spec.enableServiceLinks).toBeUndefined();
    expect(spec.containers?.[0]?.resources).toEqual({ limits: { cpu: "1" } });
  });

  test("a job with a limit for each index has none in all", () => {
    const spec = { completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1 };
    expect(created("Job", spec).spec).toMatchObject({ backoffLimit: 2 ** 31 - 1 });
  });
});

describe("a job's selector", () => {
  test("is made from its uid, and so are the labels of its pods", () => {
    const { metadata, spec } = created("Job");
    expect(spec.selector).toEqual({ matchLabels: { "batch.kubernetes.io/controller-uid": metadata.uid } });
    expect(spec.template.metadata.labels).toEqual({
      app: "web",
      "job-name": "w",
      "batch.kubernetes.io/job-name": "w",
      "controller-uid": metadata.uid,
      "batch.kubernetes.io/controller-uid": metadata.uid,
    });
    expect(metadata.labels).toEqual(spec.template.metadata.labels);
  });

  test("is the writer's own if it is asked for", () => {
    const { spec } = created("Job", { manualSelector: true, selector: { matchLabels: labels } });
    expect(spec.selector).toEqual({ matchLabels: labels });
    expect(() => created("Job", { selector: { matchLabels: labels } })).toThrow("`selector` not auto-generated");
  });
});

describe("generation", () => {
  const scale = ({ spec }: Workload) => Object.assign(spec, { replicas: 2 });
  const annotate = ({ metadata }: Workload) =>
    Object.assign(metadata, { annotations: { ...metadata.annotations, a: "b" } });
  const label = ({ metadata }: Workload) => Object.assign(metadata, { labels: { a: "b" } });
  test.each<[string, Kind, (object: Workload) => void, number]>([
    ["a deployment scaled", "Deployment", scale, 2],
    ["a deployment annotated: its replica sets are told", "Deployment", annotate, 2],
    ["a deployment labelled", "Deployment", label, 1],
    ["a replica set annotated", "ReplicaSet", annotate, 1],
    ["a stateful set scaled", "StatefulSet", scale, 2],
  ])("%s", (_, kind, change, generation) => {
    expect(changed(kind, change).metadata.generation).toBe(generation);
  });

  test("a daemon set counts its templates in an annotation", () => {
    const key = "deprecated.daemonset.template.generation";
    const changeTemplate = ({ spec }: Workload) => Object.assign(spec.template.spec, { dnsPolicy: "Default" });
    expect(created("DaemonSet").metadata.annotations).toEqual({ [key]: "1" });
    expect(changed("DaemonSet", changeTemplate).metadata).toMatchObject({ generation: 2, annotations: { [key]: "2" } });
    expect(changed("DaemonSet", label).metadata).toMatchObject({ generation: 1, annotations: { [key]: "1" } });
  });
});

describe("refused", () => {
  test.each<[Kind, object, string]>([
    ["Deployment", { selector: null }, "spec.selector: Required value"],
    ["Deployment", { selector: {} }, "empty selector is invalid for deployment"],
    ["Deployment", { selector: { matchLabels: { app: "x" } } }, "`selector` does not match template `labels`"],
    ["Deployment", { strategy: { type: "Recreate", rollingUpdate: {} } }, "spec.strategy.rollingUpdate: Forbidden"],
    [
      "Deployment",
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } },
      "may not be 0 when `maxSurge` is 0",
    ],
    ["Deployment", { progressDeadlineSeconds: 5, minReadySeconds: 5 }, "must be greater than minReadySeconds"],
    ["Deployment", { template: template({ restartPolicy: "Never" }) }, 'Unsupported value: "Never"'],
    [
      "ReplicaSet",
      { template: template({ activeDeadlineSeconds: 5 }) },
      "activeDeadlineSeconds in ReplicaSet is not Supported",
    ],
    [
      "DaemonSet",
      { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
      "may not be set when maxUnavailable is non-zero",
    ],
    ["DaemonSet", { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }, "cannot be 0 when maxSurge is 0"],
    ["StatefulSet", { podManagementPolicy: "Random" }, "must be 'OrderedReady' or 'Parallel'"],
    [
      "StatefulSet",
      { volumeClaimTemplates: [{ metadata: { name: "d" }, spec: {} }] },
      "volumeClaimTemplates[0].spec.accessModes",
    ],
    ["Job", { template: template() }, "spec.template.spec.restartPolicy: Required value"],
    ["Job", { completionMode: "Indexed", parallelism: 1 }, "when completion mode is Indexed"],
    ["Job", { backoffLimitPerIndex: 1 }, "requires indexed completion mode"],
  ])("%s %j", (kind, spec, why) => {
    expect(() => created(kind, spec)).toThrow(why);
  });

  test.each<[Kind, (object: Workload) => void, string]>([
    [
      "Deployment",
      ({ spec }) => Object.assign(spec.selector ?? {}, { matchExpressions: [{ key: "app", operator: "Exists" }] }),
      "field is immutable",
    ],
    [
      "StatefulSet",
      ({ spec }) => Object.assign(spec, { serviceName: "other" }),
      "updates to statefulset spec for fields other than",
    ],
    [
      "Job",
      ({ spec }) => Object.assign(spec, { completions: 5 }),
      "spec.completions: Invalid value: 5: field is immutable",
    ],
  ])("a change of %s", (kind, change, why) => {
    expect(() => changed(kind, change)).toThrow(why);
  });

  test("an indexed job may grow, all its pods at once", () => {
    const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2 };
    const grow =
      (parallelism: number) =>
      ({ spec }: Workload) =>
        Object.assign(spec, { completions: 3, parallelism });
    expect(changed("Job", grow(3), indexed).spec).toMatchObject({ completions: 3 });
    expect(() => changed("Job", grow(2), indexed)).toThrow("can only be modified in tandem with spec.parallelism");
  });
});
