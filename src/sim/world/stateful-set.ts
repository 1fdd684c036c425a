// Keeps the numbered pods of a StatefulSet, in order unless it says otherwise, and rolls them from the last to the
// first. A pod that is made again is made from the current template: the box keeps no old ones.

import { ApiError } from "../../api/status.ts";
import { deepEqual } from "../json-value.ts";
import { isReady } from "./conditions.ts";
import { hasEnded, isDeleting, type Pod, type StatefulSet } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { countsOf, isAvailable, podOf, templateHash } from "./pod-template.ts";
import { claimResource } from "./resources.ts";
import { type ControllerOptions, controllerWorker } from "./workload-controller.ts";
import type { Worker } from "./worker.ts";

const revisionLabel = "controller-revision-hash";

export function statefulSetController(picture: Picture, options: ControllerOptions = {}): Worker {
  const { statefulSets, pods } = picture;
  const sync = (owner: StatefulSet) => syncStatefulSet(picture, owner);
  return controllerWorker(picture, { kind: "StatefulSet", owners: statefulSets, dependents: [pods], sync }, options);
}

async function syncStatefulSet(picture: Picture, set: StatefulSet): Promise<number | undefined> {
  const { metadata } = set;
  const now = picture.clock.now();
  const revision = `${metadata.name}-${templateHash(set.spec.template)}`;
  const step = isDeleting(set)
    ? undefined
    : nextSteps(set, picture.podsByController.of(metadata.uid), { revision, now });
  for (const { pod } of step?.deletes ?? []) await picture.pods.delete(pod);
  for (const ordinal of step?.creates ?? []) await make(picture, set, { ordinal, revision });
  const pods = picture.podsByController.of(metadata.uid);
  const status = statusOf(set, pods, { revision, now });
  if (!deepEqual(status, set.status)) await picture.statefulSets.updateStatus(set, status);
  return countsOf(pods, set.spec.minReadySeconds ?? 0, now).wakeAt;
}

type Look = { revision: string; now: number };
type Numbered = { ordinal: number; pod: Pod };
export type Steps = { creates: readonly number[]; deletes: readonly Numbered[] };

/** In order: one step, and the next one when it has been taken. In parallel: all that are open, but roll one by one. */
export function nextSteps(set: StatefulSet, pods: readonly Pod[], { revision, now }: Look): Steps {
  const { spec } = set;
  const start = spec.ordinals?.start ?? 0;
  const end = start + (spec.replicas ?? 1);
  const numbered = pods.flatMap(pod => ({ ordinal: ordinalOf(set, pod), pod })).sort((a, b) => a.ordinal - b.ordinal);
  const podByOrdinal = new Map(numbered.map(({ ordinal, pod }) => [ordinal, pod]));
  const isHealthy = (pod: Pod) => !isDeleting(pod) && isAvailable(pod, spec.minReadySeconds ?? 0, now);
  const creates: number[] = [];
  const deletes: Numbered[] = [];
  const isOrdered = spec.podManagementPolicy !== "Parallel";
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = podByOrdinal.get(ordinal);
    if (pod === undefined) creates.push(ordinal);
    else if (hasEnded(pod) && !isDeleting(pod)) deletes.push({ ordinal, pod });
    if (isOrdered && (pod === undefined || !isHealthy(pod))) return { creates, deletes };
  }
  const condemned = numbered.filter(({ ordinal }) => ordinal < start || ordinal >= end).reverse();
  const firstSick = condemned.findLast(({ pod }) => !isHealthy(pod));
  for (const one of condemned) {
    if (isOrdered && (isDeleting(one.pod) || (firstSick && firstSick !== one))) return { creates, deletes };
    if (!isDeleting(one.pod)) deletes.push(one);
    if (isOrdered) return { creates, deletes };
  }
  if (spec.updateStrategy.type === "OnDelete" || creates.length + deletes.length > 0) return { creates, deletes };
  const partition = Math.max(start, start + (spec.updateStrategy.rollingUpdate?.partition ?? 0));
  for (let ordinal = end - 1; ordinal >= partition; ordinal--) {
    const pod = podByOrdinal.get(ordinal);
    if (pod === undefined) break;
    if (pod.metadata.labels?.[revisionLabel] !== revision && !isDeleting(pod)) deletes.push({ ordinal, pod });
    if (deletes.length > 0 || !isHealthy(pod)) break;
  }
  return { creates, deletes };
}

function ordinalOf({ metadata }: StatefulSet, pod: Pod): number {
  return Number(pod.metadata.name.slice(metadata.name.length + 1));
}

type Making = { ordinal: number; revision: string };

async function make(picture: Picture, set: StatefulSet, { ordinal, revision }: Making): Promise<void> {
  const { metadata, spec } = set;
  const name = `${metadata.name}-${ordinal}`;
  const claims = (spec.volumeClaimTemplates ?? []).map(template => template.metadata.name);
  for (const claim of claims) await makeClaim(picture, set, { claim, name });
  const volumes = [
    ...(spec.template.spec.volumes ?? []).filter(volume => !claims.includes(volume.name)),
    ...claims.map(claim => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } })),
  ];
  const identity = { hostname: name, ...(spec.serviceName && { subdomain: spec.serviceName }) };
  await picture.pods.create(
    podOf(set, {
      template: spec.template,
      named: { name },
      labels: {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": String(ordinal),
        [revisionLabel]: revision,
      },
      spec: { ...identity, ...(volumes.length > 0 && { volumes }) },
    }),
  );
}

/** Claims outlive their pods: the next pod of that number finds what the last one left. */
async function makeClaim(
  { api }: Picture,
  { metadata, spec }: StatefulSet,
  { claim, name }: { claim: string; name: string },
): Promise<void> {
  const template = spec.volumeClaimTemplates?.find(one => one.metadata.name === claim);
  const namespace = metadata.namespace ?? "default";
  const labels = { ...template?.metadata.labels, ...spec.selector.matchLabels };
  const object = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: `${claim}-${name}`, namespace, labels },
    spec: template?.spec,
  };
  try {
    await api.create(claimResource, { namespace }, object);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  }
}

function statusOf(set: StatefulSet, pods: readonly Pod[], { revision, now }: Look): StatefulSet["status"] {
  const { metadata, spec, status: before } = set;
  const existing = pods.filter(pod => !hasEnded(pod));
  const ofRevision = (wanted: string) => {
    return existing.filter(pod => !isDeleting(pod) && pod.metadata.labels?.[revisionLabel] === wanted).length;
  };
  const updated = ofRevision(revision);
  const wanted = spec.replicas ?? 1;
  const ready = existing.filter(isReady).length;
  const isRolled = updated === wanted && existing.length === wanted && ready === wanted;
  const current = isRolled || before.currentRevision === undefined ? revision : before.currentRevision;
  const currentCount = ofRevision(current);
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    replicas: existing.length,
    ...(ready > 0 && { readyReplicas: ready }),
    ...(currentCount > 0 && { currentReplicas: currentCount }),
    ...(updated > 0 && { updatedReplicas: updated }),
    currentRevision: current,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: existing.filter(pod => isAvailable(pod, spec.minReadySeconds ?? 0, now)).length,
  };
}
