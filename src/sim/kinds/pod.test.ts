import { describe, expect, test } from "vitest";
import { EmbeddedServer } from "../../../test/embedded-server.ts";
import type { KubeObject } from "../../api/meta.ts";
import { pod } from "./pod.ts";
import type { Pod, PodSpec } from "./pod-types.ts";

const pods = { group: "", plural: "pods" };
const container = { name: "main", image: "nginx:1" };

function created(spec: object = {}, server = new EmbeddedServer()): Pod {
  const body = { metadata: { name: "p" }, spec: { containers: [container], ...spec } };
  return server.written({ verb: "create", ...pods, body }) as Pod;
}

describe("defaults", () => {
  test("of a pod that says nothing but its image", () => {
    const { spec, status, metadata } = created();
    expect(spec).toEqual({
      containers: [
        {
          ...container,
          resources: {},
          imagePullPolicy: "IfNotPresent",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
      priority: 0,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      tolerations: ["not-ready", "unreachable"].map(word => ({
        key: `node.kubernetes.io/${word}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
    });
    expect(status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
    expect(metadata.generation).toBe(1);
  });

  test.each([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["nginx:1", "IfNotPresent"],
    ["registry:5000/nginx", "Always"],
    ["registry:5000/nginx:1", "IfNotPresent"],
    ["nginx@sha256:0", "IfNotPresent"],
    ["nginx:latest@sha256:0", "Always"],
  ])("image %s is pulled %s", (image, policy) => {
    expect(created({ containers: [{ name: "c", image }] }).spec.containers?.[0]?.imagePullPolicy).toBe(policy);
  });

  test("on the host's network a port is the host's", () => {
    const ports = [{ containerPort: 80 }];
    const { spec } = created({ hostNetwork: true, containers: [{ ...container, ports }] });
    expect(spec.containers?.[0]?.ports).toEqual([{ containerPort: 80, hostPort: 80, protocol: "TCP" }]);
  });

  test("limits are requested, what is requested stays", () => {
    const resources = { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } };
    const { spec } = created({ containers: [{ ...container, resources }] });
    expect(spec.containers?.[0]?.resources.requests).toEqual({ cpu: "1", memory: "1Gi" });
  });
});

describe("admission", () => {
  test("a pod that tolerates every taint gets no toleration more", () => {
    expect(created({ tolerations: [{ operator: "Exists" }] }).spec.tolerations).toEqual([{ operator: "Exists" }]);
  });

  test("priority comes from the class the pod names", () => {
    const { spec } = created({ priorityClassName: "system-node-critical" });
    expect(spec).toMatchObject({ priority: 2_000_001_000, preemptionPolicy: "PreemptLowerPriority" });
  });

  test("without a class it comes from the default class", () => {
    const server = new EmbeddedServer();
    const body = { metadata: { name: "usual" }, value: 7, globalDefault: true, preemptionPolicy: "Never" };
    server.written({ verb: "create", group: "scheduling.k8s.io", plural: "priorityclasses", body });
    const usual = { priority: 7, priorityClassName: "usual", preemptionPolicy: "Never" };
    expect(created({}, server).spec).toMatchObject(usual);
  });

  test("a pod is labelled with the zone and region of its node", () => {
    const server = new EmbeddedServer();
    const topology = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r" };
    const body = { metadata: { name: "n", labels: { ...topology, other: "x" } } };
    server.written({ verb: "create", group: "", plural: "nodes", body });
    expect(created({ nodeName: "n" }, server).metadata.labels).toEqual(topology);
    expect(created({ nodeName: "nowhere" }).metadata.labels).toBeUndefined();
  });

  test.each([
    [{ priorityClassName: "none" }, "no PriorityClass with name none was found"],
    [{ priority: 3 }, "the integer value of priority (3) must not be provided in pod spec"],
    [{ preemptionPolicy: "Never" }, "the string value of PreemptionPolicy (Never) must not be provided in pod spec"],
  ])("%j is forbidden", (spec, why) => {
    expect(() => created(spec)).toThrow(`pods "p" is forbidden: ${why}`);
  });
});

describe("a change of the spec", () => {
  const changed = (before: object, change: (spec: PodSpec) => void) => {
    const server = new EmbeddedServer();
    const object = created(before, server);
    change(object.spec);
    return server.written({ verb: "update", ...pods, name: "p", body: object }) as Pod;
  };

  test("of an image is counted", () => {
    const { metadata } = changed({}, spec => Object.assign(spec.containers?.[0] ?? {}, { image: "nginx:2" }));
    expect(metadata.generation).toBe(2);
  });

  test("that is none is not counted", () => {
    expect(changed({}, () => {}).metadata.generation).toBe(1);
  });

  test("may add a toleration and let a gate go", () => {
    const { spec } = changed({ schedulingGates: [{ name: "a" }] }, spec => {
      delete spec.schedulingGates;
      spec.tolerations?.push({ key: "new", operator: "Exists" });
    });
    expect(spec.tolerations).toHaveLength(3);
  });

  test.each<[string, object, (spec: PodSpec) => void, string]>([
    ["a node", {}, spec => Object.assign(spec, { nodeName: "n" }), "pod updates may not change fields other than"],
    [
      "a toleration taken away",
      { tolerations: [{ key: "mine", operator: "Exists" }] },
      spec => Object.assign(spec, { tolerations: [] }),
      "existing toleration can not be modified",
    ],
    ["a gate", {}, spec => Object.assign(spec, { schedulingGates: [{ name: "a" }] }), "only deletion is allowed"],
    [
      "a container",
      {},
      spec => spec.containers?.push({ name: "b", image: "b:1", resources: {} }),
      "add or remove containers",
    ],
    [
      "a longer deadline",
      { activeDeadlineSeconds: 5 },
      spec => Object.assign(spec, { activeDeadlineSeconds: 6 }),
      "must be less than or equal to previous value",
    ],
  ])("to %s is refused", (_, before, change, why) => {
    expect(() => changed(before, change)).toThrow(why);
  });

  test("that takes the server's own tolerations away is undone", () => {
    expect(changed({}, spec => Object.assign(spec, { tolerations: [] })).spec.tolerations).toHaveLength(2);
  });

  test("a gated pod may still be told where to run", () => {
    const before = { schedulingGates: [{ name: "a" }] };
    expect(changed(before, spec => Object.assign(spec, { nodeSelector: { zone: "a" } })).spec.nodeSelector).toEqual({
      zone: "a",
    });
  });
});

describe("grace", () => {
  const metadata = { name: "p", uid: "u", resourceVersion: "1", creationTimestamp: "" };
  const aPod = (spec: object, phase = "Running"): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: { nodeName: "n", terminationGracePeriodSeconds: 30, ...spec },
    status: { phase },
  });
  test.each<[string, KubeObject, number | undefined, number]>([
    ["as the pod says", aPod({}), undefined, 30],
    ["as asked", aPod({}), 5, 5],
    ["none asked", aPod({}), 0, 0],
    ["none without a node", aPod({ nodeName: "" }), 5, 0],
    ["none once it failed", aPod({}, "Failed"), undefined, 0],
    ["none once it succeeded", aPod({}, "Succeeded"), 9, 0],
    ["a negative one is one second", aPod({ terminationGracePeriodSeconds: -5 }), undefined, 1],
  ])("%s", (_, object, asked, seconds) => {
    expect(pod.rules.gracePeriodSeconds?.(object, asked)).toBe(seconds);
  });
});

test("the fields that pods may be chosen by", () => {
  const { spec } = created({ nodeName: "n", serviceAccountName: "robot" });
  const metadata = { name: "p", uid: "u", resourceVersion: "1", creationTimestamp: "" };
  const status = { phase: "Running", podIPs: [{ ip: "10.0.0.1" }] };
  const fields = pod.rules.selectableFields?.({ apiVersion: "v1", kind: "Pod", metadata, spec, status });
  expect(fields).toEqual({
    "spec.nodeName": "n",
    "spec.restartPolicy": "Always",
    "spec.schedulerName": "default-scheduler",
    "spec.serviceAccountName": "robot",
    "spec.hostNetwork": "false",
    "status.phase": "Running",
    "status.podIP": "10.0.0.1",
    "status.podIPs": "",
    "status.nominatedNodeName": "",
  });
});

describe("a status", () => {
  const inStatus = (status: object, before: object = {}) => {
    const server = new EmbeddedServer();
    created({ nodeName: "n", restartPolicy: "Never", ...before }, server);
    return (next: object) => {
      server.written({ verb: "merge", ...pods, name: "p", subresource: "status", body: { status } });
      const body = { status: next };
      return (server.written({ verb: "merge", ...pods, name: "p", subresource: "status", body }) as Pod).status;
    };
  };
  const state = (exitCode: number | undefined) => ({
    containerStatuses: [
      {
        name: "main",
        image: "",
        imageID: "",
        ready: false,
        restartCount: 0,
        lastState: {},
        state: exitCode === undefined ? { running: {} } : { terminated: { exitCode }, running: null },
      },
    ],
  });

  test("of a container that ended for good stays", () => {
    const again = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
    expect(() => inStatus(state(0))(state(undefined))).toThrow(again);
    expect(() => inStatus(state(0), { restartPolicy: "OnFailure" })(state(undefined))).toThrow(again);
    expect(() => inStatus(state(1), { restartPolicy: "OnFailure" })(state(undefined))).not.toThrow();
    expect(() => inStatus(state(0), { restartPolicy: "Always" })(state(undefined))).not.toThrow();
  });

  test("fills in the other form of an address", () => {
    expect(inStatus({})({ podIP: "10.0.0.1" }).podIPs).toEqual([{ ip: "10.0.0.1" }]);
  });

  test("never changes the class of service", () => {
    expect(() => inStatus({})({ qosClass: "Guaranteed" })).toThrow("status.qosClass: Invalid value");
  });

  test("once observed stays observed", () => {
    const observed = inStatus({
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }],
    });
    const later = observed({ observedGeneration: null, conditions: [{ type: "Ready", status: "False" }] });
    expect(later).toMatchObject({ observedGeneration: 1, conditions: [{ observedGeneration: 1 }] });
  });
});
