// What `kubectl get pods` says about a pod: how many containers are ready, in one word what it is doing, and how
// often its containers were restarted. Matches the server's printer of 1.36.

import { age } from "../age.ts";
import type { ContainerStatus, Pod } from "./pod-types.ts";

export type PodSummary = { ready: string; status: string; restarts: string };

type Tally = { ready: number; restarts: number; restartedAt: string | undefined; status: string };

export function podSummary(pod: Pod, now: number): PodSummary {
  const { spec, status } = pod;
  const containers = spec.containers ?? [];
  const sidecars = new Set(
    spec.initContainers?.filter(container => container.restartPolicy === "Always").map(container => container.name),
  );
  const init = tallyInit(pod, sidecars);
  const initialized = status.conditions?.find(condition => condition.type === "Initialized")?.status === "True";
  const tally = init.initializing && !initialized ? init.all : tallyContainers(pod, init);
  const { restarts, restartedAt } = tally;
  return {
    ready: `${tally.ready}/${containers.length + sidecars.size}`,
    status: deletionStatus(pod) ?? tally.status,
    restarts:
      restarts === 0 || restartedAt === undefined ? `${restarts}` : `${restarts} (${age(restartedAt, now)} ago)`,
  };
}

type InitTally = { initializing: boolean; ready: number; all: Tally; sidecars: Tally };

/** Walks the init containers up to the first that is not done. */
function tallyInit(pod: Pod, sidecars: ReadonlySet<string>): InitTally {
  const status = phaseStatus(pod);
  const tally: InitTally = {
    initializing: false,
    ready: 0,
    all: { ready: 0, restarts: 0, restartedAt: undefined, status },
    sidecars: { ready: 0, restarts: 0, restartedAt: undefined, status },
  };
  for (const [index, container] of (pod.status.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    countRestarts(tally.all, container);
    if (isSidecar) countRestarts(tally.sidecars, container);
    if (container.state.terminated?.exitCode === 0) continue;
    if (isSidecar && container.started === true) {
      if (container.ready) tally.ready++;
      continue;
    }
    tally.initializing = true;
    tally.all.status = initStatus(container, `${index}/${pod.spec.initContainers?.length ?? 0}`);
    tally.sidecars.status = tally.all.status;
    break;
  }
  tally.all.ready = tally.ready;
  tally.sidecars.ready = tally.ready;
  return tally;
}

function initStatus({ state }: ContainerStatus, progress: string): string {
  if (state.terminated) return `Init:${terminationReason(state.terminated)}`;
  const waiting = state.waiting?.reason;
  return waiting && waiting !== "PodInitializing" ? `Init:${waiting}` : `Init:${progress}`;
}

/** Once initialized only the restarts of containers that go on running count. */
function tallyContainers({ status }: Pod, init: InitTally): Tally {
  const tally = { ...init.sidecars };
  let hasRunning = false;
  let errorReason = "";
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    countRestarts(tally, container);
    const { waiting, terminated, running } = container.state;
    if (waiting?.reason) {
      tally.status = waiting.reason;
    } else if (terminated) {
      tally.status = terminationReason(terminated);
      if (terminated.exitCode !== 0) errorReason = tally.status;
    } else if (container.ready && running) {
      hasRunning = true;
      tally.ready++;
    }
  }
  if (tally.status === "Completed") {
    const ready = status.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    if (hasRunning && ready) tally.status = "Running";
    else if (errorReason) tally.status = errorReason;
    else if (hasRunning) tally.status = "NotReady";
  }
  return tally;
}

function terminationReason({ reason, signal, exitCode }: NonNullable<ContainerStatus["state"]["terminated"]>): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function countRestarts(tally: Tally, { restartCount, lastState }: ContainerStatus): void {
  tally.restarts += restartCount;
  const finishedAt = lastState.terminated?.finishedAt;
  if (finishedAt && (tally.restartedAt === undefined || finishedAt > tally.restartedAt)) tally.restartedAt = finishedAt;
}

function phaseStatus({ status }: Pod): string {
  const gated = status.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");
  return gated ? "SchedulingGated" : status.reason || status.phase || "";
}

function deletionStatus({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status.reason === "NodeLost") return "Unknown";
  return status.phase === "Succeeded" || status.phase === "Failed" ? undefined : "Terminating";
}
