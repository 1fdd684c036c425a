// Job: pods that run to their end. The server gives it a selector by its own uid.

import { invalid, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { matches, selectorOf } from "../../api/selector.ts";
import { age, humanDuration } from "../age.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, count, nameColumn, selectorText, templateColumns, text, wide } from "./column.ts";
import { immutable, invalidSelector, labelSelector, nonNegative, oneOf } from "./field-rules.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { podTemplateErrors } from "./pod-validation.ts";
import { separateStatus } from "./status-subresource.ts";
import { selectedLabels, type Workload } from "./workload.ts";

type Job = Workload & {
  spec: {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    backoffLimitPerIndex?: number;
    maxFailedIndexes?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    completionMode?: string;
    suspend?: boolean;
    manualSelector?: boolean;
    podReplacementPolicy?: string;
    podFailurePolicy?: { rules?: { onPodConditions?: { status?: string }[] }[] | null };
    successPolicy?: unknown;
    managedBy?: string;
  };
  status: {
    succeeded?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: { type: string; status: string }[];
  };
};

const uidLabel = "batch.kubernetes.io/controller-uid";
const separate = separateStatus("io.k8s.api.batch.v1.JobStatus");

export const job = builtIn({
  group: "batch",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
  definition: "io.k8s.api.batch.v1.Job",
  categories: ["all"],
  subresources: ["status"],
  columns: [
    nameColumn,
    text("Status", "Whether the job runs or how it ended.", object => status(object as Job)),
    text("Completions", "Pods that succeeded, of those wanted.", object => completions(object as Job)),
    text("Duration", "How long the job ran.", (object, now) => duration(object as Job, now)),
    ageColumn,
    ...templateColumns,
    wide(text("Selector", "Labels of its pods.", object => selectorText((object as Job).spec.selector, "<none>"))),
  ],
  rules: {
    countsGeneration: true,
    defaults: object => setDefaults(object as Job),
    prepare: (object, context) => {
      separate(object, context);
      if (context.old === undefined && !(object as Job).spec.manualSelector) generateSelector(object as Job);
    },
    validate: (object, { old, subresource }) =>
      subresource === "status" ? [] : errors(object as Job, old as Job | undefined),
    selectableFields: object => ({ "status.successful": String(count((object as Job).status.succeeded)) }),
  },
});

function setDefaults({ metadata, spec }: Job): void {
  defaultPodSpec(spec.template.spec);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const condition of rule.onPodConditions ?? []) condition.status ||= "True";
  }
  const { labels } = spec.template.metadata;
  // The very same labels: those that are generated later show on the job too.
  if (labels && metadata.labels === undefined) metadata.labels = labels;
}

function generateSelector({ metadata, spec }: Job): void {
  const { template } = spec;
  template.metadata.labels ??= {};
  const { labels } = template.metadata;
  for (const prefix of ["", "batch.kubernetes.io/"]) {
    labels[`${prefix}job-name`] ??= metadata.name;
    labels[`${prefix}controller-uid`] ??= metadata.uid;
  }
  // Reading what it stored, the server gives a job without labels those of its template.
  metadata.labels ??= { ...labels };
  spec.selector = { ...spec.selector, matchLabels: { [uidLabel]: metadata.uid, ...spec.selector?.matchLabels } };
}

const counts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

const modes = ["NonIndexed", "Indexed"];

function errors(job: Job, old: Job | undefined): FieldError[] {
  const { spec } = job;
  return [
    ...generatedSelectorErrors(job),
    ...counts.flatMap(field => nonNegative(`spec.${field}`, spec[field])),
    ...oneOf("spec.completionMode", spec.completionMode, modes),
    ...indexErrors(spec),
    ...oneOf("spec.podReplacementPolicy", spec.podReplacementPolicy, replacementPolicies(spec)),
    ...podTemplateErrors(spec.template, "spec.template"),
    ...restartErrors(spec),
    ...(spec.selector ? labelSelector("spec.selector", spec.selector) : [required("spec.selector", "")]),
    ...selectedLabels(spec),
    ...(old ? updateErrors(spec, old.spec) : []),
  ];
}

