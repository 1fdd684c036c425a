// The life of a pod on a node as its kubelet sees it: what comes next and when, and the status that says so.
// Containers are never restarted: one that ends ends its pod.

import { timestamp } from "../object-meta.ts";
import { conditionOf, isReady, type Verdict, withTransition } from "./conditions.ts";
import { type Container, hasEnded, isDeleting, type Phase, type Pod } from "./objects.ts";
import type { PodBehaviour } from "./simulated-faults.ts";

/** What the kubelet remembers of a pod: when it first saw it bound, running and about to stop. */
export type Sighting = { boundAt: number; runningAt?: number; stoppingAt?: number };

/** How long things take where the pod does not say so itself. */
export type Pace = { startMs: number; stopMs: number; jobMs: number };

export type Step = { kind: "start" | "ready" | "end" | "stop"; at: number; exitCode: number };

export function nextStep(pod: Pod, sighting: Sighting, behaviour: PodBehaviour & Pace): Step | undefined {
  const { boundAt, runningAt = boundAt, stoppingAt } = sighting;
  if (isDeleting(pod)) {
    // Stopped and told so; a finalizer of somebody else keeps the object.
    if (hasEnded(pod) && pod.metadata.deletionGracePeriodSeconds === 0) return undefined;
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    const takesMs = hasEnded(pod) ? 0 : behaviour.stopMs;
    // Whoever does not stop in time is killed.
    const exitCode = takesMs > graceMs ? 137 : 0;
    return { kind: "stop", at: (stoppingAt ?? boundAt) + Math.min(takesMs, graceMs), exitCode };
  }
  if (hasEnded(pod)) return undefined;
  if (pod.status.phase !== "Running") return { kind: "start", at: boundAt + behaviour.startMs, exitCode: 0 };
  const end = behaviour.end ?? (runsForEver(pod) ? undefined : { afterMs: behaviour.jobMs, exitCode: 0 });
  const readyAt = runningAt + readyAfterMs(pod, behaviour);
  const endAt = runningAt + (end?.afterMs ?? Number.POSITIVE_INFINITY);
  if (!isReady(pod) && readyAt < endAt && readyAt < Number.POSITIVE_INFINITY) {
    return { kind: "ready", at: readyAt, exitCode: 0 };
  }
  return endAt === Number.POSITIVE_INFINITY ? undefined : { kind: "end", at: endAt, exitCode: end?.exitCode ?? 0 };
}

/** Ready as soon as it runs: no probe, and nobody asked for a wait. */
export function isReadyAtOnce(pod: Pod, behaviour: PodBehaviour): boolean {
  return readyAfterMs(pod, behaviour) === 0;
}

export type Writing = { now: number; hostIP: string; podIP: string };

export function runningStatus(pod: Pod, isPodReady: boolean, { now, hostIP, podIP }: Writing): object {
  const since = pod.status.startTime ?? timestamp(now);
  const containers = pod.spec.containers.map(container => ({
    ...containerStatus(container, isPodReady),
    started: true,
    state: { running: { startedAt: since } },
  }));
  return {
    phase: "Running" satisfies Phase,
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    conditions: conditionsOf(pod, { isPodReady, hasSandbox: true }, now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: pod.spec.hostNetwork ? hostIP : podIP,
    podIPs: [{ ip: pod.spec.hostNetwork ? hostIP : podIP }],
    startTime: since,
    containerStatuses: containers,
  };
}

export function endedStatus(pod: Pod, exitCode: number, now: number): object {
  const startTime = pod.status.startTime ?? timestamp(now);
  const reason = exitCode === 0 ? "Completed" : "Error";
  const terminated = { exitCode, reason, startedAt: startTime, finishedAt: timestamp(now) };
  return {
    phase: (exitCode === 0 ? "Succeeded" : "Failed") satisfies Phase,
    conditions: conditionsOf(pod, { isPodReady: false, hasSandbox: false, isCompleted: exitCode === 0 }, now),
    startTime,
    containerStatuses: pod.spec.containers.map(container => ({
      ...containerStatus(container, false),
      started: false,
      state: { terminated },
    })),
  };
}

function runsForEver({ spec }: Pod): boolean {
  return (spec.restartPolicy ?? "Always") === "Always";
}

/** A readiness probe passes at its first look, which comes after its delay. */
function readyAfterMs({ spec }: Pod, { readyMs }: PodBehaviour): number {
  if (readyMs !== undefined) return readyMs;
  const delays = spec.containers.map(({ readinessProbe }) => readinessProbe?.initialDelaySeconds ?? 0);
  return Math.max(0, ...delays) * 1000;
}

function containerStatus({ name, image = "" }: Container, isContainerReady: boolean) {
  return { name, image, imageID: image, ready: isContainerReady, restartCount: 0, lastState: {} };
}

type Standing = { isPodReady: boolean; hasSandbox: boolean; isCompleted?: boolean };

function conditionsOf(pod: Pod, { isPodReady, hasSandbox, isCompleted }: Standing, now: number): object[] {
  const notReady = isCompleted
    ? { reason: "PodCompleted" }
    : { reason: "ContainersNotReady", message: `containers with unready status: [${names(pod)}]` };
  const verdicts: Verdict[] = [
    { type: "PodReadyToStartContainers", ...(hasSandbox ? { status: "True" } : { status: "False" }) },
    { type: "Initialized", status: "True", ...(isCompleted && { reason: "PodCompleted" }) },
    { type: "Ready", ...(isPodReady ? { status: "True" } : { status: "False", ...notReady }) },
    { type: "ContainersReady", ...(isPodReady ? { status: "True" } : { status: "False", ...notReady }) },
    { type: "PodScheduled", status: "True" },
  ];
  return verdicts.map(verdict => ({
    // A patch merges conditions by type, so what no longer holds is taken away by name.
    reason: null,
    message: null,
    ...withTransition(conditionOf(pod, verdict.type), verdict, now),
    lastProbeTime: null,
  }));
}

function names({ spec }: Pod): string {
  return spec.containers.map(({ name }) => name).join(" ");
}
