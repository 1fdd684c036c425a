// What a check says of itself: how many nodes it sees and how many are healthy, which are not and what is done for them,
// and what holds it back. Recomputed whole each time, so that nothing of a node that is gone is left in it.

import type { NodeHealthCheckStatus } from "../../api/node-health-check.ts";
import { isEqual } from "../../api/schema/correlate.ts";
import { formatTime, parseTime } from "../../api/time.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { NodeView } from "../../snapshot/views.ts";
import { confirmedHealthyKey } from "../../api/node-health-check-contract.ts";
import { sameConditions, withCondition } from "../conditions.ts";
import type { Context, ConditionChange, RemediationCommand } from "../decision.ts";
import type { Objection } from "../safety.ts";
import { isSpent } from "./course.ts";
import type { Disabling } from "./disabling.ts";
import { type Health, healthOf, isHealthy, isUnhealthy, wellSince } from "./node-health.ts";
import { type Storm, stormConditions } from "./storm.ts";
import type { Sight } from "./templates.ts";

type Status = Omit<NodeHealthCheckStatus, "conditions" | "lastUpdateTime" | "inFlightRemediations">;
type Entry = NonNullable<NodeHealthCheckStatus["unhealthyNodes"]>[number];

/** What was found out about the check before. */
export type Findings = {
  readonly disabling: Disabling | undefined;
  /** What holds back its starts. */
  readonly hold: Objection | undefined;
  /** What is not known and holds nothing. */
  readonly doubt: string | undefined;
  readonly storm: Storm;
  readonly sight: Sight;
  readonly notHealthy: readonly Seen[];
};

/** A node, and how it stands in the eyes of the check. */
type Seen = { readonly node: NodeView; readonly health: Health };

/** As many as the kind's schema takes. */
const entriesMax = 2_000;
const namesMax = 10;
/** Of conditions and of status.reason, as the schema has it. */
const messageMax = 4_096;

/** Undefined: what is written says it already. */
export function statusUpdate(check: CheckView, findings: Findings, context: Context): RemediationCommand | undefined {
  const entries = entriesOf(check, findings, context);
  const spent = nodesWithoutTemplate(check, findings, context);
  const status = statusOf(check, { findings, entries, spent }, context);
  const conditions = conditionsOf(check, findings, spent);
  if (isWritten(check, status) && sameConditions(check.conditions, conditions)) return undefined;
  return {
    kind: "update-check",
    why: `NodeHealthCheck ${check.name} says how it stands.`,
    check: { name: check.name, uid: check.uid },
    status: { ...status, conditions },
  };
}

function isWritten({ status }: CheckView, shall: Status): boolean {
  const { observedGeneration, ...told } = shall;
  // medik8s' own definition of the kind, where it is still the one installed, does not know it: no write would keep it.
  const isPruned = status.observedGeneration === undefined && status.lastUpdateTime !== undefined;
  const isSame = isPruned || status.observedGeneration === observedGeneration;
  return isSame && Object.entries(told).every(([field, value]) => isEqual(status[field as keyof Status], value));
}

type Told = {
  readonly findings: Findings;
  readonly entries: readonly Entry[];
  /** Of them, where nothing is left to try. */
  readonly spent: readonly string[];
};

function statusOf(check: CheckView, told: Told, { picture: { checks } }: Context): Status {
  const { findings, entries } = told;
  const observedNodes = checks.selectedCount(check);
  const summary = { observedGeneration: check.generation, observedNodes, ...phaseOf(check, told) };
  // Of remediations that we may not read, what was written while we could stays.
  if (findings.sight === "Hidden") return summary;
  return {
    ...summary,
    healthyNodes: observedNodes - checks.notHealthyCount(check),
    unhealthyNodes: [...entries].slice(0, entriesMax),
  };
}

function phaseOf(
  { effective: { pauseRequests } }: CheckView,
  { findings: { disabling, hold }, entries, spent }: Told,
): Required<Pick<Status, "phase" | "reason">> {
  const tried = new Set(spent);
  const remediated = entries.filter(({ name, remediations }) => remediations !== undefined && !tried.has(name)).length;
  if (disabling !== undefined) return { phase: "Disabled", reason: cut(`${disabling.reason}: ${disabling.message}`) };
  if (pauseRequests.length > 0) return { phase: "Paused", reason: cut(pauseRequests.join("; ")) };
  const inVain = spent.length === 0 ? "" : ` ${triedSentence(spent)}`;
  const held = `${inVain}${hold === undefined ? "" : ` Nothing new starts: ${hold.message}`}`;
  if (remediated === 0) return { phase: "Enabled", reason: cut(`Nothing is being remediated.${held}`) };
  const nodes = remediated === 1 ? "1 node is" : `${remediated} nodes are`;
  return { phase: "Remediating", reason: cut(`${nodes} being remediated.${held}`) };
}

