import { describe, expect, test } from "vitest";
import { podSummary } from "./pod-status.ts";
import type { ContainerStatus, Pod, PodSpec, PodStatus } from "./pod-types.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const metadata = { name: "p", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

const aPod = (status: PodStatus, spec: Partial<PodSpec> = {}, deleted = false): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: deleted ? { ...metadata, deletionTimestamp: "2026-01-01T00:30:00Z" } : metadata,
  spec: { containers: [{ name: "main", resources: {} }], ...spec },
  status,
});

const aStatus = (state: ContainerStatus["state"], extra: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: "main",
  ready: false,
  restartCount: 0,
  state,
  lastState: {},
  ...extra,
});
const running = aStatus({ running: { startedAt: null } }, { ready: true });
const waiting = (reason: string) => aStatus({ waiting: { reason } });
const ended = (exitCode: number, extra: { reason?: string; signal?: number } = {}) =>
  aStatus({ terminated: { exitCode, finishedAt: null, ...extra } });
const init = { initContainers: ["a", "b"].map(name => ({ name, resources: {} })) };
const condition = (type: string, status: string, reason?: string) => ({ type, status, ...(reason && { reason }) });

describe("in a word", () => {
  const of = (pod: Pod) => podSummary(pod, now).status;
  test.each<[string, Pod]>([
    ["Pending", aPod({ phase: "Pending" })],
    ["Running", aPod({ phase: "Running", containerStatuses: [running] })],
    ["Evicted", aPod({ phase: "Failed", reason: "Evicted" })],
    [
      "SchedulingGated",
      aPod({ phase: "Pending", conditions: [condition("PodScheduled", "False", "SchedulingGated")] }),
    ],
    ["CrashLoopBackOff", aPod({ phase: "Running", containerStatuses: [waiting("CrashLoopBackOff")] })],
    ["OOMKilled", aPod({ phase: "Failed", containerStatuses: [ended(137, { reason: "OOMKilled" })] })],
    ["Signal:9", aPod({ phase: "Failed", containerStatuses: [ended(137, { signal: 9 })] })],
    ["ExitCode:3", aPod({ phase: "Failed", containerStatuses: [ended(3)] })],
    ["Completed", aPod({ phase: "Succeeded", containerStatuses: [ended(0, { reason: "Completed" })] })],
    ["NotReady", aPod({ phase: "Running", containerStatuses: [ended(0, { reason: "Completed" }), running] })],
    [
      "Running",
      aPod({
        phase: "Running",
        conditions: [condition("Ready", "True")],
        containerStatuses: [ended(0, { reason: "Completed" }), running],
      }),
    ],
    [
      "Error",
      aPod({ phase: "Failed", containerStatuses: [ended(0, { reason: "Completed" }), ended(1, { reason: "Error" })] }),
    ],
    ["Init:0/2", aPod({ phase: "Pending", initContainerStatuses: [waiting("PodInitializing")] }, init)],
    ["Init:1/2", aPod({ phase: "Pending", initContainerStatuses: [ended(0), aStatus({})] }, init)],
    ["Init:Error", aPod({ phase: "Pending", initContainerStatuses: [ended(1, { reason: "Error" })] }, init)],
    ["Init:ExitCode:2", aPod({ phase: "Pending", initContainerStatuses: [ended(2)] }, init)],
    ["Init:Signal:9", aPod({ phase: "Pending", initContainerStatuses: [ended(2, { signal: 9 })] }, init)],
    ["Init:ImagePullBackOff", aPod({ phase: "Pending", initContainerStatuses: [waiting("ImagePullBackOff")] }, init)],
    ["Terminating", aPod({ phase: "Running", containerStatuses: [running] }, {}, true)],
    ["Unknown", aPod({ phase: "Running", reason: "NodeLost" }, {}, true)],
    ["Completed", aPod({ phase: "Succeeded", containerStatuses: [ended(0, { reason: "Completed" })] }, {}, true)],
  ])("%s", (word, pod) => {
    expect(of(pod)).toBe(word);
  });
});

describe("restarts", () => {
  const before = (finishedAt: string) => ({ terminated: { exitCode: 1, finishedAt } });
  const of = (status: PodStatus, spec: Partial<PodSpec> = {}) => podSummary(aPod(status, spec), now).restarts;

  test("none", () => {
    expect(of({ containerStatuses: [running] })).toBe("0");
  });

  test("with the time since the last of them", () => {
    const statuses = [
      { ...running, restartCount: 2, lastState: before("2026-01-01T00:10:00Z") },
      { ...running, restartCount: 1, lastState: before("2026-01-01T00:55:00Z") },
    ];
    expect(of({ containerStatuses: statuses })).toBe("3 (5m ago)");
  });

  test("those of init containers count until the pod is initialized", () => {
    const status = { initContainerStatuses: [{ ...waiting("CrashLoopBackOff"), restartCount: 4 }] };
    expect(of(status, init)).toBe("4");
    const initialized = { ...status, conditions: [condition("Initialized", "True")], containerStatuses: [running] };
    expect(of(initialized, init)).toBe("0");
  });

  test("those of a sidecar go on counting", () => {
    const sidecar = { initContainers: [{ name: "s", resources: {}, restartPolicy: "Always" }] };
    const proxy = { ...running, name: "s", started: true, restartCount: 2 };
    const pod = aPod({ phase: "Running", initContainerStatuses: [proxy], containerStatuses: [running] }, sidecar);
    expect(podSummary(pod, now)).toEqual({ ready: "2/2", status: "Running", restarts: "2" });
  });
});
