// PersistentVolumeClaim: a wish for storage. Once written only its size may grow, and the volume be filled in.

import type { KubeObject } from "../../api/meta.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import { forbidden, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { LabelSelector } from "../../api/selector.ts";
import { deepEqual } from "../json-value.ts";
import type { Cluster } from "../kind.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text, wide } from "./column.ts";
import { labelSelector, oneOf, subdomain } from "./field-rules.ts";
import type { Resources } from "./pod-types.ts";
import { positiveErrors } from "./resource-rules.ts";
import { separateStatus } from "./status-subresource.ts";
import { isDefaultClass } from "./storage-class.ts";
import { accessModeErrors, accessModesText, storageClassName, volumeModes } from "./volume.ts";

type DataSource = { apiGroup?: string | null; kind: string; name: string; namespace?: string };

export type ClaimSpec = {
  accessModes?: string[];
  selector?: LabelSelector;
  resources: Resources;
  storageClassName?: string;
  volumeName?: string;
  volumeMode?: string;
  volumeAttributesClassName?: string;
  dataSource?: DataSource;
  dataSourceRef?: DataSource;
};

export type Claim = KubeObject & {
  spec: ClaimSpec;
  status: { phase?: string; accessModes?: string[]; capacity?: Record<string, string> };
};

const separate = separateStatus("io.k8s.api.core.v1.PersistentVolumeClaimStatus");

export const persistentVolumeClaim = builtIn({
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
  definition: "io.k8s.api.core.v1.PersistentVolumeClaim",
  shortNames: ["pvc"],
  subresources: ["status"],
  columns: [
    nameColumn,
    text("Status", "Whether the claim has its volume.", object => phase(object as Claim)),
    text("Volume", "Volume that the claim is bound to.", object => (object as Claim).spec.volumeName ?? ""),
    text("Capacity", "Size of that volume.", object => capacity(object as Claim)),
    text("Access Modes", "How that volume may be mounted.", object => {
      const { spec, status } = object as Claim;
      return spec.volumeName ? accessModesText(status.accessModes) : "";
    }),
    text("StorageClass", "Class of the claim.", object => {
      return storageClassName(object.metadata.annotations, (object as Claim).spec);
    }),
    text("VolumeAttributesClass", "Attributes class of the claim.", object => {
      return (object as Claim).spec.volumeAttributesClassName ?? "<unset>";
    }),
    ageColumn,
    wide(text("VolumeMode", "File system or raw device.", object => (object as Claim).spec.volumeMode ?? "<unset>")),
  ],
  rules: {
    defaults: object => defaultClaim(object as Claim),
    admit: (object, { old, cluster }) => {
      if (old === undefined) setStorageClass(object as Claim, cluster);
    },
    prepare: (object, context) => {
      separate(object, context);
      const claim = object as Claim;
      claim.status.phase ??= "Pending";
      settleDataSource(claim.spec);
    },
    validate: (object, { old, subresource }) =>
      subresource === "status" ? [] : errors(object as Claim, old as Claim | undefined),
  },
});

export function defaultClaim({ spec, status }: Claim): void {
  spec.volumeMode ??= "Filesystem";
  status.phase ??= "Pending";
}

/** A claim without any class gets the default one, of several the newest. */
function setStorageClass({ metadata, spec }: Claim, cluster: Cluster): void {
  const annotated = metadata.annotations?.["volume.beta.kubernetes.io/storage-class"];
  if (spec.storageClassName !== undefined || annotated !== undefined) return;
  const [newest] = [...cluster.list("storageclasses")]
    .filter(isDefaultClass)
    .sort(
      (a, b) =>
        compareText(b.metadata.creationTimestamp, a.metadata.creationTimestamp) ||
        compareText(a.metadata.name, b.metadata.name),
    );
  if (newest) spec.storageClassName = newest.metadata.name;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Two fields for one thing: what stands in one is copied to the other. */
function settleDataSource(spec: ClaimSpec): void {
  if (spec.dataSource && spec.dataSourceRef === undefined) {
    const { apiGroup = null, kind, name } = spec.dataSource;
    spec.dataSourceRef = { apiGroup, kind, name };
  } else if (spec.dataSourceRef && spec.dataSource === undefined && spec.dataSourceRef.namespace === undefined) {
    const { apiGroup = null, kind, name } = spec.dataSourceRef;
    const isClaim = !apiGroup && kind === "PersistentVolumeClaim";
    if (isClaim || (apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot")) {
      spec.dataSource = { apiGroup, kind, name };
    }
  }
}

export function claimSpecErrors(spec: ClaimSpec, path: string): FieldError[] {
  const { storage } = spec.resources.requests ?? {};
  return [
    ...accessModeErrors(spec.accessModes, `${path}.accessModes`, "at least 1 access mode is required"),
    ...labelSelector(`${path}.selector`, spec.selector),
    ...(storage === undefined
      ? [required(`${path}.resources[storage]`, "")]
      : positiveErrors(storage, `${path}.resources[storage]`)),
    ...(spec.storageClassName ? subdomain(`${path}.storageClassName`, spec.storageClassName) : []),
    ...oneOf(`${path}.volumeMode`, spec.volumeMode, volumeModes),
  ];
}

function errors(claim: Claim, old: Claim | undefined): FieldError[] {
  const found = claimSpecErrors(claim.spec, "spec");
  return old ? [...found, ...updateErrors(claim, old)] : found;
}

const changeRule =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

function updateErrors({ spec }: Claim, old: Claim): FieldError[] {
  const before = requestOf(old.spec);
  const after = requestOf(spec);
  const adjusted = { ...spec, resources: { ...spec.resources } };
  if (old.status.phase === "Bound") adjusted.resources.requests = old.spec.resources.requests ?? {};
  const original = { ...old.spec };
  // The volume is filled in once, and so is a class that was never named.
  if (original.volumeName === undefined && spec.volumeName !== undefined) original.volumeName = spec.volumeName;
  if (original.storageClassName === undefined && spec.storageClassName)
    original.storageClassName = spec.storageClassName;
  if (spec.volumeAttributesClassName !== undefined) original.volumeAttributesClassName = spec.volumeAttributesClassName;
  const found: FieldError[] = [];
  if (!deepEqual(adjusted, original)) found.push(forbidden("spec", changeRule));
  if (before && after && compareQuantities(after, before) < 0) {
    const rule = "field can not be less than status.capacity";
    found.push(forbidden("spec.resources.requests.storage", rule));
  }
  return found;
}

function requestOf(spec: ClaimSpec) {
  const parsed = parseQuantity(spec.resources.requests?.storage ?? "");
  return parsed.ok ? parsed.value : undefined;
}

function phase({ metadata, status }: Claim): string {
  return metadata.deletionTimestamp === undefined ? (status.phase ?? "") : "Terminating";
}

function capacity({ spec, status }: Claim): string {
  return spec.volumeName ? (status.capacity?.storage ?? "0") : "";
}
