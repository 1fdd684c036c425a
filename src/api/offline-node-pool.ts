// Pools and claims that every server accepts and that do not do what they seem to: taints twice, policies and budgets
// without effect, the trap of decision 4.

import { type BudgetedAction, budgetedActions } from "./budget.ts";
import { effectiveNodePool, type EffectiveBudget, type EffectiveRepair } from "./effective-node-pool.ts";
import { qualifiedNameErrors } from "./name.ts";
import type { NodeClaimSpec } from "./node-claim.ts";
import type { NodePoolSpec } from "./node-pool.ts";
import type { Requirement, Taint } from "./node-template.ts";
import { finding, type OfflineFinding } from "./offline-finding.ts";
import type { RepairPolicy } from "./repair.ts";
import { dayMs, type Instant, parseDuration, minuteMs } from "./time.ts";
import { nextEdge, isOpen, parseWindow, type Window } from "./window.ts";

/** What every provider states of itself (decision 6); what others report needs a status of the policy's own. */
const statedTypes: readonly string[] = ["Ready", "NetworkUnavailable"];

const capacityTypeKey = "karpenter.sh/capacity-type";
const capacityTypes: readonly string[] = ["on-demand", "spot", "reserved"];

export function nodePoolFindings(spec: NodePoolSpec): OfflineFinding[] {
  const template = spec.template?.spec ?? {};
  return [
    ...keyFindings(spec.template?.metadata?.labels, "spec.template.metadata.labels"),
    ...keyFindings(spec.template?.metadata?.annotations, "spec.template.metadata.annotations"),
    ...templateFindings(template, "spec.template.spec"),
    ...(spec.repair?.policies ?? []).flatMap(policyFindings),
    ...windowTooShort(effectiveNodePool(spec).repair),
    ...secondsDropped(spec),
    ...unlimitedAtTimes(effectiveNodePool(spec).disruption.budgets),
    ...ignoredWithReplicas(spec),
  ];
}

export function nodeClaimFindings(spec: NodeClaimSpec): OfflineFinding[] {
  return templateFindings(spec, "spec");
}

function templateFindings(spec: Pick<NodeClaimSpec, "taints" | "startupTaints" | "requirements">, path: string) {
  const requirements = spec.requirements ?? [];
  return [
    ...taintsTwice(
      [
        ["taints", spec.taints ?? []],
        ["startupTaints", spec.startupTaints ?? []],
      ],
      path,
    ),
    ...requirements.flatMap((requirement, index) => requirementFindings(requirement, `${path}.requirements[${index}]`)),
  ];
}

function keyFindings(map: Record<string, string> | undefined, path: string): OfflineFinding[] {
  return Object.keys(map ?? {}).flatMap(key => {
    // Annotation keys may have capitals in the domain; Kubernetes judges them in lower case.
    const errors = qualifiedNameErrors(path.endsWith("annotations") ? key.toLowerCase() : key);
    return errors.map(message => finding(`${path}.${key}`, "bad-key", message));
  });
}

// Over both lists: a node has one list of taints in the end.
function taintsTwice(lists: readonly (readonly [string, readonly Taint[]])[], path: string): OfflineFinding[] {
  const seen = new Set<string>();
  return lists.flatMap(([field, taints]) =>
    taints.flatMap(({ key, effect }, index) => {
      const same = seen.has(`${key}:${effect}`);
      seen.add(`${key}:${effect}`);
      const message = `a taint with key ${key} and effect ${effect} is there already; a node can have it once`;
      return same ? [finding(`${path}.${field}[${index}]`, "duplicate-taint", message)] : [];
    }),
  );
}

function requirementFindings({ key, operator, values = [] }: Requirement, path: string): OfflineFinding[] {
  if (key === capacityTypeKey && operator === "In" && !values.some(value => capacityTypes.includes(value))) {
    const message = `no known capacity type among the values; use ${capacityTypes.join(", ")}`;
    return [finding(`${path}.values`, "unknown-capacity-type", message)];
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    return [finding(`${path}.values`, "values-ignored", `with operator ${operator} the values mean nothing`)];
  }
  if (operator === "NotIn" && values.length === 0) {
    return [finding(path, "without-effect", "with operator NotIn and no values the requirement demands nothing")];
  }
  return [];
}

function policyFindings(policy: RepairPolicy, index: number, policies: readonly RepairPolicy[]): OfflineFinding[] {
  const path = `spec.repair.policies[${index}]`;
  const { conditionType, conditionStatus } = policy;
  const findings: OfflineFinding[] = [];
  if (conditionStatus === undefined && !statedTypes.includes(conditionType)) {
    const message = `the policy does nothing unless the provider states when ${conditionType} is unhealthy; say so with conditionStatus`;
    findings.push(finding(path, "without-effect", message));
  }
  const earlier = policies.slice(0, index).findIndex(other => shadows(other, policy));
  if (earlier >= 0) {
    findings.push(finding(path, "shadowed", `policies[${earlier}] matches first, so this one is never used`));
  }
  return findings;
}

