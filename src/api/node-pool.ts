// NodePool: which nodes may be launched, and how they are repaired and disrupted. The shape, not the meaning: aliases
// and defaults that depend on other fields are resolved by effectiveNodePool (effective.ts).

import { ActionControls, Budgets, Windows } from "./budget.ts";
import {
  Duration,
  Flag,
  MapOf,
  Optional,
  Percent,
  patterns,
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
import { keyRules, nodeTemplateFields } from "./node-template.ts";
import { Repair } from "./repair.ts";
import { Conditions, LabelValue, ResourceList } from "./shapes.ts";

const consolidationPolicies = ["WhenEmpty", "WhenUnderutilized", "WhenEmptyOrUnderutilized", "Balanced"] as const;

const ConsolidationPolicy = (description: string) => StringEnum(description, consolidationPolicies);
const ConsolidateAfter = (description: string) => Duration(description, "durationOrNever");

const ExpireAfter = (description: string) => Duration(description, "durationOrNever");

const labelKeys = keyRules("k", check => `self.all(k, ${check})`);

const Template = Struct(
  "What every node of the pool has in common. Default: the provider's default class, without further demands.",
  {
    metadata: Optional(
      Struct("Labels and annotations of each NodeClaim and node.", {
        labels: Optional(
          MapOf("Labels. At most 100; a change is drift.", LabelValue("The label's value."), {
            maxProperties: 100,
            rules: [
              ...labelKeys.reserved,
              labelKeys.notTheNodePool,
              rule(
                `self.all(k, k.size() <= 316 && k.matches('${patterns.qualifiedName}'))`,
                "label keys are a name of at most 63 characters, with a DNS domain and a slash in front if need be",
              ),
            ],
          }),
        ),
        annotations: Optional(
          MapOf(
            "Annotations. At most 10,000; a change is drift.",
            Text("The annotation's value.", { maxLength: 262144 }),
            {
              maxProperties: 10000,
            },
          ),
        ),
      }),
    ),
    spec: Optional(
      Struct("What each NodeClaim of the pool asks for.", {
        ...nodeTemplateFields("a node of the pool"),
        expireAfter: Optional(
          ExpireAfter(
            "The age at which a node is replaced, or Never. Whole hours, minutes and seconds. Default 720h. A change is drift.",
          ),
        ),
      }),
    ),
  },
);

const Disruption = Struct(
  "When and how fast Fettle may take nodes of the pool away by its own choice.",
  {
    consolidationPolicy: Optional(
      ConsolidationPolicy(
        "Which nodes may be consolidated. WhenEmpty: those that nothing runs on. WhenUnderutilized, of which WhenEmptyOrUnderutilized is another name: also those whose pods fit elsewhere or on something cheaper. Balanced: the latter only where the saving is worth the disruption. Default WhenUnderutilized. Ignored with replicas.",
      ),
    ),
    consolidateAfter: Optional(
      ConsolidateAfter(
        "How long a node must have been left alone by pods before it may be consolidated, or Never. Whole hours, minutes and seconds. Default 15s. Ignored with replicas.",
      ),
    ),
    expireAfter: Optional(
      ExpireAfter("The place of template.spec.expireAfter in v1beta1, accepted still. Not in both places."),
    ),
    budgets: Optional(Budgets),
    budgetPrecedence: Optional(
      StringEnum(
        "How budgets for All and for an action of its own add up. MostRestrictive: the smallest of both counts, a freeze freezes. ActionOverridesAll: where an action has an active budget of its own, those for All do not hold it. Default MostRestrictive.",
        ["MostRestrictive", "ActionOverridesAll"],
        { default: "MostRestrictive" },
      ),
    ),
    actionControls: Optional(
      ActionControls(
        "Controls by action: how long to wait, and budgets, which count together with disruption.budgets.",
      ),
    ),
    genericPerActionControls: Optional(ActionControls("Another name of actionControls. Not together with it.")),
    windows: Optional(Windows),
    minSavings: Optional(
      Percent(
        "What a consolidation must save at least, as a percentage of the price of the nodes it takes away, against churn for small change. 0% to 100%, default 0%.",
        { default: "0%" },
      ),
    ),
    maxDoNotDisrupt: Optional(
      Duration(
        "How long the annotation karpenter.sh/do-not-disrupt may hold a node, counted from the start of the pod that bears it, or from when the claim says that it is on a node. Whole hours, minutes and seconds. Default: for ever.",
        "wholeDuration",
      ),
    ),
  },
  {
    rules: [
      rule(
        "!(has(self.actionControls) && has(self.genericPerActionControls))",
        "actionControls and genericPerActionControls are the same; set one of them",
      ),
    ],
  },
);

const notTwice = (field: string) =>
  rule(
    `!has(self.${field}) || !has(self.disruption) || !has(self.disruption.${field})`,
    `${field} may stand under spec.disruption or under spec, not in both places`,
  );

const classOf = (spec: string) =>
  `has(${spec}.template) && has(${spec}.template.spec) && has(${spec}.template.spec.nodeClassRef)`;

const Spec = Struct(
  "What is wanted of the pool.",
  {
    template: Optional(Template),
    disruption: Optional(Disruption),
    consolidationPolicy: Optional(
      ConsolidationPolicy("Another place for disruption.consolidationPolicy. Not in both places."),
    ),
    consolidateAfter: Optional(ConsolidateAfter("Another place for disruption.consolidateAfter. Not in both places.")),
    repair: Optional(Repair),
    limits: Optional(
      ResourceList(
        "How much the pool may have in all: quantities by resource; the resource nodes counts nodes. With replicas only nodes. Default: no limit.",
      ),
    ),
    weight: Optional(
      Whole("Which pool is tried first for a pending pod: the heaviest, 1 to 100. Default 0. Not with replicas.", {
        minimum: 1,
        maximum: 100,
        format: "int32",
      }),
    ),
    replicas: Optional(
      Whole(
        "Keep exactly this many nodes, at least 0, whatever pods wait. It can neither be added to nor taken from an existing pool. Default: as many as the pods need.",
        // The scale subresource knows no more; said here, it is known without a server too.
        { minimum: 0, maximum: 2147483647 },
      ),
    ),
    podPlacement: Optional(
      StringEnum(
        "Who says on which new node a pod goes that has waited for one. Scheduler: the scheduler, which spreads pods as they come. Planned: as the machines were chosen, by status.nominatedNodeName of each pod; cheaper where machines differ, and pods of one workload may share a node. Default Scheduler.",
        ["Scheduler", "Planned"],
      ),
    ),
    dryRun: Optional(
      Flag("Decide and show everything for this pool, and do nothing: no repair, no disruption. Default false."),
    ),
  },
  {
    rules: [
      notTwice("consolidationPolicy"),
      notTwice("consolidateAfter"),
      rule(
        "!(has(self.disruption) && has(self.disruption.expireAfter) && has(self.template) && has(self.template.spec) && has(self.template.spec.expireAfter))",
        "expireAfter may stand under template.spec or under disruption, not in both places",
      ),
      rule("has(self.replicas) == has(oldSelf.replicas)", "replicas can be neither added nor removed; make a new pool"),
      rule(
        "!has(self.replicas) || !has(self.limits) || self.limits.all(resource, resource == 'nodes')",
        "with replicas only limits.nodes is possible",
      ),
      rule("!has(self.replicas) || !has(self.weight)", "with replicas a weight has no meaning; leave it out"),
      rule(`!(${classOf("oldSelf")}) || ${classOf("self")}`, "nodeClassRef cannot be removed; make a new pool"),
    ],
  },
);

const Status = Struct("What Fettle sees of the pool.", {
  resources: Optional(ResourceList("The sum of what the pool's nodes have.")),
  nodes: Optional(Whole("How many nodes the pool has.", { default: 0, minimum: 0 })),
  unhealthyNodes: Optional(Whole("How many of them match an unhealthy condition now.", { minimum: 0 })),
  nodeClassObservedGeneration: Optional(
    Whole("The generation of the node class that NodeRegistrationHealthy speaks of."),
  ),
  launchBackoff: Optional(
    Struct("Set while launches are held back because earlier ones failed.", {
      failures: Whole("How many in a row.", { minimum: 0 }),
      until: Time("When the next launch may be tried."),
    }),
  ),
  conditions: Optional(
    Conditions(
      "Ready sums up ValidationSucceeded and NodeClassReady; NodeRegistrationHealthy says whether nodes come up, RepairBlocked whether the brake holds, RepairPolicyWithoutEffect which policies can never match.",
    ),
  ),
});

export type NodePoolSpec = Static<typeof Spec>;
export type NodePoolStatus = Static<typeof Status>;
export type NodePool = {
  apiVersion: string;
  kind: "NodePool";
  metadata: ObjectMeta;
  spec: NodePoolSpec;
  status?: NodePoolStatus;
};

export const nodePools = defineKind({
  group: "karpenter.sh",
  versions: ["v1", "v1beta1"],
  kind: "NodePool",
  plural: "nodepools",
  categories: ["karpenter", "fettle"],
  description: "A kind of nodes: where they may run, how many there may be, how they are repaired and disrupted.",
  spec: Spec,
  status: Status,
  // It becomes a label value of each node.
  name: { type: "string", maxLength: 63 },
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
  columns: [
    { name: "NodeClass", type: "string", jsonPath: ".spec.template.spec.nodeClassRef.name" },
    { name: "Nodes", type: "integer", jsonPath: ".status.nodes" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Unhealthy", type: "integer", jsonPath: ".status.unhealthyNodes", priority: 1 },
    { name: "Repair", type: "string", jsonPath: ".spec.repair.mode", priority: 1 },
    { name: "Weight", type: "integer", jsonPath: ".spec.weight", priority: 1 },
    { name: "CPU", type: "string", jsonPath: ".status.resources.cpu", priority: 1 },
    { name: "Memory", type: "string", jsonPath: ".status.resources.memory", priority: 1 },
  ],
});
