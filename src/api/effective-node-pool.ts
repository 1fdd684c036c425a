// What a NodePool or NodeClaim means: aliases resolved, second places looked up, defaults filled in. Total: it never
// fails, and leaves texts (durations, schedules, amounts) as they are written, for their readers to judge.

import { nodePoolDefaults as defaults } from "./effective-defaults.ts";
import type { Budget, BudgetedAction, BudgetOfAction, Controls, PlannedAction, Reason } from "./budget.ts";
import { actionByReason, budgetedActions, plannedActions } from "./budget.ts";
import type { NodeClaimSpec } from "./node-claim.ts";
import { nodeClaims } from "./node-claim.ts";
import type { NodePoolSpec } from "./node-pool.ts";
import { nodePools } from "./node-pool.ts";
import type { NodeClassRef, Requirement, Taint } from "./node-template.ts";
import type { Repair, RepairAction, RepairMode, RepairPolicy, Termination } from "./repair.ts";
import { defaultedSpec } from "./kind-definition.ts";

export type EffectiveWindow = { schedule: string; duration: string; timeZone: string };

export type EffectiveBudget = {
  /** Where it stands, for whoever asks what held an action; "default" if nobody wrote it. */
  path: string;
  /** Whether it is for all planned actions rather than for some by name: decides with ActionOverridesAll. */
  forAll: boolean;
  actions: readonly BudgetedAction[];
  /** A count, or a percentage of the pool's initialized nodes, rounded up. */
  nodes: string;
  /** Absent: always active. */
  window?: EffectiveWindow;
};

export type EffectiveTemplate = {
  taints: readonly Taint[];
  startupTaints: readonly Taint[];
  requirements: readonly Requirement[];
  /** Absent: the provider's default class. */
  nodeClassRef?: { group: string; kind: string; name: string };
  expireAfter: string;
  readinessTTL: string;
  terminationGracePeriod?: string;
};

export type EffectiveDisruption = {
  consolidationPolicy: "WhenEmpty" | "WhenUnderutilized" | "Balanced";
  /** How long a node must have been a candidate, or Never. */
  disruptAfter: Readonly<Record<PlannedAction, string>>;
  budgets: readonly EffectiveBudget[];
  budgetPrecedence: "MostRestrictive" | "ActionOverridesAll";
  /** Empty: at any time. */
  windows: readonly EffectiveWindow[];
  minSavings: string;
  maxDoNotDisrupt?: string;
};

export type EffectiveRepairPolicy = {
  path: string;
  conditionType: string;
  /** Absent: as the provider states. */
  conditionStatus?: string;
  /** Empty: every reason. */
  conditionReasons: readonly string[];
  toleration: string;
  priority: number;
  mode: RepairMode;
  maxUnhealthy?: string;
  termination: Termination;
  action: RepairAction;
  escalateAfter: string;
  attempts: number;
};

export type EffectiveRepair = {
  mode: RepairMode;
  policies: readonly EffectiveRepairPolicy[];
  /** Absent: the provider's. */
  defaultTolerationDuration?: string;
  maxUnhealthy: string;
  termination: Termination;
  action: RepairAction;
  escalateAfter: string;
  attempts: number;
  /** Absent: twice the toleration. */
  flappingWindow?: string;
};

export type EffectiveNodePool = {
  template: EffectiveTemplate & {
    labels: Readonly<Record<string, string>>;
    annotations: Readonly<Record<string, string>>;
  };
  disruption: EffectiveDisruption;
  repair: EffectiveRepair;
  limits: Readonly<Record<string, number | string>>;
  weight: number;
  replicas?: number;
  podPlacement: "Scheduler" | "Planned";
  dryRun: boolean;
};

export type EffectiveNodeClaim = EffectiveTemplate & { requests: Readonly<Record<string, number | string>> };

