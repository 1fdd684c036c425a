// Runs a Job's pods to their end: so many at a time until enough have succeeded or too many have failed. Every pod is
// counted once, with the finalizer that keeps it until it is. Indexed jobs are run as if they were not.

import { deepEqual } from "../json-value.ts";
import { timestamp } from "../object-meta.ts";
import { conditionOf, isReady, isTrue, replaced, type Verdict } from "./conditions.ts";
import { hasEnded, isActive, isDeleting, type Job, type JobStatus, type Pod } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { podOf } from "./pod-template.ts";
import { type ControllerOptions, controllerWorker } from "./workload-controller.ts";
import type { Worker } from "./worker.ts";

const trackingFinalizer = "batch.kubernetes.io/job-tracking";
const backoffMinMs = 10_000;
const backoffMaxMs = 10 * 60_000;

/** Counted, and their finalizer not seen to be gone; the last failure and how many came without a success between. */
type Memory = { counted: Set<string>; failures: number; failedAt: number };

export function jobController(picture: Picture, options: ControllerOptions = {}): Worker {
  const { jobs, pods } = picture;
  const memoryByUid = new Map<string, Memory>();
  jobs.onChange(({ object, isGone }) => {
    if (isGone) memoryByUid.delete(object.metadata.uid);
  });
  const sync = (job: Job) => {
    const memory = memoryByUid.get(job.metadata.uid) ?? { counted: new Set(), failures: 0, failedAt: 0 };
    memoryByUid.set(job.metadata.uid, memory);
    return syncJob(picture, job, memory);
  };
  return controllerWorker(picture, { kind: "Job", owners: jobs, dependents: [pods], sync }, options);
}

async function syncJob(picture: Picture, job: Job, memory: Memory): Promise<number | undefined> {
  const now = picture.clock.now();
  const pods = picture.podsByController.of(job.metadata.uid);
  const isOver = isDeleting(job) || isTrue(job, "Complete") || isTrue(job, "Failed");
  if (isOver || job.spec.managedBy !== undefined) {
    await release(picture, pods);
    return undefined;
  }
  const look = lookAt(job, pods, memory);
  const verdict = verdictOf(job, look, now);
  const wakeAt = await manage(picture, job, { look, verdict, memory, now });
  const status = statusOf(job, { look, verdict, pods: picture.podsByController.of(job.metadata.uid), now });
  if (!deepEqual(status, job.status)) await picture.jobs.updateStatus(job, status);
  for (const pod of look.finished) memory.counted.add(pod.metadata.uid);
  if (look.succeededNow > 0) memory.failures = 0;
  else if (look.failedNow > 0) Object.assign(memory, { failures: memory.failures + look.failedNow, failedAt: now });
  await release(picture, look.finished);
  return wakeAt;
}

type Look = {
  active: readonly Pod[];
  terminating: readonly Pod[];
  /** Ended, or deleted before they did, and not yet counted. */
  finished: readonly Pod[];
  succeededNow: number;
  failedNow: number;
  succeeded: number;
  failed: number;
};

function lookAt({ status }: Job, pods: readonly Pod[], { counted }: Memory): Look {
  const isUncounted = ({ metadata }: Pod) => isTracked(metadata.finalizers) && !counted.has(metadata.uid);
  const finished = pods.filter(pod => isUncounted(pod) && (hasEnded(pod) || isDeleting(pod)));
  const succeededNow = finished.filter(pod => pod.status.phase === "Succeeded").length;
  const failedNow = finished.length - succeededNow;
  return {
    active: pods.filter(isActive),
    terminating: pods.filter(pod => isDeleting(pod) && !hasEnded(pod)),
    finished,
    succeededNow,
    failedNow,
    succeeded: (status.succeeded ?? 0) + succeededNow,
    failed: (status.failed ?? 0) + failedNow,
  };
}

function isTracked(finalizers: readonly string[] | undefined): boolean {
  return finalizers?.includes(trackingFinalizer) === true;
}

