// NodeHealthCheck: when nodes count as failed, and which remediation is asked for. What medik8s refuses by webhook is
// refused here by rule, except what needs the cluster's state; that is judged at run time.

import {
  Duration,
  Flag,
  IntOrString,
  ListOf,
  MapOf,
  Optional,
  rule,
  type Static,
  StringEnum,
  Struct,
  Text,
  Time,
  Whole,
} from "./define.ts";
import { defineKind } from "./kind-definition.ts";
import type { ObjectMeta } from "./meta.ts";
import type { Rule } from "./schema/schema.ts";
import {
  Conditions,
  LabelSelector,
  Name,
  NodeConditionStatus,
  NodeConditionType,
  ObservedGeneration,
} from "./shapes.ts";

const referenceFields = {
  apiVersion: Text("Group and version.", { minLength: 1 }),
  kind: Text("The kind.", { minLength: 1, maxLength: 63 }),
  name: Name("The name."),
  namespace: Optional(Text("The namespace, if the kind has one.", { maxLength: 63 })),
  uid: Optional(Text("The object's uid.", { maxLength: 128 })),
  resourceVersion: Optional(Text("Accepted, not used.")),
  fieldPath: Optional(Text("Accepted, not used.", { maxLength: 1024 })),
};

const TemplateReference = (description: string) =>
  Struct(description, referenceFields, {
    "x-kubernetes-map-type": "atomic",
    rules: [rule("self.kind.endsWith('Template')", "the kind of a remediation template ends in Template")],
  });
export type TemplateReference = Static<ReturnType<typeof TemplateReference>>;

const UnhealthyCondition = Struct("A condition that makes a node unhealthy.", {
  type: NodeConditionType("The type of the node condition."),
  status: NodeConditionStatus('The status that is unhealthy: as a rule "True", "False" or "Unknown", quoted.'),
  duration: Duration("How long the condition must have had this status."),
});
export type UnhealthyCondition = Static<typeof UnhealthyCondition>;

const Escalation = Struct("One step of remediation.", {
  remediationTemplate: TemplateReference("The template that this step makes its remediation from."),
  order: Whole("Steps run in ascending order; no two have the same."),
  timeout: Duration("How long the step may take before the next one starts. At least 1m.", "duration", {
    rules: [rule("duration(self) >= duration('1m')", "must be at least 1m")],
  }),
});

/**
 * Over several fields of the spec. A check that was stored under other rules and breaks this one already can still be
 * paused, as a server does by itself for what a single field may be.
 */
function ruleOnEdit(expression: string, message: string, isOld = `!(${expression.replaceAll("self.", "old.")})`): Rule {
  const before = isOld.replaceAll("old.", "oldSelf.value().");
  return rule(`(${expression}) || (oldSelf.hasValue() && ${before})`, message, { optionalOldSelf: true });
}

const deletesMachines = "kind.lowerAscii() == 'machinedeletionremediationtemplate'";

const Spec = Struct(
  "What is wanted of the check.",
  {
    selector: Optional(LabelSelector("The nodes that are checked. Default, also for an empty selector: all nodes.")),
    unhealthyConditions: Optional(
      ListOf(
        "What makes a node unhealthy; one of them is enough. At most 1,000, none twice. Default: Ready False or Unknown for 300s.",
        UnhealthyCondition,
        {
          maxItems: 1000,
          identity: ["type", "status"],
          default: [
            { type: "Ready", status: "False", duration: "300s" },
            { type: "Ready", status: "Unknown", duration: "300s" },
          ],
        },
      ),
    ),
    maxUnhealthy: Optional(
      IntOrString(
        "With more nodes than this not healthy, no further remediation starts. A count, or a percentage of the selected nodes, rounded down but not below 1. Default 49%, unless minHealthy is set.",
      ),
    ),
    minHealthy: Optional(
      IntOrString(
        "With fewer nodes than this healthy, no further remediation starts. A count, or a percentage of the selected nodes, rounded up. Not together with maxUnhealthy.",
      ),
    ),
    remediationTemplate: Optional(
      TemplateReference("The template that remediations are made from. This or escalatingRemediations."),
    ),
    escalatingRemediations: Optional(
      ListOf("Several remediations, one after the other while the node stays unhealthy. At most 100.", Escalation, {
        maxItems: 100,
        identity: ["order"],
      }),
    ),
    pauseRequests: Optional(
      ListOf(
        "Why no new remediation may start, one entry for each who asks; what runs goes on. At most 1,000. Default: not paused.",
        Text("Who pauses, and why.", { maxLength: 1024 }),
        { maxItems: 1000, identity: "atomic" },
      ),
    ),
    healthyDelay: Optional(
      Duration(
        "How long a node must have been healthy again before its remediation is removed. Negative: until somebody confirms it by annotation. Default 0s.",
        "signedDuration",
      ),
    ),
    stormCooldownDuration: Optional(
      Duration(
        "How long no remediation starts after maxUnhealthy or minHealthy had stopped them and is met again. Default 0s.",
      ),
    ),
    dryRun: Optional(Flag("Decide and show everything for this check, and create no remediation. Default false.")),
  },
  {
    rules: [
      ruleOnEdit("!(has(self.minHealthy) && has(self.maxUnhealthy))", "set either minHealthy or maxUnhealthy"),
      ruleOnEdit(
        "has(self.remediationTemplate) != (has(self.escalatingRemediations) && self.escalatingRemediations.size() > 0)",
        "set either remediationTemplate or escalatingRemediations",
      ),
      ruleOnEdit(
        `!has(self.maxUnhealthy) || !(has(self.remediationTemplate) && self.remediationTemplate.${deletesMachines} || has(self.escalatingRemediations) && self.escalatingRemediations.exists(e, e.remediationTemplate.${deletesMachines}))`,
        "maxUnhealthy cannot be used with a remediation that deletes machines; use minHealthy",
        // To ask the same of what was there would cost more than a server allows, which does not know how long that was.
        "has(old.maxUnhealthy) && (has(self.remediationTemplate) ? has(old.remediationTemplate) && self.remediationTemplate.kind == old.remediationTemplate.kind : has(old.escalatingRemediations) && self.escalatingRemediations == old.escalatingRemediations)",
      ),
    ],
  },
);