/** Those that are unhealthy or remediated, also where the node itself is gone; in the order of names. */
function entriesOf(check: CheckView, { notHealthy }: Findings, context: Context): readonly Entry[] {
  const { picture, now } = context;
  const { checks } = picture;
  const seenByName = new Map<string, Seen | undefined>(notHealthy.map(seen => [seen.node.name, seen]));
  for (const name of checks.remediatedNodes(check)) {
    if (seenByName.has(name)) continue;
    const node = picture.node(name);
    seenByName.set(name, node && { node, health: healthOf(node, check, context) });
  }
  return [...seenByName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, seen]) => {
      const made = checks.remediationsOf(check, name);
      if (made.length === 0) return seen !== undefined && isUnhealthy(seen.health, now) ? { name } : [];
      const remediations = [...made]
        .sort((a, b) => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1))
        .map(remediation);
      return { name, remediations, ...(seen === undefined ? {} : recoveryOf(seen, check, context)) };
    });
}

function remediation({ apiVersion, kind, namespace, name, uid, createdAt, timedOut, templateName }: RemediationView) {
  const resource = { apiVersion, kind, name, ...(namespace === "" ? {} : { namespace }), uid };
  return {
    resource,
    started: formatTime(createdAt),
    ...(timedOut === undefined || !parseTime(timedOut).ok ? {} : { timedOut }),
    ...(templateName === undefined ? {} : { templateName }),
  };
}

function recoveryOf({ node, health }: Seen, check: CheckView, context: Context): Partial<Entry> {
  if (!isHealthy(health)) return {};
  const isConfirmed = node.annotations[confirmedHealthyKey] !== undefined;
  const stands = context.picture.checks.remediationsOf(check, node.name).some(one => one.deletingSince === undefined);
  return {
    conditionsHealthyTimestamp: formatTime(wellSince(node, check, context)),
    ...(check.healthyDelayMs !== 0 && !isConfirmed && stands ? { healthyDelayed: true } : {}),
  };
}

function conditionsOf(check: CheckView, findings: Findings, spent: readonly string[]): readonly ConditionChange[] {
  const told = [
    disabledCondition(findings),
    allowedCondition(findings),
    noTemplateLeft(spent),
    ...stormConditions(check, findings.storm),
  ];
  return told.reduce<readonly ConditionChange[]>(withCondition, check.conditions);
}

function disabledCondition({ disabling }: Findings): ConditionChange {
  const type = "Disabled";
  if (disabling === undefined) return { type, status: "False", reason: "NodeHealthCheckEnabled", message: "" };
  return { type, status: "True", reason: disabling.reason, message: cut(disabling.message) };
}

/** Whether something new may start, and if not, what holds it. */
function allowedCondition({ hold, doubt, disabling }: Findings): ConditionChange {
  const type = "RemediationAllowed";
  if (disabling !== undefined) return { type, status: "False", reason: "Disabled", message: cut(disabling.message) };
  if (hold === undefined) return { type, status: "True", reason: "RemediationAllowed", message: cut(doubt ?? "") };
  const reason = hold.code.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
  return { type, status: "False", reason, message: cut(hold.message) };
}

/** Nodes on which every remediation was tried in vain. */
function nodesWithoutTemplate(check: CheckView, { notHealthy }: Findings, context: Context): readonly string[] {
  const { picture, now } = context;
  return notHealthy
    .filter(({ health }) => isUnhealthy(health, now))
    .map(({ node }) => node.name)
    .filter(name => isSpent({ check, remediations: picture.checks.remediationsOf(check, name) }, context));
}

function noTemplateLeft(spent: readonly string[]): ConditionChange {
  const type = "NoTemplateLeft";
  if (spent.length === 0) return { type, status: "False", reason: "TemplatesLeft", message: "" };
  return { type, status: "True", reason: "AllTried", message: triedSentence(spent) };
}

function triedSentence(spent: readonly string[]): string {
  const more = spent.length > namesMax ? ` and ${spent.length - namesMax} more` : "";
  return `Every remediation was tried in vain on ${spent.slice(0, namesMax).join(", ")}${more}.`;
}

function cut(text: string): string {
  return text.length <= messageMax ? text : `${text.slice(0, messageMax - 1)}…`;
}
