// Keeps as many pods as a ReplicaSet asks for. Which ones go first when there are too many is kube-controller-manager's
// ranking (1.36). Pods that match its selector but are not its own are left alone.

import { deepEqual } from "../json-value.ts";
import { conditionOf, isReady } from "./conditions.ts";
import { isActive, isDeleting, type Pod, type ReplicaSet } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { podOf } from "./pod-template.ts";
import { type Tally, tallyOf } from "./replica-set-tally.ts";
import { type ControllerOptions, controllerWorker } from "./workload-controller.ts";
import type { Worker } from "./worker.ts";

const burst = 500;
/** How long its counts are gathered, unless all are there before: of a pod that goes and one in its place nothing is told. */
const tellMs = 5000;
const deletionCost = "controller.kubernetes.io/pod-deletion-cost";

export function replicaSetController(picture: Picture, options: ControllerOptions = {}): Worker {
  const { replicaSets, pods } = picture;
  const untold = new Untold();
  const sync = (owner: ReplicaSet) => syncReplicaSet(picture, owner, untold);
  replicaSets.onChange(({ object, isGone }) => isGone && untold.forget(object));
  return controllerWorker(
    picture,
    { kind: "ReplicaSet", owners: replicaSets, dependents: [pods], sync, isSaidAtOnce: true },
    options,
  );
}

/** Since when what a replica set says of itself is not what is. Nobody decides by it but a roll-out, which takes its time. */
class Untold {
  readonly #sinceByUid = new Map<string, number>();

  /** When its status is to be written: at once if something new is asked of it, or is done. */
  tellAt({ metadata, spec, status }: ReplicaSet, next: ReplicaSet["status"], now: number): number {
    if (status.observedGeneration !== metadata.generation || isComplete(next, spec.replicas ?? 1)) return now;
    const since = this.#sinceByUid.get(metadata.uid) ?? now;
    this.#sinceByUid.set(metadata.uid, since);
    return since + tellMs;
  }

  forget({ metadata }: ReplicaSet): void {
    this.#sinceByUid.delete(metadata.uid);
  }
}

async function syncReplicaSet(picture: Picture, replicaSet: ReplicaSet, untold: Untold): Promise<number | undefined> {
  let tally = tallyOf(picture, replicaSet);
  if (!isDeleting(replicaSet) && tally.activeCount !== replicasOf(replicaSet)) {
    await scale(picture, replicaSet, tally.activeCount);
    tally = tallyOf(picture, replicaSet);
  }
  const now = picture.clock.now();
  const { wakeAt } = tally;
  const status = statusOf(replicaSet, tally);
  const isTold = deepEqual(status, replicaSet.status);
  const tellAt = isTold ? now : untold.tellAt(replicaSet, status, now);
  if (tellAt > now) return Math.min(tellAt, wakeAt ?? tellAt);
  untold.forget(replicaSet);
  if (!isTold) await picture.replicaSets.updateStatus(replicaSet, status);
  return wakeAt;
}

function replicasOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

function isComplete(
  { replicas, availableReplicas = 0, terminatingReplicas }: ReplicaSet["status"],
  asked: number,
): boolean {
  return replicas === asked && availableReplicas === asked && terminatingReplicas === 0;
}

async function scale({ pods, podsByController }: Picture, replicaSet: ReplicaSet, activeCount: number): Promise<void> {
  const { metadata, spec } = replicaSet;
  const missing = replicasOf(replicaSet) - activeCount;
  for (let i = 0; i < Math.min(missing, burst); i++) {
    await pods.create(podOf(replicaSet, { template: spec.template, named: { generateName: `${metadata.name}-` } }));
  }
  if (missing >= 0) return;
  const active = podsByController.of(metadata.uid).filter(isActive);
  for (const pod of ranked(active).slice(0, Math.min(-missing, burst))) await pods.delete(pod);
}

function statusOf({ metadata, status: before }: ReplicaSet, tally: Tally): ReplicaSet["status"] {
  const { activeCount, fullyLabelledCount, readyCount, availableCount, terminatingCount } = tally;
  return {
    replicas: activeCount,
    ...(fullyLabelledCount > 0 && { fullyLabeledReplicas: fullyLabelledCount }),
    ...(readyCount > 0 && { readyReplicas: readyCount }),
    ...(availableCount > 0 && { availableReplicas: availableCount }),
    terminatingReplicas: terminatingCount,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(before.conditions && { conditions: before.conditions }),
  };
}

const phaseRank = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 } as const;

/** Those that go first: what has come least far, then those that share a node, then the youngest. */
export function ranked(pods: readonly Pod[]): Pod[] {
  const countByNode = new Map<string, number>();
  for (const { spec } of pods)
    if (spec.nodeName) countByNode.set(spec.nodeName, (countByNode.get(spec.nodeName) ?? 0) + 1);
  const rank = (pod: Pod): readonly (number | string)[] => [
    pod.spec.nodeName ? 1 : 0,
    phaseRank[pod.status.phase ?? "Pending"],
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.[deletionCost] ?? 0) || 0,
    -(countByNode.get(pod.spec.nodeName ?? "") ?? 0),
    -Date.parse(conditionOf(pod, "Ready")?.lastTransitionTime ?? "") || 0,
    -Date.parse(pod.metadata.creationTimestamp),
    pod.metadata.name,
  ];
  const ranks = new Map(pods.map(pod => [pod, rank(pod)]));
  return [...pods].sort((a, b) => compare(ranks.get(a) ?? [], ranks.get(b) ?? []));
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
