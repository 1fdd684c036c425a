// How a pool wants its sick nodes treated: which conditions, how long they are tolerated, what happens then.

import {
  Duration,
  IntOrString,
  ListOf,
  Optional,
  patterns,
  type Static,
  StringEnum,
  Struct,
  Text,
  Whole,
} from "./define.ts";
import { ConditionType } from "./shapes.ts";

const modes = ["Disabled", "DryRun", "Enabled"] as const;
const terminations = ["Forceful", "Graceful"] as const;
const actions = ["Replace", "Reboot"] as const;

export type RepairMode = (typeof modes)[number];
export type Termination = (typeof terminations)[number];
export type RepairAction = (typeof actions)[number];

export const TerminationMode = (description: string, fallback?: Termination) =>
  StringEnum(description, terminations, fallback ? { default: fallback } : {});

const own = "Default: the pool's own.";
const attemptBounds = { minimum: 1, maximum: 10, format: "int32" } as const;

const RepairPolicy = Struct(
  "How one kind of sickness is treated. Of several that match a condition the first counts.",
  {
    conditionType: ConditionType("The type of the node condition, such as Ready or KernelDeadlock."),
    conditionStatus: Optional(
      Text(
        'The status that is unhealthy: "True", "False" or "Unknown", quoted. Default: whatever the provider states for this type; if it states nothing, the policy does nothing and says so. Ready covers False and Unknown.',
        { pattern: patterns.conditionStatus, maxLength: 7 },
      ),
    ),
    conditionReasons: Optional(
      ListOf(
        "The condition's reasons that the policy is for; * stands for any run of characters. At most 50. Default: every reason.",
        Text("A reason, such as NvidiaXID*Error.", { minLength: 1, maxLength: 256 }),
        { maxItems: 50, identity: "set" },
      ),
    ),
    toleration: Duration("How long the condition is tolerated before the node is repaired. 0s is legal."),
    priority: Optional(
      Whole(
        "Who comes first when more nodes are due than may go, 0 to 100; every 30 minutes overdue weigh as much as one rank. Default 0.",
        { minimum: 0, maximum: 100, format: "int32", default: 0 },
      ),
    ),
    mode: Optional(StringEnum(`Whether nodes are repaired for this policy. ${own}`, modes)),
    maxUnhealthy: Optional(
      IntOrString(
        "A brake for this policy alone, beside the pool's: with more nodes than this that match the policy now, it repairs none. A count, or a percentage of the pool's registered nodes, rounded up. Default: none.",
      ),
    ),
    termination: Optional(TerminationMode(`How the node goes. ${own}`)),
    action: Optional(StringEnum(`What is done with the node. ${own}`, actions)),
    escalateAfter: Optional(Duration(`How long a reboot may take to heal the node before it is replaced. ${own}`)),
    attempts: Optional(Whole(`How many reboots are tried before the node is replaced, 1 to 10. ${own}`, attemptBounds)),
  },
);
export type RepairPolicy = Static<typeof RepairPolicy>;

export const Repair = Struct(
  "Repair of nodes whose health has failed. Default: on, with the provider's conditions and tolerations, unless the controller runs with --repair-unset=off.",
  {
    mode: Optional(
      StringEnum(
        "Enabled repairs, DryRun decides and shows without doing anything, Disabled leaves sick nodes alone. Default Enabled.",
        modes,
        { default: "Enabled" },
      ),
    ),
    policies: Optional(
      ListOf("Treatment by condition. At most 50. Default: the provider's statements.", RepairPolicy, {
        maxItems: 50,
        identity: "atomic",
      }),
    ),
    defaultTolerationDuration: Optional(
      Duration(
        "How long conditions without a policy of their own are tolerated. Default: the provider's word, 30m as a rule.",
      ),
    ),
    maxUnhealthy: Optional(
      IntOrString(
        "The brake: with more unhealthy nodes than this, nothing is repaired in the pool and its planned disruption pauses. A count, or a percentage of the pool's registered nodes, rounded up. Default 20%.",
        { default: "20%" },
      ),
    ),
    termination: Optional(
      TerminationMode(
        "Forceful ends the node now, PodDisruptionBudgets and grace periods ignored. Graceful launches a replacement where pods need one and drains, with terminationGracePeriod as the limit. Default Forceful.",
        "Forceful",
      ),
    ),
    action: Optional(
      StringEnum("Replace the node, or Reboot it first. Default Replace.", actions, { default: "Replace" }),
    ),
    escalateAfter: Optional(
      Duration(
        "With action Reboot: how long a reboot may take to heal the node before it is replaced. Default 10m.",
        "duration",
        {
          default: "10m",
        },
      ),
    ),
    attempts: Optional(
      Whole("With action Reboot: how many reboots are tried before the node is replaced, 1 to 10. Default 1.", {
        ...attemptBounds,
        default: 1,
      }),
    ),
    flappingWindow: Optional(
      Duration(
        "A condition that comes and goes is due as well once it was bad for its toleration in total within this time. 0s turns that off. Default: twice the toleration.",
      ),
    ),
  },
);
export type Repair = Static<typeof Repair>;
