// Claims, volumes, classes and drivers of storage, as far as they decide where a pod can run.

import type { NodeSelector } from "./node-selector.ts";
import type { Labels } from "./selector.ts";

export type PersistentVolumeClaim = {
  metadata: { name: string; namespace?: string; annotations?: Labels };
  spec: { storageClassName?: string; volumeName?: string; accessModes?: readonly string[] };
  status?: { phase?: string };
};

export type PersistentVolume = {
  metadata: { name: string; labels?: Labels };
  spec: {
    /** `volumeHandle` is what a driver attaches: claims that share it count once. */
    csi?: { driver: string; volumeHandle: string };
    nodeAffinity?: { required?: NodeSelector };
    storageClassName?: string;
  };
};

export type TopologySelectorTerm = { matchLabelExpressions?: readonly { key: string; values: readonly string[] }[] };

export type StorageClass = {
  metadata: { name: string; annotations?: Labels };
  provisioner: string;
  /** Default Immediate. */
  volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
  /** One of the terms must match the node; none means everywhere. */
  allowedTopologies?: readonly TopologySelectorTerm[];
};

/** Named like its node. */
export type CsiNode = {
  metadata: { name: string };
  spec: { drivers: readonly { name: string; allocatable?: { count?: number } }[] };
};
