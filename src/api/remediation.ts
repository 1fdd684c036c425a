// Our own remediators under the medik8s contract: Replace takes the node away, Reboot restarts it. A health check makes
// the remediation from the template of the same kind, and its name is the node's.

import { Duration, Optional, type Static, Struct, Text, Time, Whole } from "./define.ts";
import { defineKind, type KindDefinition } from "./kind-definition.ts";
import { apiVersionOf, type ObjectMeta } from "./meta.ts";
import { TerminationMode } from "./repair.ts";
import { Conditions, ObservedGeneration, Uid } from "./shapes.ts";

const ReplaceSpec = Struct(
  "How the node is replaced.",
  {
    termination: Optional(
      TerminationMode(
        "Forceful ends the node now, PodDisruptionBudgets and grace periods ignored. Graceful drains it first. Default Forceful.",
        "Forceful",
      ),
    ),
  },
  { default: {} },
);

const RebootSpec = Struct(
  "How the node is rebooted.",
  {
    timeout: Optional(
      Duration("How long a reboot may take to bring the node back. Default 10m.", "duration", { default: "10m" }),
    ),
    attempts: Optional(
      Whole("How many reboots are tried before the remediation has failed, 1 to 10. Default 1.", {
        minimum: 1,
        maximum: 10,
        default: 1,
        format: "int32",
      }),
    ),
  },
  { default: {} },
);

const statusFields = {
  observedGeneration: Optional(ObservedGeneration),
  nodeUID: Optional(
    Uid("The uid of the node that this remediation is for; another node of the same name is left alone."),
  ),
  nodeAction: Optional(Text("The name of the NodeAction that carries it out.")),
  conditions: Optional(
    Conditions("Processing, Succeeded and PermanentNodeDeletionExpected, as the medik8s contract says."),
  ),
};

const ReplaceStatus = Struct("How far it is.", statusFields);

const RebootStatus = Struct("How far it is.", {
  ...statusFields,
  bootID: Optional(
    Text("The node's boot id before the first reboot; another one means that it has been rebooted.", {
      maxLength: 128,
    }),
  ),
  attempts: Optional(Whole("How many reboots were asked for.", { minimum: 0 })),
  lastRebootTime: Optional(Time("When the last one was asked for.")),
});

const columns = [
  { name: "Processing", type: "string", jsonPath: '.status.conditions[?(@.type=="Processing")].status' },
  { name: "Succeeded", type: "string", jsonPath: '.status.conditions[?(@.type=="Succeeded")].status' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
] as const;

const family = { group: "fettle.dev", versions: ["v1alpha1"], categories: ["fettle"] } as const;

const TemplateSpec = <T extends typeof ReplaceSpec | typeof RebootSpec>(spec: T) =>
  Struct("The template.", {
    template: Struct("What each remediation is made from.", { spec: Optional(spec) }),
  });

function templates(kind: string, plural: string, spec: typeof ReplaceSpec | typeof RebootSpec): KindDefinition {
  return defineKind({
    ...family,
    kind: `${kind}Template`,
    plural,
    description: `What ${kind}s are made from. The annotation remediation.medik8s.io/multiple-templates-support lets one health check use several.`,
    spec: TemplateSpec(spec),
    columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  });
}

export type ReplaceRemediationSpec = Static<typeof ReplaceSpec>;
export type ReplaceRemediationStatus = Static<typeof ReplaceStatus>;
export type RebootRemediationSpec = Static<typeof RebootSpec>;
export type RebootRemediationStatus = Static<typeof RebootStatus>;

type Remediation<K extends string, Spec, Status> = {
  apiVersion: string;
  kind: K;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
};
export type ReplaceRemediation = Remediation<"ReplaceRemediation", ReplaceRemediationSpec, ReplaceRemediationStatus>;
export type RebootRemediation = Remediation<"RebootRemediation", RebootRemediationSpec, RebootRemediationStatus>;

export const replaceRemediations = defineKind({
  ...family,
  kind: "ReplaceRemediation",
  plural: "replaceremediations",
  description: "Takes a node away so that it is replaced: its NodeClaim, or the Machine that owns it, is deleted.",
  spec: ReplaceSpec,
  status: ReplaceStatus,
  columns,
});

export const rebootRemediations = defineKind({
  ...family,
  kind: "RebootRemediation",
  plural: "rebootremediations",
  description: "Reboots a node through its provider.",
  spec: RebootSpec,
  status: RebootStatus,
  columns,
});

/** Those that we carry out, whoever makes them. */
export const ownRemediationKinds = [replaceRemediations, rebootRemediations].map(({ resource }) => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
}));

export const replaceRemediationTemplates = templates("ReplaceRemediation", "replaceremediationtemplates", ReplaceSpec);
export const rebootRemediationTemplates = templates("RebootRemediation", "rebootremediationtemplates", RebootSpec);
