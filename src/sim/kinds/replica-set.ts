// ReplicaSet: a number of pods from one template, the selector fixed once written.

import type { FieldError } from "../../api/schema/schema.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, count, integer, nameColumn, selectorText, templateColumns, text, wide } from "./column.ts";
import { immutable, nonNegative } from "./field-rules.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { separateStatus } from "./status-subresource.ts";
import { replicaStatusErrors, templateErrors, type Workload } from "./workload.ts";

export const replicaSet = builtIn({
  group: "apps",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
  definition: "io.k8s.api.apps.v1.ReplicaSet",
  shortNames: ["rs"],
  categories: ["all"],
  subresources: ["status", "scale"],
  columns: [
    nameColumn,
    integer("Desired", "Pods wanted.", object => count((object as Workload).spec.replicas)),
    integer("Current", "Pods that exist.", object => count((object as Workload).status.replicas)),
    integer("Ready", "Pods that are ready.", object => count((object as Workload).status.readyReplicas)),
    ageColumn,
    ...templateColumns,
    wide(text("Selector", "Labels of its pods.", object => selectorText((object as Workload).spec.selector, "<none>"))),
  ],
  rules: {
    countsGeneration: true,
    defaults: object => {
      const { spec } = object as Workload;
      spec.replicas ??= 1;
      defaultPodSpec(spec.template.spec);
    },
    prepare: separateStatus("io.k8s.api.apps.v1.ReplicaSetStatus"),
    validate: (object, { old, subresource }) =>
      subresource === "status"
        ? replicaStatusErrors((object as Workload).status, [
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
          ])
        : errors(object as Workload, old as Workload | undefined),
  },
});

function errors(replicaSet: Workload, old: Workload | undefined): FieldError[] {
  const { spec } = replicaSet;
  return [
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...templateErrors(replicaSet, { kind: "deployment", owner: "ReplicaSet" }),
    ...(old ? immutable("spec.selector", spec.selector, old.spec.selector) : []),
  ];
}
