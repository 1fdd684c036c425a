// StatefulSet: pods with a name and claims of their own; little of its spec may change.

import { forbidden, invalid } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, count, nameColumn, templateColumns, text } from "./column.ts";
import {
  annotations,
  atMost100Percent,
  dnsLabel,
  type IntOrPercent,
  intOrPercent,
  labels,
  nonNegative,
  oneOf,
} from "./field-rules.ts";
import { type Claim, claimSpecErrors, defaultClaim } from "./persistent-volume-claim.ts";
import { defaultPodSpec } from "./pod-defaults.ts";
import { separateStatus } from "./status-subresource.ts";
import { replicaStatusErrors, templateErrors, type Workload } from "./workload.ts";

type StatefulSet = Workload & {
  spec: {
    serviceName?: string;
    podManagementPolicy?: string;
    updateStrategy: { type?: string; rollingUpdate?: { partition?: number; maxUnavailable?: IntOrPercent } };
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
    volumeClaimTemplates?: Claim[];
    ordinals?: { start: number };
  };
};

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

export const statefulSet = builtIn({
  group: "apps",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
  definition: "io.k8s.api.apps.v1.StatefulSet",
  shortNames: ["sts"],
  categories: ["all"],
  subresources: ["status", "scale"],
  nameFormat: "label",
  columns: [
    nameColumn,
    text("Ready", "Pods that are ready, of those wanted.", object => {
      const { spec, status } = object as StatefulSet;
      return `${count(status.readyReplicas)}/${count(spec.replicas)}`;
    }),
    ageColumn,
    ...templateColumns,
  ],
  rules: {
    countsGeneration: true,
    defaults: object => setDefaults(object as StatefulSet),
    prepare: separateStatus("io.k8s.api.apps.v1.StatefulSetStatus"),
    validate: (object, { old, subresource }) =>
      subresource === "status"
        ? replicaStatusErrors((object as StatefulSet).status, [
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
          ])
        : errors(object as StatefulSet, old as StatefulSet | undefined),
  },
});

function setDefaults({ spec }: StatefulSet): void {
  defaultPodSpec(spec.template.spec);
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.podManagementPolicy ??= "OrderedReady";
  const { updateStrategy } = spec;
  if (updateStrategy.type === undefined) {
    updateStrategy.type = "RollingUpdate";
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === "RollingUpdate" && updateStrategy.rollingUpdate) {
    updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy = {
    whenDeleted: "Retain",
    whenScaled: "Retain",
    ...spec.persistentVolumeClaimRetentionPolicy,
  };
  for (const claim of spec.volumeClaimTemplates ?? []) {
    // Within another object a claim says what it is.
    claim.apiVersion ??= "v1";
    claim.kind ??= "PersistentVolumeClaim";
    defaultClaim(claim);
  }
}

function errors(set: StatefulSet, old: StatefulSet | undefined): FieldError[] {
  const { spec } = set;
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  const path = "spec.persistentVolumeClaimRetentionPolicy";
  const found = [
    ...podManagementErrors(spec.podManagementPolicy),
    ...strategyErrors(spec.updateStrategy),
    ...oneOf(`${path}.whenDeleted`, retention?.whenDeleted, ["Retain", "Delete"]),
    ...oneOf(`${path}.whenScaled`, retention?.whenScaled, ["Retain", "Delete"]),
    ...(old ? [] : (spec.volumeClaimTemplates ?? []).flatMap((claim, i) => claimErrors(claim, i))),
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...nonNegative("spec.ordinals.start", spec.ordinals?.start),
    ...(spec.serviceName && !old ? dnsLabel("spec.serviceName", spec.serviceName) : []),
    ...templateErrors(withClaimVolumes(set), { kind: "statefulset", owner: "StatefulSet", unreadable: "" }),
    // The server looks at these twice.
    ...labels("spec.template.labels", spec.template.metadata.labels),
    ...annotations("spec.template.annotations", spec.template.metadata.annotations),
  ];
  if (old && !deepEqual(fixedPart(spec), fixedPart(old.spec))) found.push(forbidden("spec", changeRule));
  return found;
}

const changeRule =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function fixedPart(spec: StatefulSet["spec"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.includes(field)));
}

/** The pods get a volume for each claim template and host names from the controller. */
function withClaimVolumes(set: StatefulSet): StatefulSet {
  const { template, volumeClaimTemplates = [] } = set.spec;
  const claims = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata.name ?? "",
    persistentVolumeClaim: { claimName: metadata.name ?? "" },
  }));
  const others = template.spec.volumes?.filter(({ name }) => !claims.some(claim => claim.name === name)) ?? [];
  const { hostname: _, subdomain: __, ...podSpec } = template.spec;
  const spec = { ...podSpec, volumes: [...claims, ...others] };
  return { ...set, spec: { ...set.spec, template: { ...template, spec } } };
}

function claimErrors(claim: Claim, index: number): FieldError[] {
  return claimSpecErrors(claim.spec, `spec.volumeClaimTemplates[${index}].spec`);
}

function podManagementErrors(policy: string | undefined): FieldError[] {
  if (policy === "OrderedReady" || policy === "Parallel") return [];
  return [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")];
}

function strategyErrors(strategy: StatefulSet["spec"]["updateStrategy"]): FieldError[] {
  const { type, rollingUpdate } = strategy;
  const path = "spec.updateStrategy.rollingUpdate";
  if (type === "OnDelete") {
    return rollingUpdate ? [invalid(path, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")] : [];
  }
  if (type !== "RollingUpdate") {
    return [invalid("spec.updateStrategy", strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  return [
    ...nonNegative(`${path}.partition`, rollingUpdate?.partition),
    ...intOrPercent(`${path}.maxUnavailable`, rollingUpdate?.maxUnavailable),
    ...atMost100Percent(`${path}.maxUnavailable`, rollingUpdate?.maxUnavailable),
  ];
}
