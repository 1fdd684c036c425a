// A Deployment's status: counts over its ReplicaSets, whether enough is available, and whether it still makes progress.

import { timestamp } from "../object-meta.ts";
import { conditionOf, replaced, type Verdict } from "./conditions.ts";
import type { Condition, Deployment, DeploymentStatus, ReplicaSet } from "./objects.ts";
import { fencePosts, replicasOf } from "./rolling-update.ts";

/** What has no deadline. */
const noDeadline = 2 ** 31 - 1;

type ReplicaSets = { all: readonly ReplicaSet[]; current: ReplicaSet | undefined };

export function deploymentStatus(deployment: Deployment, { all, current }: ReplicaSets, now: number): DeploymentStatus {
  const { metadata, status: before } = deployment;
  const total = (count: (replicaSet: ReplicaSet) => number | undefined) =>
    all.reduce((sum, replicaSet) => sum + (count(replicaSet) ?? 0), 0);
  const available = total(({ status }) => status.availableReplicas);
  const counts = {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...counted(
      "replicas",
      total(({ status }) => status.replicas),
    ),
    ...counted("updatedReplicas", current?.status.replicas ?? 0),
    ...counted(
      "readyReplicas",
      total(({ status }) => status.readyReplicas),
    ),
    ...counted("availableReplicas", available),
    ...counted("unavailableReplicas", Math.max(0, total(replicasOf) - available)),
    // Known once all replica sets have said it.
    ...(all.every(({ status }) => status.terminatingReplicas !== undefined) && {
      terminatingReplicas: total(({ status }) => status.terminatingReplicas),
    }),
    ...(before.collisionCount !== undefined && { collisionCount: before.collisionCount }),
  };
  const withAvailable = set(before.conditions ?? [], availability(deployment, available), now);
  const conditions = progress(deployment, { counts, current, conditions: withAvailable }, now);
  return { ...counts, ...(conditions.length > 0 && { conditions }) };
}

/** When a roll-out that makes no progress will have taken too long. */
export function progressWakeAt(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const condition = conditionOf({ status }, "Progressing");
  if (condition === undefined || !isUnderWay(condition.reason) || deadlineMs(deployment) === undefined)
    return undefined;
  const at = timedOutAt(deployment, condition);
  return at > now ? at : undefined;
}

function counted<K extends string>(field: K, count: number): { [field in K]?: number } {
  return (count > 0 ? { [field]: count } : {}) as { [field in K]?: number };
}

function availability(deployment: Deployment, available: number): Verdict {
  const isEnough = available >= (deployment.spec.replicas ?? 1) - fencePosts(deployment).unavailable;
  return isEnough
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
}

type Look = { counts: DeploymentStatus; current: ReplicaSet | undefined; conditions: Condition[] };

function progress(deployment: Deployment, { counts, current, conditions }: Look, now: number): Condition[] {
  if (deadlineMs(deployment) === undefined) return conditions.filter(({ type }) => type !== "Progressing");
  const before = conditionOf(deployment, "Progressing");
  const isDone =
    (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0) && before?.reason === "NewReplicaSetAvailable";
  if (isDone || deployment.spec.paused) return conditions;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const say = (status: string, reason: string, what: string): Verdict => {
    return { type: "Progressing", status, reason, message: `${subject} ${what}.` };
  };
  if (isComplete(deployment, counts)) {
    return set(conditions, say("True", "NewReplicaSetAvailable", "has successfully progressed"), now);
  }
  if (before === undefined || hasProgressed(deployment.status, counts)) {
    const verdict = say("True", "ReplicaSetUpdated", "is progressing");
    // Progress renews the time from which the deadline runs, even if nothing else of it changes.
    const since = before?.status === "True" ? before.lastTransitionTime : undefined;
    const times = { lastUpdateTime: timestamp(now), lastTransitionTime: since ?? timestamp(now) };
    return replaced(conditions, { ...verdict, ...times });
  }
  if (isUnderWay(before.reason) && timedOutAt(deployment, before) <= now) {
    return set(conditions, say("False", "ProgressDeadlineExceeded", "has timed out progressing"), now);
  }
  return conditions;
}

function isUnderWay(reason: string | undefined): boolean {
  return reason !== "NewReplicaSetAvailable" && reason !== "ProgressDeadlineExceeded";
}

function deadlineMs({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds } = spec;
  return progressDeadlineSeconds === undefined || progressDeadlineSeconds === noDeadline
    ? undefined
    : progressDeadlineSeconds * 1000;
}

function timedOutAt(deployment: Deployment, { lastUpdateTime }: Condition): number {
  return Date.parse(lastUpdateTime ?? "") + (deadlineMs(deployment) ?? Number.POSITIVE_INFINITY);
}

function isComplete({ metadata, spec }: Deployment, counts: DeploymentStatus): boolean {
  const wanted = spec.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = counts;
  const isCurrent = observedGeneration >= (metadata.generation ?? 0);
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted && isCurrent;
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Unchanged where status and reason are. */
function set(conditions: readonly Condition[], verdict: Verdict, now: number): Condition[] {
  const before = conditions.find(({ type }) => type === verdict.type);
  if (before?.status === verdict.status && before.reason === verdict.reason) return [...conditions];
  const since = before?.status === verdict.status ? before.lastTransitionTime : undefined;
  const at = timestamp(now);
  return replaced(conditions, { ...verdict, lastUpdateTime: at, lastTransitionTime: since ?? at });
}
