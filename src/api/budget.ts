// How many nodes of a pool may be taken away at once, by which action, and when: budgets, windows, controls by action.
// Only their shape: what they add up to is decide/budgets.ts, which of two spellings counts is effective.ts.

import {
  Duration,
  IntOrString,
  ListOf,
  Optional,
  patterns,
  rule,
  type Static,
  StringEnum,
  Struct,
  Text,
} from "./define.ts";

/** The four that we choose to do; a budget for `All` holds these. */
export const plannedActions = ["Consolidation", "Emptiness", "Expiration", "Drift"] as const;
export type PlannedAction = (typeof plannedActions)[number];

/** Those that a budget can hold: Repair only if it is named. */
export const budgetedActions = [...plannedActions, "Repair"] as const;
export type BudgetedAction = (typeof budgetedActions)[number];

/** Karpenter v1's words for the actions. */
export const actionByReason = {
  Underutilized: "Consolidation",
  Empty: "Emptiness",
  Drifted: "Drift",
  Unhealthy: "Repair",
} as const satisfies Record<string, BudgetedAction>;
export type Reason = keyof typeof actionByReason;

const Schedule = (description: string) =>
  Text(description, { minLength: 1, maxLength: 512, pattern: patterns.schedule });

const ActiveFor = (description: string) =>
  Duration(description, "wholeDuration", {
    rules: [rule("duration(self) >= duration('1m')", "must be at least 1m; seconds are dropped")],
  });

const TimeZone = (description: string, zone?: "UTC") =>
  Text(description, {
    minLength: 1,
    maxLength: 64,
    pattern: patterns.timeZone,
    ...(zone ? { default: zone } : {}),
  });

const cron =
  "in cron syntax (minute, hour, day of month, month, day of week; names such as mon-fri and macros such as @daily work)";

const amountAndTime = {
  nodes: Optional(
    IntOrString(
      "How many nodes of the pool may be going away at once: a count, or a percentage of its initialized nodes, rounded up. 0 stops the action. Default 10%.",
    ),
  ),
  maxUnavailable: Optional(IntOrString("Another name of nodes. Not together with it.")),
  schedule: Optional(Schedule(`When the budget becomes active, ${cron}. Needs duration. Default: always active.`)),
  crontab: Optional(Schedule("Another name of schedule. Not together with it.")),
  duration: Optional(
    ActiveFor(
      "How long the budget stays active after each hit of the schedule, as elapsed time. Whole hours, minutes and seconds, seconds being dropped; at least 1m. Needs schedule.",
    ),
  ),
  timeZone: Optional(
    TimeZone("The IANA time zone of the schedule, such as Europe/Berlin. Needs schedule. Default UTC."),
  ),
};

const oneNameEach = [
  rule("!(has(self.nodes) && has(self.maxUnavailable))", "nodes and maxUnavailable are the same; set one of them"),
  rule("!(has(self.schedule) && has(self.crontab))", "schedule and crontab are the same; set one of them"),
  rule(
    "(has(self.schedule) || has(self.crontab)) == has(self.duration)",
    "schedule and duration come together or not at all",
  ),
  rule("!has(self.timeZone) || has(self.schedule) || has(self.crontab)", "timeZone needs a schedule"),
];

const Budget = Struct(
  "A limit on the nodes that go away at once. Of all active budgets for an action the smallest counts.",
  {
    action: Optional(
      StringEnum(
        "The action that the budget holds. All means Consolidation, Emptiness, Expiration and Drift; Repair is held only if it is named. Default All.",
        ["All", ...budgetedActions],
      ),
    ),
    reasons: Optional(
      ListOf(
        "Karpenter's way to name several actions: Underutilized is Consolidation, Empty is Emptiness, Drifted is Drift, Unhealthy is Repair. Not together with action. An empty list means All.",
        StringEnum("A reason.", Object.keys(actionByReason) as Reason[]),
        { maxItems: 50, identity: "set" },
      ),
    ),
    ...amountAndTime,
  },
  { rules: [...oneNameEach, rule("!(has(self.action) && has(self.reasons))", "set either action or reasons")] },
);
export type Budget = Static<typeof Budget>;

export const Budgets = ListOf(
  "Limits on the nodes that go away at once. At most 50. Default, also for an empty list: one of 10%.",
  Budget,
  { maxItems: 50, identity: "atomic" },
);

// The action is the key under which these stand.
const BudgetOfAction = Struct("A limit on the nodes that go away at once by this action.", amountAndTime, {
  rules: oneNameEach,
});
export type BudgetOfAction = Static<typeof BudgetOfAction>;

const Controls = (description: string) =>
  Struct(description, {
    disruptAfter: Optional(
      Duration(
        "How long a node must have been a candidate before the action may take it, or Never. Whole hours, minutes and seconds. Default: consolidateAfter for Consolidation and Emptiness where that is set, else the value under All, else 15s for these two and 0s for Expiration and Drift.",
        "durationOrNever",
      ),
    ),
    budgets: Optional(
      ListOf(
        "Limits for this action, counted together with those of disruption.budgets. At most 50. Default: 10%, if no budget anywhere names the action or All.",
        BudgetOfAction,
        { maxItems: 50, identity: "atomic" },
      ),
    ),
  });
export type Controls = Static<ReturnType<typeof Controls>>;

export const ActionControls = (description: string) =>
  Struct(description, {
    All: Optional(Controls("Controls for the four planned actions where they have none of their own.")),
    Consolidation: Optional(Controls("Controls for Consolidation: fewer or cheaper nodes for the same pods.")),
    Emptiness: Optional(Controls("Controls for Emptiness: nodes that nothing runs on.")),
    Expiration: Optional(Controls("Controls for Expiration: nodes older than expireAfter.")),
    Drift: Optional(Controls("Controls for Drift: nodes that no longer match their pool or class.")),
  });
export type ActionControls = Static<ReturnType<typeof ActionControls>>;

const Window = Struct("A span of time that comes again.", {
  schedule: Schedule(`When the window opens, ${cron}.`),
  duration: ActiveFor(
    "How long it stays open after each hit of the schedule, as elapsed time. Whole hours, minutes and seconds, seconds being dropped; at least 1m.",
  ),
  timeZone: Optional(TimeZone("The IANA time zone of the schedule, such as Europe/Berlin. Default UTC.", "UTC")),
});
export type Window = Static<typeof Window>;

export const Windows = ListOf(
  "When planned disruption may happen at all: only inside one of these. At most 50. Default, also for an empty list: at any time.",
  Window,
  { maxItems: 50, identity: "atomic" },
);
