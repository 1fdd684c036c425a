// Deployment: rolling update by default, the selector fixed once written.

import { forbidden, invalid, notSupported } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, count, nameColumn, selectorText, templateColumns, text, wide } from "./column.ts";
import {
  atMost100Percent,
  immutable,
  type IntOrPercent,
  intOrPercent,
  nonNegative,
  plainNumber,
} from "./field-rules.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { separateStatus } from "./status-subresource.ts";
import { replicaStatusErrors, templateErrors, type Workload } from "./workload.ts";

type Deployment = Workload & {
  spec: {
    strategy: { type?: string; rollingUpdate?: { maxUnavailable?: IntOrPercent; maxSurge?: IntOrPercent } };
    progressDeadlineSeconds?: number;
  };
};

const separate = separateStatus("io.k8s.api.apps.v1.DeploymentStatus");

export const deployment = builtIn({
  group: "apps",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  definition: "io.k8s.api.apps.v1.Deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  subresources: ["status", "scale"],
  columns: [
    nameColumn,
    text("Ready", "Pods that are ready, of those wanted.", object => {
      const { spec, status } = object as Deployment;
      return `${count(status.readyReplicas)}/${count(spec.replicas)}`;
    }),
    text("Up-to-date", "Pods made from the current template.", object => {
      return count((object as Deployment).status.updatedReplicas);
    }),
    text("Available", "Pods that have been ready for long enough.", object => {
      return count((object as Deployment).status.availableReplicas);
    }),
    ageColumn,
    ...templateColumns,
    wide(text("Selector", "Labels of its pods.", object => selectorText((object as Deployment).spec.selector, ""))),
  ],
  rules: {
    countsGeneration: true,
    defaults: object => setDefaults(object as Deployment),
    prepare: (object, context) => {
      separate(object, context);
      if (context.old) prepareUpdate(object as Deployment, context.old as Deployment, context.subresource === "status");
    },
    validate: (object, { old, subresource }) =>
      subresource === "status"
        ? replicaStatusErrors((object as Deployment).status, [
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
          ])
        : errors(object as Deployment, old as Deployment | undefined),
  },
});

function prepareUpdate({ metadata }: Deployment, old: Deployment, statusOnly: boolean): void {
  if (statusOnly) {
    if (old.metadata.labels) metadata.labels = old.metadata.labels;
    else delete metadata.labels;
  } else if (!deepEqual(metadata.annotations, old.metadata.annotations)) {
    // Annotations are copied to the replica sets, so they count as something wanted.
    metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
}

function setDefaults({ spec }: Deployment): void {
  defaultPodSpec(spec.template.spec);
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  spec.strategy.type ??= "RollingUpdate";
  if (spec.strategy.type !== "RollingUpdate") return;
  spec.strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...spec.strategy.rollingUpdate };
}

function errors(deployment: Deployment, old: Deployment | undefined): FieldError[] {
  const { spec } = deployment;
  const { minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const found = [
    ...nonNegative("spec.replicas", spec.replicas),
    ...templateErrors(deployment, { kind: "deployment", owner: "ReplicaSet" }),
    ...strategyErrors(spec.strategy),
    ...nonNegative("spec.minReadySeconds", minReadySeconds),
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
    ...nonNegative("spec.progressDeadlineSeconds", progressDeadlineSeconds),
  ];
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    const rule = "must be greater than minReadySeconds";
    found.push(invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, rule));
  }
  return old ? [...found, ...immutable("spec.selector", spec.selector, old.spec.selector)] : found;
}

function strategyErrors(strategy: Deployment["spec"]["strategy"]): FieldError[] {
  const { type, rollingUpdate = {} } = strategy;
  const path = "spec.strategy.rollingUpdate";
  if (type === "Recreate") {
    const rule = "may not be specified when strategy `type` is 'Recreate'";
    return strategy.rollingUpdate ? [forbidden(path, rule)] : [];
  }
  if (type !== "RollingUpdate") return [notSupported("spec.strategy", strategy, ["Recreate", "RollingUpdate"])];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const found = [
    ...intOrPercent(`${path}.maxUnavailable`, maxUnavailable),
    ...intOrPercent(`${path}.maxSurge`, maxSurge),
  ];
  if (plainNumber(maxUnavailable) === 0 && plainNumber(maxSurge) === 0) {
    found.push(invalid(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return [...found, ...atMost100Percent(`${path}.maxUnavailable`, maxUnavailable)];
}
