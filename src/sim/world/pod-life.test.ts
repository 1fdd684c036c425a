import { describe, expect, test } from "vitest";
import type { Phase, Pod } from "./objects.ts";
import { endedStatus, nextStep, runningStatus, type Sighting } from "./pod-life.ts";
import { podBehaviour } from "./simulated-faults.ts";

type Making = {
  phase?: Phase;
  isPodReady?: boolean;
  graceSeconds?: number;
  restartPolicy?: string;
  word?: string;
  probeSeconds?: number;
};

function pod({
  phase = "Pending",
  isPodReady = false,
  graceSeconds,
  restartPolicy,
  word,
  probeSeconds,
}: Making = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "one",
      uid: "1",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(word && { annotations: { "fettle.dev/simulate": word } }),
      ...(graceSeconds !== undefined && {
        deletionTimestamp: "2026-01-01T00:00:30Z",
        deletionGracePeriodSeconds: graceSeconds,
      }),
    },
    spec: {
      containers: [
        {
          name: "main",
          ...(probeSeconds !== undefined && { readinessProbe: { initialDelaySeconds: probeSeconds } }),
        },
      ],
      ...(restartPolicy && { restartPolicy }),
    },
    status: { phase, conditions: [{ type: "Ready", status: isPodReady ? "True" : "False" }] },
  };
}

const pace = { startMs: 2000, stopMs: 1500, jobMs: 10_000 };
const step = (one: Pod, sighting: Sighting) => nextStep(one, sighting, { ...pace, ...podBehaviour(one) });

describe("what comes next for a pod", () => {
  const bound = { boundAt: 100 };
  const running = { boundAt: 100, runningAt: 5000 };
  const stopping = { boundAt: 100, runningAt: 5000, stoppingAt: 9000 };
  test.each<[string, Making, Sighting, object | undefined]>([
    ["it starts", {}, bound, { kind: "start", at: 2100 }],
    ["it starts when it says so", { word: "start=1m" }, bound, { kind: "start", at: 60_100 }],
    ["it runs for ever", { phase: "Running", isPodReady: true }, running, undefined],
    ["its probe passes", { phase: "Running", probeSeconds: 3 }, running, { kind: "ready", at: 8000 }],
    ["it is never ready", { phase: "Running", word: "ready=Never" }, running, undefined],
    [
      "a job's pod ends",
      { phase: "Running", isPodReady: true, restartPolicy: "Never" },
      running,
      { kind: "end", at: 15_000, exitCode: 0 },
    ],
    [
      "it fails when it says so",
      { phase: "Running", isPodReady: true, word: "fail=7s" },
      running,
      { kind: "end", at: 12_000, exitCode: 1 },
    ],
    [
      "an end before readiness comes first",
      { phase: "Running", word: "ready=9s, succeed=7s" },
      running,
      { kind: "end", at: 12_000 },
    ],
    [
      "it stops when it is ready to",
      { phase: "Running", graceSeconds: 30 },
      stopping,
      { kind: "stop", at: 10_500, exitCode: 0 },
    ],
    [
      "it is killed at the end of its grace",
      { phase: "Running", graceSeconds: 1 },
      stopping,
      { kind: "stop", at: 10_000, exitCode: 137 },
    ],
    [
      "it ignores the signal",
      { phase: "Running", graceSeconds: 30, word: "stop=Never" },
      stopping,
      { kind: "stop", at: 39_000, exitCode: 137 },
    ],
    [
      "it is stopped before it ran",
      { graceSeconds: 30 },
      { boundAt: 100, stoppingAt: 200 },
      { kind: "stop", at: 1700 },
    ],
    ["an ended one goes at once", { phase: "Succeeded", graceSeconds: 30 }, stopping, { kind: "stop", at: 9000 }],
    ["a finalizer holds it: nothing is left to do", { phase: "Failed", graceSeconds: 0 }, stopping, undefined],
    ["ended", { phase: "Failed" }, running, undefined],
  ])("%s", (_, making, sighting, expected) => {
    const found = step(pod(making), sighting);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

test("readiness is said of the pod and of its containers, and keeps its time while it lasts", () => {
  const one = pod({ phase: "Running", isPodReady: true });
  const writing = { now: Date.parse("2026-01-01T00:01:00Z"), hostIP: "10.128.0.1", podIP: "10.0.0.1" };
  const status = runningStatus(one, true, writing) as { conditions: object[]; containerStatuses: object[] };
  expect(status.conditions).toContainEqual({
    type: "Ready",
    status: "True",
    reason: null,
    message: null,
    lastProbeTime: null,
    lastTransitionTime: "2026-01-01T00:01:00Z",
  });
  expect(status.containerStatuses).toMatchObject([{ ready: true, started: true, state: { running: {} } }]);
});

test.each([
  [0, "Succeeded", "PodCompleted"],
  [1, "Failed", "ContainersNotReady"],
])("an exit code of %i ends a pod as %s", (exitCode, phase, reason) => {
  const status = endedStatus(pod({ phase: "Running" }), exitCode, 0) as { phase: string; conditions: object[] };
  expect(status.phase).toBe(phase);
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "False", reason }));
});
