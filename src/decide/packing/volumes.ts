// What a pod's volumes ask of a node: the places where they are or may be made, and room at their drivers. A claim that
// cannot be used at all keeps the pod from every node, and is said so; so does one for devices.

import { zoneKey, regionKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  TopologySelectorTerm,
} from "../../api/storage.ts";
import type { Problem } from "./problem.ts";
import { nameField, pairs, type SetByKey, setsOfTerms } from "./requirements.ts";
import { oneOf, onlyAbsent, type ValueSet } from "./value-set.ts";

/** One volume that a driver must attach: volumes with the same handle take one place on a node. */
export type Attachment = { driver: string; handle: string };

export type VolumeNeeds = {
  /** One of them must hold; undefined: every node will do. */
  places: readonly SetByKey[] | undefined;
  attachments: readonly Attachment[];
  /** Claims that only one pod may use at a time. */
  exclusive: readonly string[];
  /** Why no node will do. */
  trouble: string | undefined;
};

export type Storage = {
  claimByKey: Map<string, PersistentVolumeClaim>;
  volumeByName: Map<string, PersistentVolume>;
  classByName: Map<string, StorageClass>;
  limitsByNode: Map<string, ReadonlyMap<string, number>>;
};

const defaultClass = "storageclass.kubernetes.io/is-default-class";
const selectedNode = "volume.kubernetes.io/selected-node";
const noNeeds: VolumeNeeds = { places: undefined, attachments: [], exclusive: [], trouble: undefined };

export function storageOf({ claims, volumes, storageClasses, csiNodes }: Problem): Storage {
  return {
    claimByKey: new Map(
      claims.map(claim => [`${claim.metadata.namespace ?? "default"}/${claim.metadata.name}`, claim]),
    ),
    volumeByName: new Map(volumes.map(volume => [volume.metadata.name, volume])),
    classByName: new Map(storageClasses.map(one => [one.metadata.name, one])),
    limitsByNode: new Map(csiNodes.map(csiNode => [csiNode.metadata.name, driverLimits(csiNode)])),
  };
}

/** How many volumes each driver can attach to a node. */
export function driverLimits({ spec }: CsiNode): ReadonlyMap<string, number> {
  const limits = spec.drivers.flatMap(({ name, allocatable }) =>
    allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
  );
  return new Map(limits);
}

export function claimKeys({ metadata, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : undefined);
    return claim === undefined ? [] : [`${metadata.namespace ?? "default"}/${claim}`];
  });
}

export function volumeNeeds(pod: Pod, storage: Storage): VolumeNeeds {
  const needs = claimKeys(pod).reduce((all, key) => both(all, claimNeeds(key, storage)), noNeeds);
  return wantsDevices(pod) ? both(needs, devices) : needs;
}

export function wantsDevices({ spec }: Pod): boolean {
  return spec.resourceClaims !== undefined && spec.resourceClaims.length > 0;
}

// As upstream by default: which node has them is not reckoned, so nothing is launched for such a pod, and none is moved.
const devices = trouble("it asks for devices by resourceClaims (DRA), and where those can be had is not known here");

function both(a: VolumeNeeds, b: VolumeNeeds): VolumeNeeds {
  return {
    places: a.places && b.places ? pairs(a.places, b.places) : (a.places ?? b.places),
    attachments: [...a.attachments, ...b.attachments],
    exclusive: [...a.exclusive, ...b.exclusive],
    trouble: a.trouble ?? b.trouble,
  };
}

function claimNeeds(key: string, { claimByKey, volumeByName, classByName }: Storage): VolumeNeeds {
  const claim = claimByKey.get(key);
  if (claim === undefined) return trouble(`persistentvolumeclaim ${key} not found`);
  const exclusive = claim.spec.accessModes?.includes("ReadWriteOncePod") ? [key] : [];
  if (claim.spec.volumeName) {
    const volume = volumeByName.get(claim.spec.volumeName);
    return volume === undefined
      ? trouble(`persistentvolume ${claim.spec.volumeName} of claim ${key} not found`)
      : { ...volumeAt(volume), exclusive };
  }
  const storageClass = classOf(claim, classByName);
  if (storageClass === undefined) return trouble(`persistentvolumeclaim ${key} has no usable storage class`);
  if (storageClass.volumeBindingMode !== "WaitForFirstConsumer") {
    return trouble(`persistentvolumeclaim ${key} is not bound yet, and its class binds at once`);
  }
  if (storageClass.provisioner === "kubernetes.io/no-provisioner") {
    return trouble(`persistentvolumeclaim ${key} is not bound, and nobody makes volumes of its class`);
  }
  const terms = storageClass.allowedTopologies ?? [];
  const node = claim.metadata.annotations?.[selectedNode];
  const byClass = terms.length === 0 ? undefined : terms.map(placesOf);
  return {
    // Once the volume is being made for a node, the pod goes there.
    places: node === undefined ? byClass : pairs(byClass ?? [new Map()], [new Map([[nameField, oneOf([node])]])]),
    attachments: [{ driver: storageClass.provisioner, handle: key }],
    exclusive,
    trouble: undefined,
  };
}

function classOf(claim: PersistentVolumeClaim, classes: ReadonlyMap<string, StorageClass>): StorageClass | undefined {
  if (claim.spec.storageClassName !== undefined) return classes.get(claim.spec.storageClassName);
  return [...classes.values()].find(({ metadata }) => metadata.annotations?.[defaultClass] === "true");
}

function volumeAt({ metadata, spec }: PersistentVolume): VolumeNeeds {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
  // Volumes of old carry their place as labels; several zones are joined by two underscores.
  const labelled = [zoneKey, regionKey].flatMap((key): [string, ValueSet][] => {
    const value = metadata.labels?.[key];
    return value === undefined ? [] : [[key, oneOf(value.split("__"))]];
  });
  // They bind only on nodes that have such labels at all.
  const placeless = new Map([zoneKey, regionKey].map(key => [key, onlyAbsent]));
  const byLabel = labelled.length === 0 ? undefined : [new Map(labelled), placeless];
  const byAffinity = terms === undefined ? undefined : setsOfTerms(terms);
  return {
    places: byLabel && byAffinity ? pairs(byLabel, byAffinity) : (byLabel ?? byAffinity),
    attachments: spec.csi ? [{ driver: spec.csi.driver, handle: spec.csi.volumeHandle }] : [],
    exclusive: [],
    trouble: undefined,
  };
}

function placesOf({ matchLabelExpressions = [] }: TopologySelectorTerm): SetByKey {
  return new Map(matchLabelExpressions.map(({ key, values }) => [key, oneOf(values)]));
}

function trouble(why: string): VolumeNeeds {
  return { ...noNeeds, trouble: why };
}