/** `repairUnset`: what a pool without `repair` gets, the controller's --repair-unset (decision 5). */
export function effectiveNodePool(
  written: NodePoolSpec,
  { repairUnset = "on" }: { repairUnset?: "on" | "off" } = {},
): EffectiveNodePool {
  const spec = defaultedSpec(nodePools, written);
  const metadata = spec.template?.metadata;
  const expireAfter = spec.template?.spec?.expireAfter ?? spec.disruption?.expireAfter;
  return {
    template: {
      labels: metadata?.labels ?? {},
      annotations: metadata?.annotations ?? {},
      ...template({ ...spec.template?.spec, ...present({ expireAfter }) }),
    },
    disruption: disruption(spec),
    repair: repair(spec.repair, repairUnset),
    limits: spec.limits ?? {},
    weight: spec.weight ?? defaults["spec.weight"],
    ...present({ replicas: spec.replicas }),
    podPlacement: spec.podPlacement ?? defaults["spec.podPlacement"],
    dryRun: spec.dryRun ?? defaults["spec.dryRun"],
  };
}

export function effectiveNodeClaim(written: NodeClaimSpec): EffectiveNodeClaim {
  const spec = defaultedSpec(nodeClaims, written);
  return { requests: spec.resources?.requests ?? {}, ...template(spec) };
}

type TemplateSource = Omit<NodeClaimSpec, "resources">;

function template(spec: TemplateSource): EffectiveTemplate {
  return {
    taints: spec.taints ?? [],
    startupTaints: spec.startupTaints ?? [],
    requirements: spec.requirements ?? [],
    ...present({ nodeClassRef: spec.nodeClassRef && classRef(spec.nodeClassRef) }),
    expireAfter: spec.expireAfter ?? defaults["spec.template.spec.expireAfter"],
    readinessTTL: spec.readinessTTL ?? defaults["spec.template.spec.readinessTTL"],
    ...present({ terminationGracePeriod: spec.terminationGracePeriod }),
  };
}

function classRef({ group, apiVersion, kind, name }: NodeClassRef) {
  return { group: group ?? apiVersion?.split("/")[0] ?? "", kind, name };
}

function disruption(spec: NodePoolSpec): EffectiveDisruption {
  const { disruption: stated = {} } = spec;
  const policy =
    stated.consolidationPolicy ?? spec.consolidationPolicy ?? defaults["spec.disruption.consolidationPolicy"];
  return {
    consolidationPolicy: policy === "WhenEmptyOrUnderutilized" ? "WhenUnderutilized" : policy,
    disruptAfter: disruptAfter(spec),
    budgets: budgets(spec),
    budgetPrecedence: stated.budgetPrecedence ?? defaults["spec.disruption.budgetPrecedence"],
    windows: (stated.windows ?? []).map(({ schedule, duration, timeZone }) => ({
      schedule,
      duration,
      timeZone: timeZone ?? defaults["spec.disruption.budgets[].timeZone"],
    })),
    minSavings: stated.minSavings ?? defaults["spec.disruption.minSavings"],
    ...present({ maxDoNotDisrupt: stated.maxDoNotDisrupt }),
  };
}

// An action's own word, then the pool's consolidateAfter, which speaks of two actions, then the word for all.
function disruptAfter(spec: NodePoolSpec): Record<PlannedAction, string> {
  const controls = actionControls(spec);
  const all = controls.All?.disruptAfter;
  const consolidateAfter = spec.disruption?.consolidateAfter ?? spec.consolidateAfter;
  const idle = consolidateAfter ?? all ?? defaults["spec.disruption.consolidateAfter"];
  return {
    Consolidation: controls.Consolidation?.disruptAfter ?? idle,
    Emptiness: controls.Emptiness?.disruptAfter ?? idle,
    Expiration: controls.Expiration?.disruptAfter ?? all ?? "0s",
    Drift: controls.Drift?.disruptAfter ?? all ?? "0s",
  };
}

function actionControls({ disruption: stated = {} }: NodePoolSpec): Partial<Record<PlannedAction | "All", Controls>> {
  return stated.actionControls ?? stated.genericPerActionControls ?? {};
}

/**
 * Those of both places, and one of 10 % for what none of them names (decision 4). A default for Repair stands apart:
 * it is a pace, and counts other nodes.
 */
