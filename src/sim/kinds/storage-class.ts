// StorageClass: how volumes are made for claims. Fixed once written.

import type { KubeObject } from "../../api/meta.ts";
import { invalid, required, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text } from "./column.ts";
import { immutable, oneOf, qualifiedName } from "./field-rules.ts";

export type StorageClass = KubeObject & {
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
};

const parametersMax = 512;
const parametersSizeMax = 256 * 1024;

export function isDefaultClass({ metadata }: KubeObject): boolean {
  const { annotations = {} } = metadata;
  return ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"].some(
    key => annotations[key] === "true",
  );
}

export const storageClass = builtIn({
  group: "storage.k8s.io",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
  definition: "io.k8s.api.storage.v1.StorageClass",
  shortNames: ["sc"],
  columns: [
    {
      ...nameColumn,
      cell: object => (isDefaultClass(object) ? `${object.metadata.name} (default)` : object.metadata.name),
    },
    text("Provisioner", "Who makes the volumes.", object => (object as StorageClass).provisioner),
    text("ReclaimPolicy", "What becomes of a volume without a claim.", object => {
      return (object as StorageClass).reclaimPolicy ?? "Delete";
    }),
    text("VolumeBindingMode", "When a claim gets its volume.", object => {
      return (object as StorageClass).volumeBindingMode ?? "Immediate";
    }),
    text("AllowVolumeExpansion", "Whether claims may grow.", object => {
      return (object as StorageClass).allowVolumeExpansion === true;
    }),
    ageColumn,
  ],
  rules: {
    defaults: object => {
      const storageClass = object as StorageClass;
      storageClass.reclaimPolicy ??= "Delete";
      storageClass.volumeBindingMode ??= "Immediate";
    },
    validate: (object, { old }) =>
      old ? updateErrors(object as StorageClass, old as StorageClass) : errors(object as StorageClass),
  },
});

function errors({ provisioner, parameters = {}, reclaimPolicy, volumeBindingMode }: StorageClass): FieldError[] {
  return [
    ...(provisioner === "" ? [required("provisioner", "")] : qualifiedName("provisioner", provisioner.toLowerCase())),
    ...parameterErrors(Object.entries(parameters)),
    ...oneOf("reclaimPolicy", reclaimPolicy || undefined, ["Delete", "Retain"]),
    ...oneOf("volumeBindingMode", volumeBindingMode, ["Immediate", "WaitForFirstConsumer"]),
  ];
}

function parameterErrors(parameters: readonly [string, string][]): FieldError[] {
  if (parameters.length > parametersMax) return [tooLong("parameters", parametersMax)];
  const found = parameters.flatMap(([key]) =>
    key === "" ? [invalid("parameters", key, "field can not be empty.")] : [],
  );
  const encoder = new TextEncoder();
  const size = parameters.reduce((total, pair) => total + encoder.encode(pair.join("")).length, 0);
  return size > parametersSizeMax ? [...found, tooLong("parameters", parametersSizeMax)] : found;
}

function updateErrors(storageClass: StorageClass, old: StorageClass): FieldError[] {
  const fixed = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const;
  return fixed.flatMap(field => immutable(field, storageClass[field], old[field]));
}
