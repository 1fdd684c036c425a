// NodeAction: one entry of the ledger. Written before anything is done to a node, read by whoever resumes, counted by
// budgets and caps, kept as history. Its rules are a last fence: who, what and to which node never change.

import {
  Duration,
  Flag,
  ListOf,
  Optional,
  rule,
  type Static,
  StringEnum,
  Struct,
  Text,
  Time,
  Whole,
} from "./define.ts";
import { budgetedActions } from "./budget.ts";
import { defineKind } from "./kind-definition.ts";
import type { ObjectMeta } from "./meta.ts";
import { TerminationMode } from "./repair.ts";
import { Name, NodeConditionStatus, NodeConditionType, ObservedGeneration, Uid } from "./shapes.ts";

/** Beside what budgets hold: a health check's remediation, a person's delete, and the clearing up of pools and claims. */
export const ledgerActions = [...budgetedActions, "Remediation", "Deletion", "ScaleDown", "GarbageCollection"] as const;

export const phases = ["Pending", "WaitingForReplacement", "Running", "Done", "Failed", "Abandoned", "DryRun"] as const;
export type Phase = (typeof phases)[number];
export const finalPhases = ["Done", "Failed", "Abandoned"] as const satisfies readonly Phase[];

const Action = (description: string) => StringEnum(description, ledgerActions);

const Reference = (description: string) => Struct(description, { name: Name("Its name."), uid: Uid("Its uid.") });

const Asker = (description: string) =>
  Struct(description, {
    kind: StringEnum("What kind of asker: an object of that kind, a person, or the controller itself.", [
      "NodePool",
      "NodeHealthCheck",
      "Person",
      "Controller",
    ]),
    name: Name("The object's name, the user's name, or the part of the controller."),
    uid: Optional(Uid("The object's uid.")),
  });

const Evidence = Struct("One thing that was seen and speaks for the action.", {
  kind: StringEnum("What kind of thing.", [
    "Condition",
    "NeverReady",
    "Flapping",
    "Age",
    "Drift",
    "Empty",
    "Cheaper",
    "DeletionTimestamp",
    "InstanceGone",
    "SurplusReplica",
    "RemediationObject",
  ]),
  conditionType: Optional(NodeConditionType("The type of the node condition.")),
  conditionStatus: Optional(NodeConditionStatus("Its status.")),
  conditionReason: Optional(Text("Its reason.", { maxLength: 1024 })),
  message: Optional(Text("What was seen, for people.", { maxLength: 4096 })),
  since: Optional(Time("Since when.")),
  clock: Optional(
    StringEnum(
      "By whose clock: the one who reported the condition, our own sight of it, or the node's creation, which nothing can be older than.",
      ["Reporter", "Observer", "Creation"],
    ),
  ),
  reportedSince: Optional(Time("Since when by its reporter, where another clock was believed.")),
  toleration: Optional(Duration("How long it was tolerated.")),
  dueAt: Optional(Time("When the action became due by it.")),
  seenAt: Time("When we saw it."),
  resourceVersion: Optional(Text("The version of the object in which we saw it.", { maxLength: 64 })),
});
export type Evidence = Static<typeof Evidence>;

const Place = {
  kind: Text("The kind of object that says so, or Provider, or Default.", { minLength: 1, maxLength: 63 }),
  name: Optional(Text("Its name.")),
  path: Optional(Text("The field, such as spec.repair.policies[0].", { maxLength: 512 })),
  generation: Optional(Whole("The object's generation then.", { minimum: 0 })),
};

const Limit = (description: string) =>
  Struct(description, {
    ...Place,
    allowed: Whole("How many nodes it allowed to be going away then.", { minimum: 0 }),
    counted: Whole("How many were, before this one.", { minimum: 0 }),
  });

