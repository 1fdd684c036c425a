// DaemonSet: a pod on every node that the template fits. The generation of its template stands in an annotation.

import { invalid, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { builtIn } from "./built-in.ts";
import {
  ageColumn,
  count,
  integer,
  labelsText,
  nameColumn,
  selectorText,
  templateColumns,
  text,
  wide,
} from "./column.ts";
import {
  atMost100Percent,
  immutable,
  type IntOrPercent,
  intOrPercent,
  labelSelector,
  nonNegative,
  plainNumber,
} from "./field-rules.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { separateStatus } from "./status-subresource.ts";
import { emptySelector, runningTemplate, selectedLabels, type Workload } from "./workload.ts";

type DaemonSet = Workload & {
  spec: {
    updateStrategy: { type?: string; rollingUpdate?: { maxUnavailable?: IntOrPercent; maxSurge?: IntOrPercent } };
  };
};

const templateGeneration = "deprecated.daemonset.template.generation";
const statusCounts = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
];

const separate = separateStatus("io.k8s.api.apps.v1.DaemonSetStatus");
const status = (field: string) => (object: unknown) => count((object as DaemonSet).status[field]);

export const daemonSet = builtIn({
  group: "apps",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
  definition: "io.k8s.api.apps.v1.DaemonSet",
  shortNames: ["ds"],
  categories: ["all"],
  subresources: ["status"],
  columns: [
    nameColumn,
    integer("Desired", "Nodes that should run the pod.", status("desiredNumberScheduled")),
    integer("Current", "Nodes that run the pod and should.", status("currentNumberScheduled")),
    integer("Ready", "Nodes on which the pod is ready.", status("numberReady")),
    integer("Up-to-date", "Nodes whose pod is from the current template.", status("updatedNumberScheduled")),
    integer("Available", "Nodes on which the pod has been ready for long enough.", status("numberAvailable")),
    text("Node Selector", "Labels of the nodes it is for.", object => {
      return labelsText((object as DaemonSet).spec.template.spec.nodeSelector);
    }),
    ageColumn,
    ...templateColumns,
    wide(
      text("Selector", "Labels of its pods.", object => selectorText((object as DaemonSet).spec.selector, "<none>")),
    ),
  ],
  rules: {
    countsGeneration: true,
    defaults: object => setDefaults(object as DaemonSet),
    prepare: (object, context) => {
      separate(object, context);
      if (context.subresource === undefined) countTemplate(object as DaemonSet, context.old as DaemonSet | undefined);
    },
    validate: (object, { old, subresource }) =>
      subresource === "status"
        ? statusCounts.flatMap(field => nonNegative(`status.${field}`, (object as DaemonSet).status[field] as number))
        : errors(object as DaemonSet, old as DaemonSet | undefined),
  },
});

function setDefaults({ spec }: DaemonSet): void {
  defaultPodSpec(spec.template.spec);
  spec.revisionHistoryLimit ??= 10;
  spec.updateStrategy.type ??= "RollingUpdate";
  if (spec.updateStrategy.type !== "RollingUpdate") return;
  spec.updateStrategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...spec.updateStrategy.rollingUpdate };
}

function countTemplate({ metadata, spec }: DaemonSet, old: DaemonSet | undefined): void {
  const annotations = metadata.annotations ?? {};
  const before = old?.metadata.annotations?.[templateGeneration];
  const generation =
    old === undefined ? Math.max(1, Number(annotations[templateGeneration]) || 0) : Number(before) || 0;
  const changed = old !== undefined && !deepEqual(spec.template, old.spec.template);
  metadata.annotations = { ...annotations, [templateGeneration]: String(changed ? generation + 1 : generation) };
}

function errors({ spec }: DaemonSet, old: DaemonSet | undefined): FieldError[] {
  const { selector, template } = spec;
  return [
    ...(old ? immutable("spec.selector", selector, old.spec.selector) : []),
    ...labelSelector("spec.selector", selector),
    ...selectedLabels(spec),
    ...(selector ? emptySelector(selector, "daemonset") : []),
    ...runningTemplate(template, "DaemonSet"),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...strategyErrors(spec.updateStrategy),
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  ];
}

function strategyErrors(strategy: DaemonSet["spec"]["updateStrategy"]): FieldError[] {
  if (strategy.type === "OnDelete") return [];
  const supported = ["OnDelete", "RollingUpdate"];
  if (strategy.type !== "RollingUpdate") return [notSupported("spec.updateStrategy", strategy, supported)];
  const path = "spec.updateStrategy.rollingUpdate";
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
  const found = [
    ...intOrPercent(`${path}.maxUnavailable`, maxUnavailable),
    ...intOrPercent(`${path}.maxSurge`, maxSurge),
    ...atMost100Percent(`${path}.maxUnavailable`, maxUnavailable),
    ...atMost100Percent(`${path}.maxSurge`, maxSurge),
  ];
  const hasUnavailable = plainNumber(maxUnavailable) !== 0;
  const hasSurge = plainNumber(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    found.push(invalid(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  } else if (!hasUnavailable && !hasSurge) {
    found.push(required(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
  return found;
}
