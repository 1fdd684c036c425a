// PriorityClass: a number that pods name. Numbers above a billion and names that begin with "system-" are the
// system's own.

import type { KubeObject } from "../../api/meta.ts";
import { forbidden } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { Cluster } from "../kind.ts";
import { forbidden as refused } from "../refusal.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, boolean, count, integer, nameColumn, text } from "./column.ts";
import { immutable, oneOf } from "./field-rules.ts";

type PriorityClass = KubeObject & { value: number; globalDefault?: boolean; preemptionPolicy?: string };

const userMax = 1_000_000_000;

/** Classes that every cluster has from the start. */
export const systemPriorityClasses = [
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "For pods without which their own node does not work.",
  },
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description: "For pods without which the cluster does not work, on whatever node.",
  },
] as const;

export const priorityClass = builtIn({
  group: "scheduling.k8s.io",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
  definition: "io.k8s.api.scheduling.v1.PriorityClass",
  shortNames: ["pc"],
  columns: [
    nameColumn,
    integer("Value", "Priority of its pods.", object => count((object as PriorityClass).value)),
    boolean("Global-Default", "Whether pods without a class get this one.", object => {
      return (object as PriorityClass).globalDefault === true;
    }),
    ageColumn,
    text("PreemptionPolicy", "Whether its pods may push others out.", object => {
      return (object as PriorityClass).preemptionPolicy ?? "";
    }),
  ],
  rules: {
    defaults: object => {
      (object as PriorityClass).preemptionPolicy ??= "PreemptLowerPriority";
    },
    admit: (object, { old, cluster }) => refuseSecondDefault(object as PriorityClass, old, cluster),
    prepare: (object, { old }) => {
      if (old === undefined) object.metadata.generation = 1;
    },
    validate: (object, { old }) => errors(object as PriorityClass, old as PriorityClass | undefined),
  },
});

function refuseSecondDefault(object: PriorityClass, old: KubeObject | undefined, cluster: Cluster): void {
  if (!object.globalDefault) return;
  for (const other of cluster.list("priorityclasses")) {
    const { metadata, globalDefault } = other as PriorityClass;
    if (!globalDefault || (old && metadata.name === object.metadata.name)) continue;
    const why = `PriorityClass ${metadata.name} is already marked as default. Only one default can exist`;
    throw refused({ group: "scheduling.k8s.io", name: "priorityclasses" }, object.metadata.name ?? "", why);
  }
}

function errors(priorityClass: PriorityClass, old: PriorityClass | undefined): FieldError[] {
  const { value, preemptionPolicy } = priorityClass;
  if (old) {
    return [
      ...(value === old.value ? [] : [forbidden("value", "may not be changed in an update.")]),
      ...immutable("preemptionPolicy", preemptionPolicy, old.preemptionPolicy),
    ];
  }
  return [
    ...systemErrors(priorityClass),
    ...oneOf("preemptionPolicy", preemptionPolicy, ["PreemptLowerPriority", "Never"]),
  ];
}

function systemErrors({ metadata, value, globalDefault = false }: PriorityClass): FieldError[] {
  const { name } = metadata;
  if (!name.startsWith("system-")) {
    const rule = `maximum allowed value of a user defined priority is ${userMax}`;
    return value > userMax ? [forbidden("value", rule)] : [];
  }
  const known = systemPriorityClasses.find(own => own.name === name);
  const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: ";
  if (known === undefined)
    return [forbidden("metadata.name", `${reserved}${name} is not a known system priority class`)];
  if (known.value !== value) {
    return [forbidden("metadata.name", `${reserved}value of ${name} PriorityClass must be ${known.value}`)];
  }
  if (!globalDefault) return [];
  return [forbidden("metadata.name", `${reserved}globalDefault of ${name} PriorityClass must be false`)];
}
