// PersistentVolume: storage that exists. Its source is fixed once written.

import type { KubeObject } from "../../api/meta.ts";
import { forbidden, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { timestamp } from "../object-meta.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text, wide } from "./column.ts";
import { immutable, oneOf, requiredText, subdomain } from "./field-rules.ts";
import { positiveErrors } from "./resource-rules.ts";
import { accessModeErrors, accessModesText, storageClassName, volumeModes } from "./volume.ts";

type PersistentVolume = KubeObject & {
  spec: {
    capacity?: Record<string, string>;
    accessModes?: string[];
    persistentVolumeReclaimPolicy?: string;
    claimRef?: { namespace?: string; name?: string };
    storageClassName?: string;
    volumeMode?: string;
    volumeAttributesClassName?: string;
    hostPath?: { path: string; type?: string };
    local?: { path: string };
    csi?: { driver: string; volumeHandle: string };
    nodeAffinity?: unknown;
    [source: string]: unknown;
  };
  status: { phase?: string; reason?: string; lastPhaseTransitionTime?: string };
};

/** In the order in which the server looks: the first one given is the volume's. */
const sourceTypes = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

export const persistentVolume = builtIn({
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
  definition: "io.k8s.api.core.v1.PersistentVolume",
  shortNames: ["pv"],
  subresources: ["status"],
  columns: [
    nameColumn,
    text("Capacity", "Size of the volume.", object => (object as PersistentVolume).spec.capacity?.storage ?? "0"),
    text("Access Modes", "How it may be mounted.", object => {
      return accessModesText((object as PersistentVolume).spec.accessModes);
    }),
    text("Reclaim Policy", "What becomes of it without its claim.", object => {
      return (object as PersistentVolume).spec.persistentVolumeReclaimPolicy ?? "";
    }),
    text("Status", "Whether a claim has it.", object => phase(object as PersistentVolume)),
    text("Claim", "Claim that has it.", object => claim(object as PersistentVolume)),
    text("StorageClass", "Class of the volume.", object => {
      return storageClassName(object.metadata.annotations, (object as PersistentVolume).spec);
    }),
    text("VolumeAttributesClass", "Attributes class of the volume.", object => {
      return (object as PersistentVolume).spec.volumeAttributesClassName ?? "<unset>";
    }),
    text("Reason", "Why it is in that status.", object => (object as PersistentVolume).status.reason ?? ""),
    ageColumn,
    wide(
      text("VolumeMode", "File system or raw device.", object => {
        return (object as PersistentVolume).spec.volumeMode ?? "<unset>";
      }),
    ),
  ],
  rules: {
    defaults: object => setDefaults(object as PersistentVolume),
    prepare: (object, { old, subresource, now }) =>
      prepare(object as PersistentVolume, {
        old: old as PersistentVolume | undefined,
        statusOnly: subresource === "status",
        now,
      }),
    validate: (object, { old, subresource }) =>
      subresource === "status" ? [] : errors(object as PersistentVolume, old as PersistentVolume | undefined),
  },
});

function setDefaults({ spec, status }: PersistentVolume): void {
  spec.persistentVolumeReclaimPolicy ??= "Retain";
  spec.volumeMode ??= "Filesystem";
  status.phase ??= "Pending";
  if (spec.hostPath) spec.hostPath.type ??= "";
}

type Context = { old: PersistentVolume | undefined; statusOnly: boolean; now: number };

function prepare(volume: PersistentVolume, { old, statusOnly, now }: Context): void {
  if (old === undefined) {
    volume.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(now) };
    return;
  }
  if (!statusOnly) {
    volume.status = old.status;
    return;
  }
  volume.spec = old.spec;
  const { status } = volume;
  const { lastPhaseTransitionTime } = old.status;
  const isStale =
    status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === lastPhaseTransitionTime;
  if (status.phase !== old.status.phase && isStale) status.lastPhaseTransitionTime = timestamp(now);
  else if (lastPhaseTransitionTime !== undefined) status.lastPhaseTransitionTime ??= lastPhaseTransitionTime;
}

function errors({ spec }: PersistentVolume, old: PersistentVolume | undefined): FieldError[] {
  const found = [
    ...accessModeErrors(spec.accessModes, "spec.accessModes", ""),
    ...capacityErrors(spec.capacity),
    ...oneOf("spec.persistentVolumeReclaimPolicy", spec.persistentVolumeReclaimPolicy, ["Delete", "Recycle", "Retain"]),
    ...sourceErrors(spec),
    ...(spec.storageClassName ? subdomain("spec.storageClassName", spec.storageClassName) : []),
    ...oneOf("spec.volumeMode", spec.volumeMode, volumeModes),
  ];
  if (old === undefined) return found;
  if (!deepEqual(sourcesOf(spec), sourcesOf(old.spec))) {
    const rule = "spec.persistentvolumesource is immutable after creation";
    found.push(forbidden("spec.persistentvolumesource", rule));
  }
  return [...found, ...immutable("volumeMode", spec.volumeMode, old.spec.volumeMode)];
}

function capacityErrors(capacity: Record<string, string> | undefined): FieldError[] {
  const found: FieldError[] = capacity === undefined ? [required("spec.capacity", "")] : [];
  if (capacity?.storage === undefined || Object.keys(capacity).length > 1) {
    found.push(notSupported("spec.capacity", capacity ?? null, ["storage"]));
  }
  for (const [name, amount] of Object.entries(capacity ?? {})) {
    found.push(...positiveErrors(amount, `spec.capacity[${name}]`));
  }
  return found;
}

function sourcesOf(spec: PersistentVolume["spec"]): unknown[] {
  return sourceTypes.map(type => spec[type]);
}

function sourceErrors(spec: PersistentVolume["spec"]): FieldError[] {
  const sources = sourceTypes.filter(type => spec[type] !== undefined);
  if (sources.length === 0) return [required("spec", "must specify a volume type")];
  const found = sources.slice(1).map(field => forbidden(`spec.${field}`, "may not specify more than 1 volume type"));
  if (spec.hostPath) found.push(...requiredText("spec.hostPath.path", spec.hostPath.path));
  if (spec.local) {
    found.push(...requiredText("spec.local.path", spec.local.path));
    if (!spec.nodeAffinity) found.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  if (spec.csi) {
    found.push(...requiredText("spec.csi.driver", spec.csi.driver));
    found.push(...requiredText("spec.csi.volumeHandle", spec.csi.volumeHandle));
  }
  return found;
}

function phase({ metadata, status }: PersistentVolume): string {
  return metadata.deletionTimestamp === undefined ? (status.phase ?? "") : "Terminating";
}

function claim({ spec: { claimRef } }: PersistentVolume): string {
  return claimRef ? `${claimRef.namespace ?? ""}/${claimRef.name ?? ""}` : "";
}