const Remediation = Struct("A remediation of the node.", {
  resource: Struct("The remediation object.", {
    ...referenceFields,
    apiVersion: Optional(referenceFields.apiVersion),
    kind: Optional(referenceFields.kind),
    name: Optional(referenceFields.name),
  }),
  started: Time("When it was created."),
  timedOut: Optional(Time("When its time was up.")),
  templateName: Optional(Text("The name of the template it was made from.")),
});

const Status = Struct("What Fettle sees of the selected nodes.", {
  observedGeneration: Optional(ObservedGeneration),
  observedNodes: Optional(Whole("How many nodes are selected.", { minimum: 0 })),
  healthyNodes: Optional(Whole("How many of them are healthy and have no remediation.", { minimum: 0 })),
  inFlightRemediations: Optional(
    MapOf("No longer written; see unhealthyNodes.", Time("When it began."), { maxProperties: 2000 }),
  ),
  unhealthyNodes: Optional(
    ListOf(
      "The nodes that are not healthy. At most 2,000; observedNodes and healthyNodes count beyond that.",
      Struct("A node that is not healthy.", {
        name: Name("The node's name."),
        remediations: Optional(ListOf("What was created for it.", Remediation, { maxItems: 100, identity: "atomic" })),
        conditionsHealthyTimestamp: Optional(Time("When its conditions became healthy again.")),
        healthyDelayed: Optional(Flag("Whether healthyDelay keeps its remediation.")),
      }),
      // Each item has its owner in managedFields: 2,000 cost a server half a second a write, 50,000 more than twenty,
      // and etcd takes no object of that size.
      { maxItems: 2000, identity: ["name"] },
    ),
  ),
  conditions: Optional(
    Conditions("Disabled, StormActive and StormCooldownActive as in medik8s; others say what holds the check back."),
  ),
  phase: Optional(StringEnum("The state in one word.", ["Disabled", "Paused", "Remediating", "Enabled"])),
  reason: Optional(Text("Why that phase.", { maxLength: 4096 })),
  lastUpdateTime: Optional(Time("When the status last changed.")),
});

export type NodeHealthCheckSpec = Static<typeof Spec>;
export type NodeHealthCheckStatus = Static<typeof Status>;
export type NodeHealthCheck = {
  apiVersion: string;
  kind: "NodeHealthCheck";
  metadata: ObjectMeta;
  spec: NodeHealthCheckSpec;
  status?: NodeHealthCheckStatus;
};

export const nodeHealthChecks = defineKind({
  group: "remediation.medik8s.io",
  versions: ["v1alpha1"],
  kind: "NodeHealthCheck",
  plural: "nodehealthchecks",
  shortNames: ["nhc"],
  categories: ["fettle"],
  description: "A watch over nodes that asks for remediation when they fail.",
  spec: Spec,
  status: Status,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Observed", type: "integer", jsonPath: ".status.observedNodes" },
    { name: "Healthy", type: "integer", jsonPath: ".status.healthyNodes" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "MaxUnhealthy", type: "string", jsonPath: ".spec.maxUnhealthy", priority: 1 },
    { name: "MinHealthy", type: "string", jsonPath: ".spec.minHealthy", priority: 1 },
    { name: "Reason", type: "string", jsonPath: ".status.reason", priority: 1 },
  ],
});
