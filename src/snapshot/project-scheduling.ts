// What is kept of the kinds that only scheduling asks about: DaemonSets, namespaces and storage.

import type { KubeObject } from "../api/meta.ts";
import type { CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/storage.ts";
import { podNeeds } from "./pod-needs.ts";
import { fields, present, texts, word } from "./raw.ts";
import type {
  CsiNodeView,
  DaemonSetView,
  NamespaceView,
  StorageClassView,
  VolumeClaimView,
  VolumeView,
} from "./views.ts";

export function daemonSet(raw: KubeObject): DaemonSetView {
  const { namespace = "", name, uid } = raw.metadata;
  const template = fields(fields(raw["spec"])["template"]);
  const labels = texts(fields(template["metadata"])["labels"]);
  return { namespace, name, uid, labels, needs: podNeeds(fields(template["spec"]), {}) };
}

export function namespace(raw: KubeObject): NamespaceView {
  return { name: raw.metadata.name, labels: texts(raw.metadata.labels) };
}

export function volume(raw: KubeObject): VolumeView {
  const { name, labels } = raw.metadata;
  const { csi, nodeAffinity, storageClassName } = fields(raw["spec"]) as PersistentVolume["spec"];
  const { driver = "", volumeHandle = "" } = csi ?? {};
  const kept = present({ csi: csi && { driver, volumeHandle }, nodeAffinity, storageClassName });
  return { name, volume: { metadata: { name, labels: texts(labels) }, spec: kept } };
}

export function volumeClaim(raw: KubeObject): VolumeClaimView {
  const { namespace: place = "", name, annotations } = raw.metadata;
  const { storageClassName, volumeName, accessModes } = fields(raw["spec"]) as PersistentVolumeClaim["spec"];
  const selected = texts(annotations)[selectedNodeKey];
  const marks = selected === undefined ? {} : { annotations: { [selectedNodeKey]: selected } };
  const spec = present({ storageClassName, volumeName: word(volumeName), accessModes });
  return {
    namespace: place,
    name,
    ...present({ volume: word(volumeName) }),
    claim: { metadata: { name, namespace: place, ...marks }, spec },
  };
}

const selectedNodeKey = "volume.kubernetes.io/selected-node";

export function storageClass(raw: KubeObject): StorageClassView {
  const { name, annotations } = raw.metadata;
  const { provisioner, volumeBindingMode, allowedTopologies } = raw as KubeObject & StorageClass;
  return {
    name,
    storageClass: {
      metadata: { name, annotations: texts(annotations) },
      provisioner,
      ...present({ volumeBindingMode, allowedTopologies }),
    },
  };
}

export function csiNode(raw: KubeObject): CsiNodeView {
  const { name } = raw.metadata;
  const { drivers } = fields(raw["spec"]) as CsiNode["spec"];
  const kept = (drivers ?? []).map(({ name: driver, allocatable }) => ({
    name: driver,
    ...present({ allocatable }),
  }));
  return { name, csiNode: { metadata: { name }, spec: { drivers: kept } } };
}