/** What comes and goes is added up over the window: within less than the toleration it never comes to that. */
function windowTooShort({ flappingWindow, defaultTolerationDuration, policies }: EffectiveRepair): OfflineFinding[] {
  const window = parseDuration(flappingWindow ?? "0s");
  const isLonger = (text: string | undefined) => {
    const toleration = parseDuration(text ?? "0s");
    return window.ok && window.value > 0 && toleration.ok && toleration.value > window.value;
  };
  const longer = [
    ...(isLonger(defaultTolerationDuration) ? ["defaultTolerationDuration"] : []),
    ...policies.filter(({ toleration }) => isLonger(toleration)).map(({ path }) => path.replace("spec.repair.", "")),
  ];
  if (longer.length === 0) return [];
  const message = `shorter than ${longer.join(", ")}: what comes and goes is not repaired by it; give it at least as long, or 0s`;
  return [finding("spec.repair.flappingWindow", "without-effect", message)];
}

// Of several policies the first that matches counts: one without status or reasons leaves nothing to later ones.
function shadows(first: RepairPolicy, later: RepairPolicy): boolean {
  if (first.conditionType !== later.conditionType) return false;
  if (first.conditionStatus !== undefined && first.conditionStatus !== later.conditionStatus) return false;
  const reasons = first.conditionReasons ?? [];
  if (reasons.length === 0) return true;
  const wanted = later.conditionReasons ?? [];
  return wanted.length > 0 && wanted.every(reason => reasons.includes(reason));
}

function secondsDropped(spec: NodePoolSpec): OfflineFinding[] {
  return writtenDurations(spec).flatMap(([path, text]) => {
    const duration = parseDuration(text);
    if (!duration.ok || duration.value % minuteMs === 0) return [];
    return [finding(path, "seconds-dropped", `schedules work in minutes: the seconds of ${text} are dropped`)];
  });
}

function writtenDurations({ disruption = {} }: NodePoolSpec): [string, string][] {
  const lists: [string, readonly { duration?: string }[]][] = [
    ["budgets", disruption.budgets ?? []],
    ["windows", disruption.windows ?? []],
    ...(["actionControls", "genericPerActionControls"] as const).flatMap(field =>
      Object.entries(disruption[field] ?? {}).map(([action, controls]): [string, readonly { duration?: string }[]] => [
        `${field}.${action}.budgets`,
        controls.budgets ?? [],
      ]),
    ),
  ];
  return lists.flatMap(([list, items]) =>
    items.flatMap(({ duration }, index): [string, string][] =>
      duration === undefined ? [] : [[`spec.disruption.${list}[${index}].duration`, duration]],
    ),
  );
}

/** The trap of decision 4: a budget that is not active does not limit, so an action can be without any limit. */
function unlimitedAtTimes(budgets: readonly EffectiveBudget[]): OfflineFinding[] {
  const actions = budgetedActions.filter(action => !isAlwaysLimited(action, budgets));
  if (actions.length === 0) return [];
  const message = `nothing limits ${actions.join(", ")} while no budget for ${actions.length === 1 ? "it" : "them"} is active; add one without a schedule`;
  return [finding("spec.disruption", "unlimited-at-times", message)];
}

function isAlwaysLimited(action: BudgetedAction, budgets: readonly EffectiveBudget[]): boolean {
  const windows: Window[] = [];
  for (const budget of budgets.filter(budget => budget.actions.includes(action))) {
    if (budget.window === undefined) return true;
    const window = parseWindow(budget.window);
    // A budget that cannot be read stops the action: it is reported as an error of its own.
    if (!window.ok) return true;
    windows.push(window.value);
  }
  return coversAYear(windows);
}

const someYear: Instant = Date.UTC(2023, 11, 31);

// From one closing to the next: the hits of a year are looked at, not its minutes.
function coversAYear(windows: readonly Window[]): boolean {
  for (let at = someYear; at < someYear + 366 * dayMs; ) {
    const open = windows.find(window => isOpen(window, at));
    if (open === undefined) return false;
    at = nextEdge(open, at) ?? Number.POSITIVE_INFINITY;
  }
  return true;
}

function ignoredWithReplicas(spec: NodePoolSpec): OfflineFinding[] {
  if (spec.replicas === undefined) return [];
  const written = [
    ["spec.disruption.consolidationPolicy", spec.disruption?.consolidationPolicy],
    ["spec.disruption.consolidateAfter", spec.disruption?.consolidateAfter],
    ["spec.consolidationPolicy", spec.consolidationPolicy],
    ["spec.consolidateAfter", spec.consolidateAfter],
  ] as const;
  return written.flatMap(([path, value]) =>
    value === undefined ? [] : [finding(path, "ignored", "a pool with replicas is never consolidated")],
  );
}
