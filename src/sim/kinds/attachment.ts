// VolumeAttachment and CSINode: which volume is to hang on which node, and what drivers a node has for that.

import type { KubeObject, ObjectMeta } from "../../api/meta.ts";
import { duplicate, forbidden, invalid, required, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, boolean, integer, nameColumn, text } from "./column.ts";
import { immutable, nonNegative, qualifiedName, requiredText, subdomain } from "./field-rules.ts";
import { separateStatus } from "./status-subresource.ts";

type VolumeAttachment = KubeObject & {
  spec: {
    attacher: string;
    nodeName: string;
    source: { persistentVolumeName?: string; inlineVolumeSpec?: unknown };
  };
  status: { attached: boolean };
};

const separate = separateStatus("io.k8s.api.storage.v1.VolumeAttachmentStatus");

export const volumeAttachment = builtIn({
  group: "storage.k8s.io",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
  definition: "io.k8s.api.storage.v1.VolumeAttachment",
  subresources: ["status"],
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    {
      ...text("Attacher", "Driver that attaches it.", object => (object as VolumeAttachment).spec.attacher),
      format: "name",
    },
    text("PV", "Volume to be attached.", object => (object as VolumeAttachment).spec.source.persistentVolumeName ?? ""),
    text("Node", "Node it is to be attached to.", object => (object as VolumeAttachment).spec.nodeName),
    boolean("Attached", "Whether it is attached.", object => (object as VolumeAttachment).status.attached),
    ageColumn,
  ],
  rules: {
    prepare: (object, context) => {
      separate(object, context);
      if (context.subresource === "status" && context.old) keepMetadata(object.metadata, context.old.metadata);
    },
    validate: (object, { old }) => attachmentErrors(object as VolumeAttachment, old as VolumeAttachment | undefined),
  },
});

// Of the kinds served here the only one whose status carries no metadata along.
function keepMetadata(metadata: ObjectMeta, old: ObjectMeta): void {
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"] as const) {
    delete metadata[field];
    Object.assign(metadata, old[field] && { [field]: old[field] });
  }
}

function attachmentErrors({ spec }: VolumeAttachment, old: VolumeAttachment | undefined): FieldError[] {
  const { persistentVolumeName, inlineVolumeSpec } = spec.source;
  const found = [
    ...driverErrors("spec.attacher", spec.attacher),
    ...sourceErrors(spec.source),
    ...subdomain("spec.nodeName", spec.nodeName),
  ];
  if (persistentVolumeName !== undefined && inlineVolumeSpec === undefined) {
    found.push(...subdomain("spec.source.persistentVolumeName", persistentVolumeName));
  }
  return old ? [...found, ...immutable("spec", spec, old.spec)] : found;
}

function sourceErrors({ persistentVolumeName, inlineVolumeSpec }: VolumeAttachment["spec"]["source"]): FieldError[] {
  const rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  const path = "spec.source";
  if (persistentVolumeName === undefined && inlineVolumeSpec === undefined) return [required(path, rule)];
  if (persistentVolumeName !== undefined && inlineVolumeSpec !== undefined) return [forbidden(path, rule)];
  const empty = "must specify non empty persistentVolumeName";
  return persistentVolumeName === "" ? [required(`${path}.persistentVolumeName`, empty)] : [];
}

type Driver = { name: string; nodeID: string; topologyKeys?: string[] | null; allocatable?: { count?: number } };
type CsiNode = KubeObject & { spec: { drivers: Driver[] | null } };

export const csiNode = builtIn({
  group: "storage.k8s.io",
  kind: "CSINode",
  plural: "csinodes",
  namespaced: false,
  definition: "io.k8s.api.storage.v1.CSINode",
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    integer("Drivers", "How many drivers the node has.", object => (object as CsiNode).spec.drivers?.length ?? 0),
    ageColumn,
  ],
  rules: {
    validate: (object, { old }) => nodeErrors(object as CsiNode, old as CsiNode | undefined),
  },
});

const nodeIdMax = 256;

function nodeErrors({ spec }: CsiNode, old: CsiNode | undefined): FieldError[] {
  const drivers = spec.drivers ?? [];
  const found = drivers.flatMap((driver, i) => {
    const path = `spec.drivers[${i}]`;
    const isRepeated = drivers.slice(0, i).some(({ name }) => name === driver.name);
    return [...driverEntryErrors(driver, path), ...(isRepeated ? [duplicate(`${path}.name`, driver.name)] : [])];
  });
  for (const before of old?.spec.drivers ?? []) {
    const driver = drivers.find(({ name }) => name === before.name);
    if (driver && !deepEqual({ ...driver, allocatable: 0 }, { ...before, allocatable: 0 })) {
      found.push(invalid("spec.drivers", driver, "field is immutable"));
    }
  }
  return found;
}

function driverEntryErrors({ name, nodeID, topologyKeys, allocatable }: Driver, path: string): FieldError[] {
  const keys = topologyKeys ?? [];
  const tooLongId = `must be ${nodeIdMax} characters or less`;
  return [
    ...driverErrors(`${path}.name`, name),
    ...requiredText(`${path}.nodeID`, nodeID),
    ...(nodeID.length > nodeIdMax ? [invalid(`${path}.nodeID`, nodeID, tooLongId)] : []),
    ...nonNegative(`${path}.allocatable.count`, allocatable?.count),
    ...keys.flatMap((key, i) => [
      ...(key === "" ? [required(path, "")] : []),
      ...(keys.indexOf(key) < i ? [duplicate(path, key)] : []),
      ...qualifiedName(path, key),
    ]),
  ];
}

function driverErrors(path: string, name: string): FieldError[] {
  if (name === "") return [required(path, "")];
  const found = subdomain(path, name.toLowerCase());
  return name.length > 63 ? [tooLong(path, 63), ...found] : found;
}
