// Rules about a pod's claims: whether they can be used at all, where their volumes are or may be made, how many a
// node's drivers attach, and who else uses them.

import { regionKey, zoneKey } from "../../../src/api/node.ts";
import type { Pod } from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../src/api/storage.ts";
import type { Problem } from "../../../src/decide/packing/problem.ts";
import { namespaceOf, type Spot } from "./cluster.ts";
import type { Cluster } from "./crowds.ts";
import { matchesTerm } from "./matching.ts";

export function misplaced(pod: Pod, { machine, shape }: Spot, { problem }: Cluster): string | undefined {
  for (const { name, isEphemeral } of claimsOf(pod)) {
    const claim = findClaim(name, pod, problem);
    if (claim === undefined || claim.status?.phase === "Lost") return `cannot have claim ${name}: it is not there`;
    const { volumeName } = claim.spec;
    const trouble = volumeName
      ? volumeTrouble({ volumeName, isEphemeral, labels: shape.labels }, problem)
      : classTrouble(claim, { name: machine.name, labels: shape.labels }, problem);
    if (trouble !== undefined) return `cannot have claim ${name}: ${trouble}`;
  }
  return undefined;
}

/** Volumes that are attached already take no second place. */
export function overAttached(pod: Pod, { machine }: Spot, { problem }: Cluster): string | undefined {
  if (claimsOf(pod).length === 0) return undefined;
  const csiNode = problem.csiNodes.find(({ metadata }) => metadata.name === machine.name);
  const attached = new Set(machine.pods.flatMap(one => handlesOf(one, problem)));
  const wanted = new Set(handlesOf(pod, problem).filter(handle => !attached.has(handle)));
  for (const { name, allocatable } of csiNode?.spec.drivers ?? []) {
    const of = (handles: ReadonlySet<string>) => [...handles].filter(handle => handle.startsWith(`${name}\n`)).length;
    const limit = allocatable?.count;
    if (limit !== undefined && of(wanted) > 0 && of(attached) + of(wanted) > limit) {
      return `attaches at most ${limit} volumes of ${name}`;
    }
  }
  return undefined;
}

export function usedByAnother(pod: Pod, _spot: Spot, { problem, machines }: Cluster): string | undefined {
  if (claimsOf(pod).length === 0) return undefined;
  const everybody = machines.flatMap(({ pods }) => pods);
  for (const { name, isEphemeral } of claimsOf(pod)) {
    const modes = findClaim(name, pod, problem)?.spec.accessModes ?? [];
    if (isEphemeral || !modes.includes("ReadWriteOncePod")) continue;
    const user = everybody.find(
      other =>
        namespaceOf(other) === namespaceOf(pod) && claimsOf(other).some(one => one.name === name && !one.isEphemeral),
    );
    if (user) return `cannot have claim ${name} while ${user.metadata.name} uses it`;
  }
  return undefined;
}

function claimsOf({ metadata, spec }: Pod): { name: string; isEphemeral: boolean }[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : undefined);
    return claim === undefined ? [] : [{ name: claim, isEphemeral: persistentVolumeClaim === undefined }];
  });
}

function findClaim(name: string, pod: Pod, { claims }: Problem): PersistentVolumeClaim | undefined {
  return claims.find(
    ({ metadata }) => metadata.name === name && (metadata.namespace ?? "default") === namespaceOf(pod),
  );
}

type Bound = { volumeName: string; isEphemeral: boolean; labels: Labels };

function volumeTrouble({ volumeName, isEphemeral, labels }: Bound, { volumes }: Problem): string | undefined {
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (volume === undefined) return `there is no volume ${volumeName}`;
  const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms;
  if (terms !== undefined && !terms.some(term => matchesTerm(term, { name: "", labels }))) return "it is elsewhere";
  return isEphemeral || isInZone(volume, labels) ? undefined : "it is in another zone";
}

const oldKeys: Labels = {
  "failure-domain.beta.kubernetes.io/zone": zoneKey,
  "failure-domain.beta.kubernetes.io/region": regionKey,
};
const placeKeys = [...Object.keys(oldKeys), zoneKey, regionKey];

/** By the labels of the volume. A node that says nothing about its place is taken for right. */
function isInZone({ metadata }: PersistentVolume, labels: Labels): boolean {
  if (placeKeys.every(key => labels[key] === undefined)) return true;
  return placeKeys.every(key => {
    const zones = metadata.labels?.[key];
    const zone = labels[key] ?? labels[oldKeys[key] ?? key];
    return zones === undefined || (zone !== undefined && zones.split("__").includes(zone));
  });
}

type Place = { name: string; labels: Labels };

function classTrouble(claim: PersistentVolumeClaim, { name, labels }: Place, problem: Problem): string | undefined {
  const found = classOf(claim, problem);
  if (found === undefined) return "it has no class";
  if (found.volumeBindingMode !== "WaitForFirstConsumer") return "it is not bound";
  if (found.provisioner === "kubernetes.io/no-provisioner") return "nobody makes its volume";
  const selected = claim.metadata.annotations?.["volume.kubernetes.io/selected-node"];
  if (selected !== undefined && selected !== name) return `its volume is being made for ${selected}`;
  const terms = found.allowedTopologies ?? [];
  const isAllowed = terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.some(value => labels[key] === value)),
  );
  return terms.length === 0 || isAllowed ? undefined : "its volume cannot be made there";
}

/** A claim that names no class gets the default one, once there is one. */
function classOf({ spec }: PersistentVolumeClaim, { storageClasses }: Problem): StorageClass | undefined {
  const isDefault = ({ metadata }: StorageClass) =>
    metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";
  if (spec.storageClassName === undefined) return storageClasses.find(isDefault);
  return storageClasses.find(({ metadata }) => metadata.name === spec.storageClassName);
}

/** Driver and volume. One that is still to be made is known by its claim. */
function handlesOf(pod: Pod, problem: Problem): string[] {
  return claimsOf(pod).flatMap(({ name }) => {
    const claim = findClaim(name, pod, problem);
    if (claim === undefined) return [];
    const volume = problem.volumes.find(({ metadata }) => metadata.name === claim.spec.volumeName);
    if (volume !== undefined)
      return volume.spec.csi ? [`${volume.spec.csi.driver}\n${volume.spec.csi.volumeHandle}`] : [];
    const found = classOf(claim, problem);
    return found === undefined ? [] : [`${found.provisioner}\n${namespaceOf(pod)}/${name}`];
  });
}