const Spec = Struct(
  "What is done, to which node, and why. Who and what never change; a stronger reason may join.",
  {
    node: Reference("The node. A node of the same name with another uid is another node."),
    claim: Optional(Reference("The node's claim, if it has one.")),
    machine: Optional(
      Struct("The Machine of Cluster API that owns the node and goes in place of a claim.", {
        namespace: Text("Its namespace.", { minLength: 1, maxLength: 63 }),
        name: Name("Its name."),
      }),
    ),
    nodePool: Optional(Text("The node's pool, if it has one.", { maxLength: 63 })),
    zone: Optional(Text("The node's zone as the claim says, else as the node's label says.")),
    action: Action("What is done."),
    method: StringEnum("By which means: the node is terminated, rebooted, or left to a remediation object.", [
      "Terminate",
      "Reboot",
      "Remediate",
    ]),
    termination: Optional(TerminationMode("Whether the node is ended by force or drained.")),
    askedBy: Asker("Who asked for it."),
    message: Text("The reason in one sentence.", { maxLength: 4096 }),
    evidence: ListOf("What was seen. At most 100.", Evidence, { maxItems: 100, identity: "atomic" }),
    policy: Optional(Struct("The policy that asks for it.", Place)),
    budget: Optional(Limit("The budget that allowed it.")),
    caps: Optional(
      ListOf("The caps of the SafetyPolicy that allowed it.", Limit("A cap."), { maxItems: 20, identity: "atomic" }),
    ),
    joined: Optional(
      ListOf(
        "Stronger reasons that met the action while it ran. It is still counted once.",
        Struct("A reason that joined.", {
          action: Action("What it would have been on its own."),
          askedBy: Asker("Who asked for it."),
          at: Time("When it joined."),
          message: Text("The reason in one sentence.", { maxLength: 4096 }),
          evidence: ListOf("What was seen. At most 100.", Evidence, { maxItems: 100, identity: "atomic" }),
        }),
        { maxItems: 20, identity: "atomic" },
      ),
    ),
    batch: Optional(Text("Actions with the same batch were decided as one command.", { maxLength: 63 })),
    replacements: Optional(
      ListOf(
        "The claims that must be initialized before the node is drained. Their names are chosen before the first try.",
        Struct("A claim.", { name: Name("Its name."), uid: Optional(Uid("Its uid, once it exists.")) }),
        { maxItems: 100, identity: ["name"] },
      ),
    ),
    remediation: Optional(
      Struct("The remediation object, with method Remediate.", {
        apiVersion: Text("Group and version.", { minLength: 1 }),
        kind: Text("The kind.", { minLength: 1, maxLength: 63 }),
        namespace: Optional(Text("The namespace, if the kind has one.", { maxLength: 63 })),
        name: Name("The name."),
        uid: Optional(Uid("Its uid, once it exists.")),
      }),
    ),
    deadline: Optional(Time("When what is left on the node is deleted by force. It can only come nearer.")),
    timeout: Optional(
      Duration("With method Reboot: how long after its start the node must have recovered. Default 10m."),
    ),
    decidedAt: Time("When it was decided."),
    dryRun: Optional(Flag("Only shown, never carried out and never counted. Default false.")),
    epoch: Whole("The term of the leader that decided or adopted it. It only grows.", { minimum: 0 }),
  },
  {
    rules: [
      rule(
        "self.node == oldSelf.node && self.action == oldSelf.action && self.method == oldSelf.method",
        "node, action and method are immutable; what is done to another node is another NodeAction",
      ),
      rule("self.epoch >= oldSelf.epoch", "a newer leader has adopted this action; an older one may not change it"),
      rule(
        "!has(oldSelf.deadline) || (has(self.deadline) && self.deadline <= oldSelf.deadline)",
        "a deadline can only come nearer",
      ),
    ],
  },
);

const Step = Struct("A step of the action.", {
  name: Text("What is done, such as taint, drain or delete-instance.", { minLength: 1, maxLength: 63 }),
  startedAt: Time("When it began."),
  finishedAt: Optional(Time("When it ended.")),
  attempts: Optional(Whole("How often it was tried.", { minimum: 0 })),
  message: Optional(Text("How it stands, or how it ended.", { maxLength: 4096 })),
});

const Status = Struct(
  "How far it is.",
  {
    observedGeneration: Optional(ObservedGeneration),
    phase: Optional(
      StringEnum(
        "The state in one word; absent: Pending. Every phase but DryRun is counted until the action is over.",
        phases,
      ),
    ),
    startedAt: Optional(Time("When the first step began.")),
    finishedAt: Optional(Time("When it was over.")),
    steps: Optional(ListOf("What was done. At most 100.", Step, { maxItems: 100, identity: ["name"] })),
    waitingFor: Optional(
      Struct("What it waits for: why the node is still here.", {
        reason: Text("The cause as one word.", { minLength: 1, maxLength: 63 }),
        message: Text("The cause in one sentence, with the name of whoever holds it up.", { maxLength: 4096 }),
        since: Time("Since when."),
        until: Optional(Time("Until when, where that is known.")),
      }),
    ),
    bootID: Optional(
      Text("With method Reboot: the node's boot id before it; another one means that the node has been rebooted.", {
        maxLength: 128,
      }),
    ),
    outcome: Optional(Text("How it ended, in one sentence.", { maxLength: 4096 })),
    error: Optional(Text("The last error, in one sentence.", { maxLength: 4096 })),
  },
  {
    rules: [
      rule(
        `!has(oldSelf.phase) || !(oldSelf.phase in [${finalPhases.map(phase => `'${phase}'`).join(", ")}]) || (has(self.phase) && self.phase == oldSelf.phase)`,
        "an action that is over stays over",
      ),
    ],
  },
);

export type NodeActionSpec = Static<typeof Spec>;
export type NodeActionStatus = Static<typeof Status>;
export type NodeAction = {
  apiVersion: string;
  kind: "NodeAction";
  metadata: ObjectMeta;
  spec: NodeActionSpec;
  status?: NodeActionStatus;
};

export const nodeActions = defineKind({
  group: "fettle.dev",
  versions: ["v1alpha1"],
  kind: "NodeAction",
  plural: "nodeactions",
  shortNames: ["na"],
  categories: ["fettle"],
  description: "Something that Fettle does to a node, or in dry run would do, with its reason and its course.",
  spec: Spec,
  status: Status,
  selectableFields: [".spec.node.name", ".spec.action", ".status.phase"],
  columns: [
    { name: "Node", type: "string", jsonPath: ".spec.node.name" },
    { name: "Action", type: "string", jsonPath: ".spec.action" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "AskedBy", type: "string", jsonPath: ".spec.askedBy.name" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "WaitingFor", type: "string", jsonPath: ".status.waitingFor.message", priority: 1 },
    { name: "Outcome", type: "string", jsonPath: ".status.outcome", priority: 1 },
    { name: "Reason", type: "string", jsonPath: ".spec.message", priority: 1 },
  ],
});
