// What the kinds that make pods from a template share: the template's defaults and rules, and how selector and
// template must agree.

import type { KubeObject } from "../../api/meta.ts";
import { forbidden, invalid, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { type LabelSelector, matches, selectorOf } from "../../api/selector.ts";
import { invalidSelector, labelSelector, nonNegative } from "./field-rules.ts";
import type { PodTemplate } from "./pod-types.ts";
import { podTemplateErrors } from "./pod-validation.ts";

export type Workload = KubeObject & {
  spec: {
    replicas?: number;
    /** Null where the kind requires one, absent where it does not. */
    selector?: LabelSelector | null;
    template: PodTemplate;
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status: Record<string, unknown>;
};

export type SelectorRules = {
  /** As the sentence about an empty selector names it. */
  kind: string;
  /** As the sentence about activeDeadlineSeconds names it. */
  owner: string;
  /** The sentence about a selector that cannot be read. */
  unreadable?: string;
};

/** Selector and template of Deployment, ReplicaSet and StatefulSet. */
export function templateErrors(
  { spec }: Workload,
  { kind, owner, unreadable = "invalid label selector" }: SelectorRules,
): FieldError[] {
  const { selector } = spec;
  const found: FieldError[] = [];
  if (!selector) found.push(required("spec.selector", ""));
  else found.push(...labelSelector("spec.selector", selector), ...emptySelector(selector, kind));
  if (selector && !selectorOf(selector).ok) {
    return [...found, invalidSelector("spec.selector", selector, unreadable)];
  }
  return [...found, ...selectedLabels(spec), ...runningTemplate(spec.template, owner)];
}

export function emptySelector(selector: LabelSelector, kind: string): FieldError[] {
  const isEmpty = selector.matchLabels === undefined && selector.matchExpressions === undefined;
  return isEmpty ? [invalid("spec.selector", selector, `empty selector is invalid for ${kind}`)] : [];
}

/** No selector at all matches nothing; one that cannot be read is refused elsewhere. */
export function selectedLabels({ selector, template }: Workload["spec"]): FieldError[] {
  const parsed = selectorOf(selector ?? {});
  if (selector && (!parsed.ok || matches(parsed.value, template.metadata.labels))) return [];
  const rule = "`selector` does not match template `labels`";
  return [invalid("spec.template.metadata.labels", template.metadata.labels ?? null, rule)];
}

/** Pods that are to run for ever: they restart always and have no deadline. */
export function runningTemplate(template: PodTemplate, owner: string): FieldError[] {
  const found = podTemplateErrors(template, "spec.template");
  const { restartPolicy = "", activeDeadlineSeconds } = template.spec;
  if (restartPolicy !== "Always") {
    found.push(notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]));
  }
  if (activeDeadlineSeconds !== undefined) {
    const rule = `activeDeadlineSeconds in ${owner} is not Supported`;
    found.push(forbidden("spec.template.spec.activeDeadlineSeconds", rule));
  }
  return found;
}

type Counts = Record<string, number | undefined>;

/** Counts in a status: none below zero, parts not above the whole. */
export function replicaStatusErrors(status: Record<string, unknown>, parts: readonly string[]): FieldError[] {
  const counts = status as Counts;
  const replicas = counts.replicas ?? 0;
  const fields = ["observedGeneration", "replicas", ...parts, "terminatingReplicas", "collisionCount"];
  const found = fields.flatMap(field => nonNegative(`status.${field}`, counts[field]));
  for (const field of parts) {
    const count = counts[field] ?? 0;
    if (field === "unavailableReplicas") continue;
    if (count > replicas) found.push(invalid(`status.${field}`, count, "cannot be greater than status.replicas"));
  }
  const available = counts.availableReplicas ?? 0;
  if (available > (counts.readyReplicas ?? 0)) {
    found.push(invalid("status.availableReplicas", available, "cannot be greater than readyReplicas"));
  }
  return found;
}
