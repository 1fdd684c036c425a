// Namespace: active from the start, labelled with its own name, and held by a finalizer in its spec until its content
// is gone.

import type { KubeObject } from "../../api/meta.ts";
import { invalid } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text } from "./column.ts";
import { finalizerErrors } from "./field-rules.ts";

export type Namespace = KubeObject & { spec: { finalizers?: string[] }; status: { phase?: string } };

const ownFinalizer = "kubernetes";

export const namespace = builtIn({
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
  definition: "io.k8s.api.core.v1.Namespace",
  shortNames: ["ns"],
  subresources: ["status"],
  nameFormat: "label",
  columns: [
    nameColumn,
    text("Status", "Whether the namespace is in use or going.", object => (object as Namespace).status.phase ?? ""),
    ageColumn,
  ],
  rules: {
    defaults: object => {
      const { metadata, status } = object as Namespace;
      if (metadata.name) metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
      status.phase ??= "Active";
    },
    prepare: (object, { old, subresource }) => {
      const { metadata } = object;
      // A generated name is not known before.
      metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
      prepare(object as Namespace, old as Namespace | undefined, subresource === "status");
    },
    validate: (object, { subresource }) => [
      ...errors(object as Namespace),
      ...(subresource === "status" ? phaseErrors(object as Namespace) : []),
    ],
    selectableFields: object => ({ "status.phase": (object as Namespace).status.phase ?? "" }),
  },
});

function prepare(namespace: Namespace, old: Namespace | undefined, statusOnly: boolean): void {
  if (old === undefined) {
    const asked = namespace.spec.finalizers ?? [];
    namespace.spec.finalizers = asked.includes(ownFinalizer) ? asked : [...asked, ownFinalizer];
    namespace.status = { phase: "Active" };
  } else if (statusOnly) {
    namespace.spec = old.spec;
  } else {
    // Only the finalize subresource takes a finalizer away.
    namespace.spec = old.spec;
    namespace.status = old.status;
  }
}

/** The phase says whether the namespace is going; only its deletion decides that. */
function phaseErrors({ metadata, status }: Namespace): FieldError[] {
  const isGoing = metadata.deletionTimestamp !== undefined;
  if (isGoing && status.phase !== "Terminating")
    return [
      invalid("status.Phase", status.phase ?? "", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    ];
  if (!isGoing && status.phase !== "Active")
    return [invalid("status.Phase", status.phase ?? "", "may only be 'Active' if `deletionTimestamp` is empty")];
  return [];
}

function errors({ spec }: Namespace): FieldError[] {
  return (spec.finalizers ?? []).flatMap(finalizer => finalizerErrors(finalizer, "spec.finalizers"));
}