/** The first word on how it ends; it stays, and the last one follows when no pod is left. */
function verdictOf(job: Job, { succeeded, failed, active }: Look, now: number): Verdict | undefined {
  const { spec, status } = job;
  const told = [conditionOf(job, "SuccessCriteriaMet"), conditionOf(job, "FailureTarget")].find(
    one => one !== undefined,
  );
  if (told !== undefined) return told;
  const fail = (reason: string, message: string): Verdict => ({
    type: "FailureTarget",
    status: "True",
    reason,
    message,
  });
  if (failed > (spec.backoffLimit ?? 6)) {
    return fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const deadlineAt = Date.parse(status.startTime ?? "") + (spec.activeDeadlineSeconds ?? Number.NaN) * 1000;
  if (deadlineAt <= now) return fail("DeadlineExceeded", "Job was active longer than specified deadline");
  const isDone = spec.completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= spec.completions;
  if (!isDone) return undefined;
  const message = "Reached expected number of succeeded pods";
  return { type: "SuccessCriteriaMet", status: "True", reason: "CompletionsReached", message };
}

type Managing = { look: Look; verdict: Verdict | undefined; memory: Memory; now: number };

/** Makes and deletes pods; returns when to look again. */
async function manage(
  picture: Picture,
  job: Job,
  { look, verdict, memory, now }: Managing,
): Promise<number | undefined> {
  const { spec, status } = job;
  const { active, succeeded, failedNow } = look;
  const parallelism = spec.parallelism ?? 1;
  const left =
    spec.completions === undefined ? (succeeded > 0 ? active.length : parallelism) : spec.completions - succeeded;
  const wanted = verdict !== undefined || spec.suspend ? 0 : Math.min(parallelism, Math.max(0, left));
  for (const pod of active.slice(wanted)) await picture.pods.delete(pod);
  const deadlineAt = Date.parse(status.startTime ?? timestamp(now)) + (spec.activeDeadlineSeconds ?? Number.NaN) * 1000;
  const looks = Number.isNaN(deadlineAt) || verdict !== undefined ? [] : [deadlineAt];
  const failures = memory.failures + failedNow;
  const failedAt = failedNow > 0 ? now : memory.failedAt;
  const retryAt = failures === 0 ? now : failedAt + Math.min(backoffMaxMs, backoffMinMs * 2 ** (failures - 1));
  const missing = wanted - active.length;
  if (missing > 0 && retryAt > now) looks.push(retryAt);
  const madeNow = retryAt <= now ? missing : 0;
  for (let i = 0; i < madeNow; i++) await picture.pods.create(jobPod(job));
  return looks.length === 0 ? undefined : Math.min(...looks);
}

function jobPod(job: Job) {
  const { metadata, spec } = job;
  const named = { generateName: `${metadata.name}-` };
  return podOf(job, { template: spec.template, named, finalizers: [trackingFinalizer] });
}

type Writing = { look: Look; verdict: Verdict | undefined; pods: readonly Pod[]; now: number };

function statusOf({ spec, status: before }: Job, { look, verdict, pods, now }: Writing): JobStatus {
  const active = pods.filter(isActive);
  const { succeeded, failed } = look;
  const terminating = pods.filter(pod => isDeleting(pod) && !hasEnded(pod)).length;
  const isLast = verdict !== undefined && active.length + terminating + look.finished.length === 0;
  const conditions = conditionsOf(spec.suspend === true, before, { verdict, isLast, now });
  const at = timestamp(now);
  const startTime = before.startTime ?? (spec.suspend ? undefined : at);
  return {
    ...(active.length > 0 && { active: active.length }),
    ready: active.filter(isReady).length,
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    terminating,
    ...(startTime && { startTime }),
    ...(isLast && verdict.type === "SuccessCriteriaMet" && { completionTime: at }),
    uncountedTerminatedPods: {},
    ...(conditions.length > 0 && { conditions }),
  };
}

type Ending = { verdict: Verdict | undefined; isLast: boolean; now: number };

function conditionsOf(isSuspended: boolean, { conditions = [] }: JobStatus, { verdict, isLast, now }: Ending) {
  const at = { lastProbeTime: timestamp(now), lastTransitionTime: timestamp(now) };
  const suspension = conditions.find(({ type }) => type === "Suspended");
  let next = [...conditions];
  if (isSuspended !== (suspension?.status === "True") && (isSuspended || suspension)) {
    const [status, reason, message] = isSuspended
      ? ["True", "JobSuspended", "Job suspended"]
      : ["False", "JobResumed", "Job resumed"];
    next = replaced(next, { type: "Suspended", status, reason, message, ...at });
  }
  if (verdict === undefined) return next;
  const { reason, message } = verdict;
  const said = { status: "True", ...(reason && { reason }), ...(message && { message }), ...at };
  if (!next.some(({ type }) => type === verdict.type)) next.push({ type: verdict.type, ...said });
  if (isLast) next.push({ type: verdict.type === "FailureTarget" ? "Failed" : "Complete", ...said });
  return next;
}

async function release({ pods }: Picture, finished: readonly Pod[]): Promise<void> {
  for (const pod of finished) {
    const { finalizers, uid } = pod.metadata;
    if (!isTracked(finalizers)) continue;
    const kept = finalizers?.filter(name => name !== trackingFinalizer) ?? [];
    await pods.patch(pod, { type: "merge", body: { metadata: { uid, finalizers: kept.length > 0 ? kept : null } } });
  }
}