function replacementPolicies({ podFailurePolicy }: Job["spec"]): string[] {
  return podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
}

/** Only jobs that bring their own selector may leave the generated labels out. */
function generatedSelectorErrors({ metadata, spec }: Job): FieldError[] {
  if (spec.manualSelector || !spec.selector) return [];
  const labels = spec.template.metadata.labels ?? {};
  const path = "spec.template.metadata.labels";
  const expected = Object.fromEntries(
    ["", "batch.kubernetes.io/"].flatMap(prefix => [
      [`${prefix}controller-uid`, metadata.uid],
      [`${prefix}job-name`, metadata.name],
    ]),
  );
  const found = Object.entries(expected).flatMap(([key, value]) => {
    if (labels[key] === undefined) return [required(`${path}[${key}]`, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalid(`${path}[${key}]`, labels[key], `must be '${value}'`)];
  });
  const selector = selectorOf(spec.selector);
  const selects = !selector.ok || matches(selector.value, expected);
  const rule = "`selector` not auto-generated";
  return selects ? found : [...found, invalidSelector("spec.selector", spec.selector, rule)];
}

function indexErrors(spec: Job["spec"]): FieldError[] {
  const found: FieldError[] = [];
  const isIndexed = spec.completionMode === "Indexed";
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    found.push(required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
  }
  if (isIndexed && spec.completions === undefined) {
    found.push(required("spec.completions", "when completion mode is Indexed"));
  }
  for (const field of isIndexed ? [] : (["backoffLimitPerIndex", "maxFailedIndexes"] as const)) {
    if (spec[field] !== undefined)
      found.push(invalid(`spec.${field}`, spec[field], "requires indexed completion mode"));
  }
  if (!isIndexed && spec.successPolicy !== undefined) {
    found.push(invalid("spec.successPolicy", spec.successPolicy, "requires indexed completion mode"));
  }
  return found;
}

function restartErrors({ template, podFailurePolicy }: Job["spec"]): FieldError[] {
  const path = "spec.template.spec.restartPolicy";
  const { restartPolicy = "" } = template.spec;
  if (restartPolicy === "Always") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (restartPolicy !== "OnFailure" && restartPolicy !== "Never") {
    return [notSupported(path, restartPolicy, ["OnFailure", "Never"])];
  }
  const rule = 'only "Never" is supported when podFailurePolicy is specified';
  return podFailurePolicy && restartPolicy !== "Never" ? [invalid(path, restartPolicy, rule)] : [];
}

function updateErrors(spec: Job["spec"], old: Job["spec"]): FieldError[] {
  const fixed = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] as const;
  return [
    ...completionsErrors(spec, old),
    ...immutable("spec.selector", spec.selector, old.selector),
    ...immutable("spec.template", spec.template, old.template),
    ...fixed.flatMap(field => immutable(`spec.${field}`, spec[field], old[field])),
  ];
}

/** An indexed job may grow, all its pods at once. */
function completionsErrors({ completionMode, completions, parallelism }: Job["spec"], old: Job["spec"]): FieldError[] {
  const path = "spec.completions";
  if (completionMode !== "Indexed") return immutable(path, completions, old.completions);
  const isTandem = completions === old.completions || completions === undefined || completions === parallelism;
  return isTandem ? [] : [invalid(path, completions, "can only be modified in tandem with spec.parallelism")];
}

function status({ metadata, status }: Job): string {
  const is = (type: string) => status.conditions?.find(condition => condition.type === type)?.status === "True";
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(is) ?? "Running";
}

function completions({ spec, status }: Job): string {
  const succeeded = count(status.succeeded);
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  return count(spec.parallelism) > 1 ? `${succeeded}/1 of ${spec.parallelism}` : `${succeeded}/1`;
}

function duration({ status }: Job, now: number): string {
  if (status.startTime === undefined) return "";
  if (status.completionTime === undefined) return age(status.startTime, now);
  return humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime));
}