function budgets(spec: NodePoolSpec): EffectiveBudget[] {
  const stated = [...listedBudgets(spec), ...budgetsByAction(spec)];
  const named = new Set(stated.flatMap(budget => budget.actions));
  const fallback = (actions: readonly BudgetedAction[]): EffectiveBudget[] => {
    const unnamed = actions.filter(action => !named.has(action));
    const forAll = unnamed.length === plannedActions.length;
    const nodes = defaults["spec.disruption.budgets[].nodes"];
    return unnamed.length === 0 ? [] : [{ path: "default", forAll, actions: unnamed, nodes }];
  };
  return [...stated, ...fallback(plannedActions), ...fallback(["Repair"])];
}

function listedBudgets({ disruption: stated = {} }: NodePoolSpec): EffectiveBudget[] {
  return (stated.budgets ?? []).map((budget, index) => ({
    path: `spec.disruption.budgets[${index}]`,
    ...actionsOf(budget),
    ...limit(budget),
  }));
}

function budgetsByAction(spec: NodePoolSpec): EffectiveBudget[] {
  const field = spec.disruption?.actionControls ? "actionControls" : "genericPerActionControls";
  return Object.entries(actionControls(spec)).flatMap(([action, controls]) =>
    (controls.budgets ?? []).map((budget, index) => ({
      path: `spec.disruption.${field}.${action}.budgets[${index}]`,
      ...actionsOf({ action: action as PlannedAction | "All" }),
      ...limit(budget),
    })),
  );
}

function actionsOf({ action, reasons = [] }: Budget): Pick<EffectiveBudget, "actions" | "forAll"> {
  if (reasons.length > 0) return { forAll: false, actions: namedBy(reasons) };
  const one = action ?? defaults["spec.disruption.budgets[].action"];
  return one === "All" ? { forAll: true, actions: plannedActions } : { forAll: false, actions: [one] };
}

function namedBy(reasons: readonly Reason[]): BudgetedAction[] {
  const named = new Set<BudgetedAction>(reasons.map(reason => actionByReason[reason]));
  return budgetedActions.filter(action => named.has(action));
}

function limit(budget: BudgetOfAction): Pick<EffectiveBudget, "nodes" | "window"> {
  const { duration, timeZone = defaults["spec.disruption.budgets[].timeZone"] } = budget;
  const schedule = budget.schedule ?? budget.crontab;
  return {
    nodes: String(budget.nodes ?? budget.maxUnavailable ?? defaults["spec.disruption.budgets[].nodes"]),
    ...(schedule !== undefined && duration !== undefined ? { window: { schedule, duration, timeZone } } : {}),
  };
}

function repair(stated: Repair | undefined, repairUnset: "on" | "off"): EffectiveRepair {
  // Defaults stand in the schema; a pool without `repair` has those of an empty one.
  const { repair: spec } = defaultedSpec(nodePools, { repair: stated ?? {} });
  const own = {
    mode: stated === undefined && repairUnset === "off" ? "Disabled" : (spec.mode as RepairMode),
    termination: spec.termination as Termination,
    action: spec.action as RepairAction,
    escalateAfter: spec.escalateAfter as string,
    attempts: spec.attempts as number,
  } as const;
  return {
    ...own,
    policies: (spec.policies ?? []).map((policy, index) => repairPolicy(policy, index, own)),
    maxUnhealthy: String(spec.maxUnhealthy),
    ...present({ defaultTolerationDuration: spec.defaultTolerationDuration, flappingWindow: spec.flappingWindow }),
  };
}

type Treatment = Pick<EffectiveRepair, "mode" | "termination" | "action" | "escalateAfter" | "attempts">;

function repairPolicy(policy: RepairPolicy, index: number, own: Treatment): EffectiveRepairPolicy {
  const { conditionType, conditionStatus, conditionReasons = [], toleration, priority = 0, maxUnhealthy } = policy;
  return {
    path: `spec.repair.policies[${index}]`,
    conditionType,
    conditionReasons,
    toleration,
    priority,
    mode: policy.mode ?? own.mode,
    termination: policy.termination ?? own.termination,
    action: policy.action ?? own.action,
    escalateAfter: policy.escalateAfter ?? own.escalateAfter,
    attempts: policy.attempts ?? own.attempts,
    ...present({ conditionStatus }),
    ...(maxUnhealthy === undefined ? {} : { maxUnhealthy: String(maxUnhealthy) }),
  };
}

// Optional fields are absent, not undefined, so that effective values compare and print as they are.
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
