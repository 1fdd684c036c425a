// SafetyPolicy: the limits over all pools and health checks. There is one, named default; without it its defaults hold.
// It holds back starts, never what has begun, nor a person's own delete.

import {
  Duration,
  Flag,
  IntOrString,
  ListOf,
  Optional,
  Percent,
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
import {
  Conditions,
  LabelSelector,
  Name,
  NodeConditionStatus,
  NodeConditionType,
  ObservedGeneration,
} from "./shapes.ts";

/** Decision 13: an RFC 3339 deadline on the policy says that the cluster is being upgraded until then. */
export const clusterUpgradeAnnotation = "fettle.dev/cluster-upgrade";

type Share = { cluster: string; zone: string; perWindow: string };

const of = (what: string, share: string | undefined) => {
  const words = `a count, or a percentage of ${what}, rounded up. Default: ${share ?? "no cap"}.`;
  return [words, share === undefined ? {} : { default: share }] as const;
};

function Cap(description: string, shares: Share | undefined) {
  const [cluster, clusterDefault] = of("the cluster's nodes", shares?.cluster);
  const [zone, zoneDefault] = of("the zone's nodes", shares?.zone);
  const [perWindow, windowDefault] = of("the cluster's nodes", shares?.perWindow);
  return Struct(
    description,
    {
      cluster: Optional(
        IntOrString(`How many nodes may be going away at once in the cluster: ${cluster}`, clusterDefault),
      ),
      zone: Optional(IntOrString(`How many nodes may be going away at once in one zone: ${zone}`, zoneDefault)),
      perWindow: Optional(
        Struct(
          "A cap on how many go within a span of time.",
          {
            nodes: Optional(IntOrString(`How many nodes may have gone or be going: ${perWindow}`, windowDefault)),
            duration: Optional(
              Duration(
                "Within how long, looking back from now. At least 1m and at most 168h, default 1h.",
                "duration",
                {
                  default: "1h",
                  rules: [
                    rule(
                      "duration(self) >= duration('1m') && duration(self) <= duration('168h')",
                      "must be at least 1m and at most 168h: finished actions are kept for seven days",
                    ),
                  ],
                },
              ),
            ),
          },
          shares ? { default: {} } : {},
        ),
      ),
    },
    shares ? { default: {} } : {},
  );
}

const Breadth = (where: string, nodes: number, share: string) =>
  Struct(
    `How many nodes of ${where} make it.`,
    {
      nodes: Optional(
        Whole(`At least so many nodes, default ${nodes}.`, { minimum: 1, default: nodes, format: "int32" }),
      ),
      share: Optional(
        Percent(`And more than this share of the nodes of ${where}, default ${share}.`, { default: share }),
      ),
    },
    { default: {} },
  );

const Spec = Struct(
  "What holds for all pools and health checks together.",
  {
    dryRun: Optional(
      Flag("Decide and show everything in the cluster, and do nothing. Default false.", { default: false }),
    ),
    freeze: Optional(
      Struct("While this is set, nothing new starts. Default: no freeze.", {
        reason: Text("Why, for those who wonder.", { minLength: 1, maxLength: 1024 }),
        scope: Optional(
          StringEnum(
            "Everything, or only Disruption: consolidation, emptiness, expiration and drift. Default Everything.",
            ["Everything", "Disruption"],
            { default: "Everything" },
          ),
        ),
        until: Optional(Time("When it ends by itself. Default: when the field is removed.")),
      }),
    ),
    untouchable: Optional(
      LabelSelector("Nodes that nothing is ever started on. Default: none.", [
        rule(
          "(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",
          "an empty selector would mean every node; name labels, or use freeze",
        ),
      ]),
    ),
    caps: Optional(
      Struct(
        "Caps on nodes going away, over all pools. An action must be within every cap that counts it.",
        {
          repair: Optional(Cap("Repair and remediation together.", { cluster: "10%", zone: "20%", perWindow: "20%" })),
          disruption: Optional(
            Cap("Consolidation, emptiness, expiration and drift together. Default: only their budgets.", undefined),
          ),
          all: Optional(Cap("Every node that goes away, whoever asked. Default: no cap.", undefined)),
        },
        { default: {} },
      ),
    ),
    correlatedFailure: Optional(
      Struct(
        "When many nodes get the same condition at about the same time, the fault is taken to lie elsewhere: repair and remediation for that condition stop.",
        {
          mode: Optional(
            StringEnum("Whether this is watched for. Default Enabled.", ["Disabled", "Enabled"], {
              default: "Enabled",
            }),
          ),
          within: Optional(
            Duration("How close together the conditions must have begun. Default 5m.", "duration", { default: "5m" }),
          ),
          cluster: Optional(Breadth("the cluster", 5, "30%")),
          zone: Optional(Breadth("one zone", 3, "60%")),
          clearAfter: Optional(
            Duration("How long the share must have been below before repair goes on. Default 5m.", "duration", {
              default: "5m",
            }),
          ),
        },
        { default: {} },
      ),
    ),
    settle: Optional(
      Struct(
        "Repair and remediation in a pool or check wait until nothing in it has newly turned sick for a while, so that a failure that still spreads is counted whole.",
        {
          quiet: Optional(Duration("For how long. 0s turns it off. Default 10s.", "duration", { default: "10s" })),
          max: Optional(Duration("How long they wait in all at most. Default 1m.", "duration", { default: "1m" })),
        },
        { default: {} },
      ),
    ),
  },
  { default: {} },
);

const counts = {
  nodes: Whole("How many nodes there are.", { minimum: 0 }),
  goingAway: Whole("How many of them are going away.", { minimum: 0 }),
};

const Status = Struct("What Fettle sees.", {
  observedGeneration: Optional(ObservedGeneration),
  nodes: Optional(counts.nodes),
  goingAway: Optional(counts.goingAway),
  goneInWindow: Optional(Whole("How many went within the window of caps.repair.", { minimum: 0 })),
  zones: Optional(
    ListOf("The same by zone.", Struct("A zone.", { name: Name("The zone's name."), ...counts }), {
      maxItems: 1000,
      identity: ["name"],
    }),
  ),
  correlatedFailures: Optional(
    ListOf(
      "Failures that are held to have one cause elsewhere.",
      Struct("A failure.", {
        conditionType: NodeConditionType("The condition."),
        conditionStatus: NodeConditionStatus("Its status."),
        zone: Optional(Text("The zone, if it is confined to one.")),
        nodes: Whole("How many nodes have it.", { minimum: 0 }),
        since: Time("Since when repair for it is stopped."),
      }),
      { maxItems: 1000, identity: "atomic" },
    ),
  ),
  conditions: Optional(Conditions("Ready says whether the policy could be understood and is in force.")),
});

export type SafetyPolicySpec = Static<typeof Spec>;
export type SafetyPolicyStatus = Static<typeof Status>;
export type SafetyPolicy = {
  apiVersion: string;
  kind: "SafetyPolicy";
  metadata: ObjectMeta;
  spec: SafetyPolicySpec;
  status?: SafetyPolicyStatus;
};

export const safetyPolicies = defineKind({
  group: "fettle.dev",
  versions: ["v1alpha1"],
  kind: "SafetyPolicy",
  plural: "safetypolicies",
  shortNames: ["safety"],
  categories: ["fettle"],
  description:
    "The limits over all pools and health checks. There is one, named default; without it its defaults hold.",
  spec: Spec,
  status: Status,
  name: { type: "string", maxLength: 253 },
  rules: [
    rule("self.metadata.name == 'default'", "there is one SafetyPolicy, and its name is default", {
      fieldPath: ".metadata.name",
    }),
  ],
  columns: [
    { name: "DryRun", type: "boolean", jsonPath: ".spec.dryRun" },
    { name: "Freeze", type: "string", jsonPath: ".spec.freeze.reason" },
    { name: "Nodes", type: "integer", jsonPath: ".status.nodes" },
    { name: "GoingAway", type: "integer", jsonPath: ".status.goingAway" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
