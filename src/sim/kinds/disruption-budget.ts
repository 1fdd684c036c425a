// PodDisruptionBudget: how many pods may be gone at once. Its status is computed elsewhere.

import type { KubeObject } from "../../api/meta.ts";
import { invalid } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { LabelSelector } from "../../api/selector.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, count, integer, nameColumn, text } from "./column.ts";
import { type Condition, conditionsErrors } from "./condition-rules.ts";
import { atMost100Percent, type IntOrPercent, intOrPercent, labelSelector, nonNegative, oneOf } from "./field-rules.ts";
import { separateStatus } from "./status-subresource.ts";

type Budget = KubeObject & {
  spec: {
    minAvailable?: IntOrPercent;
    maxUnavailable?: IntOrPercent;
    selector?: LabelSelector;
    unhealthyPodEvictionPolicy?: string;
  };
  status: {
    disruptionsAllowed: number;
    currentHealthy: number;
    desiredHealthy: number;
    expectedPods: number;
    conditions?: readonly Condition[];
  };
};

const statusCounts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;

export const podDisruptionBudget = builtIn({
  group: "policy",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
  definition: "io.k8s.api.policy.v1.PodDisruptionBudget",
  shortNames: ["pdb"],
  subresources: ["status"],
  unconditionalUpdate: false,
  nameFormat: "segment",
  columns: [
    nameColumn,
    text("Min Available", "Pods that must stay.", object => String((object as Budget).spec.minAvailable ?? "N/A")),
    text("Max Unavailable", "Pods that may go.", object => String((object as Budget).spec.maxUnavailable ?? "N/A")),
    integer("Allowed Disruptions", "Pods that may go right now.", object => {
      return count((object as Budget).status.disruptionsAllowed);
    }),
    ageColumn,
  ],
  rules: {
    countsGeneration: true,
    judgesContentFirst: true,
    prepare: separateStatus("io.k8s.api.policy.v1.PodDisruptionBudgetStatus"),
    validate: (object, { subresource }) =>
      subresource === "status" ? statusErrors(object as Budget) : errors(object as Budget),
  },
});

function statusErrors({ status }: Budget): FieldError[] {
  return [
    ...conditionsErrors("status.conditions", status.conditions),
    ...statusCounts.flatMap(field => nonNegative(`status.${field}`, status[field])),
  ];
}

/** The server shows its internal type, whose fields have Go's names. */
function specStruct({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: Budget["spec"]) {
  return new Map<string, unknown>([
    ["MinAvailable", minAvailable],
    ["Selector", selector],
    ["MaxUnavailable", maxUnavailable],
    ["UnhealthyPodEvictionPolicy", unhealthyPodEvictionPolicy],
  ]);
}

function errors({ spec }: Budget): FieldError[] {
  const { minAvailable, maxUnavailable } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  return [
    ...(both ? [invalid("spec", specStruct(spec), "minAvailable and maxUnavailable cannot be both set")] : []),
    ...intOrPercent("spec.minAvailable", minAvailable),
    ...atMost100Percent("spec.minAvailable", minAvailable),
    ...intOrPercent("spec.maxUnavailable", maxUnavailable),
    ...atMost100Percent("spec.maxUnavailable", maxUnavailable),
    ...labelSelector("spec.selector", spec.selector),
    ...oneOf("spec.unhealthyPodEvictionPolicy", spec.unhealthyPodEvictionPolicy, ["AlwaysAllow", "IfHealthyBudget"]),
  ];
}
