// Asks for a node to be remediated: one that a check selects and finds unhealthy. Whether it may start now is the
// arbiter's to say; what speaks against it on the node itself is said here.

import { excludedKey } from "../../api/node-health-check-contract.ts";
import { formatTime } from "../../api/time.ts";
import type { StepView } from "../../snapshot/check-views.ts";
import { terminatingCondition } from "../../snapshot/project-openshift.ts";
import { isTrue } from "../conditions.ts";
import { type Context, nothing, type Proposal, type Decision } from "../decision.ts";
import { ownClaimOf } from "../own-node.ts";
import type { Objection } from "../safety.ts";
import { nextOf } from "../termination-step.ts";
import { heldByAnother } from "./lease.ts";
import { leftToRepair } from "./left-to-repair.ts";
import { evidenceOf, firstMatch, isHealthy, isUnhealthy, sentenceOf } from "./node-health.ts";
import { takenByAnother } from "./plan.ts";
import { disablingOf, sightOf } from "./templates.ts";
import { checkNotice, type Patient, wakesAt } from "./words.ts";

export function ask(patient: Patient, context: Context): Decision {
  const { check, health, isSelected } = patient;
  if (!isSelected || check.deletingSince !== undefined || isHealthy(health)) return nothing;
  if (!isUnhealthy(health, context.now)) return soon(patient, context);
  const [first] = check.steps;
  const notices = mislabelled(patient);
  const held = first && (stepHold(patient, first, context) ?? takenByAnother(patient, first, context));
  if (first === undefined || held !== undefined) {
    return {
      ...refused(patient, held ?? withoutStep(patient, context)),
      notices: held === undefined ? notices : [...notices, ...skipped(patient, held)],
      wakeAt: wakesAt(held?.until, context.now),
    };
  }
  return {
    ...nothing,
    notices: [...notices, detected(patient)],
    proposals: [proposalOf(patient, context)],
    // With what is due then, the evidence is another.
    wakeAt: nextOf(
      context.now,
      health.matches.map(({ spell }) => spell?.dueAt),
    ),
  };
}

/** Not unhealthy yet, and not healthy either: it counts, and nothing is done. */
function soon(patient: Patient, { now }: Context): Decision {
  const { node, check, health } = patient;
  const match = firstMatch(health);
  if (match === undefined) return nothing;
  const message = `Node ${node.name} has ${sentenceOf(match)} (NodeHealthCheck ${check.name}).`;
  const { dueAt } = health;
  if (dueAt === undefined) {
    return refused(patient, { code: "due-time-unknown", message, liftedBy: "a time that can be read" });
  }
  const wakeAt = wakesAt(dueAt, now);
  return { ...refused(patient, { code: "soon-unhealthy", message, until: dueAt, liftedBy: "its recovery" }), wakeAt };
}

type Case = Pick<Patient, "node" | "check">;
type Step = { readonly template: Pick<StepView["template"], "apiVersion" | "kind"> };

/** What speaks against this step on this node, for the first step as for each one after it. */
export function stepHold(patient: Case, step: Step, context: Context): Objection | undefined {
  return (
    disabled(patient, context) ??
    unseen(patient, context) ??
    going(patient) ??
    excluded(patient) ??
    leftToMachineCheck(patient, context) ??
    leftToRepair(patient, step, context) ??
    heldByAnother(patient, context)
  );
}

function disabled({ check }: Case, context: Context): Objection | undefined {
  if (check.deletingSince !== undefined) {
    const message = `NodeHealthCheck ${check.name} is being deleted.`;
    return { code: "check-deleting", message, liftedBy: "another NodeHealthCheck" };
  }
  const found = disablingOf(check, context);
  if (found === undefined) return undefined;
  const message = `NodeHealthCheck ${check.name} is disabled: ${found.message}`;
  return { code: "check-disabled", message, liftedBy: found.liftedBy };
}

/** Another remediation of the node may run that nobody can see: of a kind that the check used before it was edited. */
function unseen({ node, check }: Case, context: Context): Objection | undefined {
  if (sightOf(check, context) === "Whole") return undefined;
  const message = `Whether NodeHealthCheck ${check.name} has a remediation of node ${node.name} cannot be seen: not all kinds that its status names are listed.`;
  return { code: "remediations-unseen", message, liftedBy: "leave to list and watch those kinds" };
}

/** A check that cannot be understood has no steps. */
function withoutStep(patient: Patient, context: Context): Objection {
  const { name } = patient.check;
  const message = `NodeHealthCheck ${name} names no remediation.`;
  return disabled(patient, context) ?? { code: "check-disabled", message, liftedBy: "a remediationTemplate" };
}

export function nodeGoing({ name }: Pick<Patient["node"], "name">): Objection {
  const message = `Node ${name} is being deleted: no further remediation begins.`;
  return { code: "node-going", message, liftedBy: "another node" };
}

function going({ node }: Case): Objection | undefined {
  return node.deletingSince === undefined ? undefined : nodeGoing(node);
}

export function excluded({ node }: Pick<Case, "node">): Objection | undefined {
  if (node.labels[excludedKey] !== "true") return undefined;
  const message = `Node ${node.name} is labelled ${excludedKey}.`;
  return { code: "excluded", message, liftedBy: `taking the label off node ${node.name}` };
}

/** Its cloud takes the machine back, and OpenShift's own check replaces it. */
function leftToMachineCheck({ node }: Case, { picture: { checks } }: Context): Objection | undefined {
  if (!checks.machineChecks.mindsTerminating || !isTrue(node.conditions, terminatingCondition)) return undefined;
  const message = `Node ${node.name} is ${terminatingCondition}: OpenShift's MachineHealthCheck minds it.`;
  return { code: "left-to-machine-check", message, liftedBy: "another node in its place" };
}

/** As in medik8s, for those who look at the check: in words that the next renewal of a lease does not change. */
function skipped({ node, check }: Patient, { code, liftedBy }: Objection): Decision["notices"] {
  if (code !== "excluded" && code !== "lease-held") return [];
  const message = `Node ${node.name} is unhealthy and left alone (${code}); what lifts that: ${liftedBy}.`;
  return [checkNotice(check, { type: "Warning", reason: "RemediationSkipped", message })];
}

function mislabelled({ node, check }: Patient): Decision["notices"] {
  if (node.labels[excludedKey] !== "") return [];
  const message = `Node ${node.name} has ${excludedKey} without a value, which excludes nothing: write "true".`;
  return [checkNotice(check, { type: "Warning", reason: "InvalidNodeLabel", message })];
}

/** In instants, so that it stays true. */
export function proposalOf(patient: Patient, context: Context): Proposal {
  const { node, check, health } = patient;
  const match = firstMatch(health);
  const claim = ownClaimOf(node, context.picture);
  const path = match?.pair.path;
  return {
    node: { name: node.name, uid: node.uid },
    ...(claim === undefined || claim.isProvisional ? {} : { claim: { name: claim.name, uid: claim.uid } }),
    action: "Remediation",
    method: "Remediate",
    askedBy: { kind: "NodeHealthCheck", name: check.name, uid: check.uid },
    message: unhealthySentence(patient),
    policy: {
      kind: "NodeHealthCheck",
      name: check.name,
      ...(path === undefined ? {} : { path }),
      generation: check.generation,
    },
    evidence: evidenceOf(health, { node, now: context.now }),
    dueAt: health.dueAt ?? context.now,
    ...(check.effective.dryRun ? { dryRun: true } : {}),
  };
}

function unhealthySentence({ node, check, health }: Patient): string {
  const match = firstMatch(health);
  return `Node ${node.name} is unhealthy by NodeHealthCheck ${check.name}: ${match ? sentenceOf(match) : "nothing"}.`;
}

function detected({ node, check, health }: Patient): Decision["notices"][number] {
  const at = health.dueAt === undefined ? "" : ` since ${formatTime(health.dueAt)}`;
  const message = `Node ${node.name} matches the unhealthy conditions${at}.`;
  return checkNotice(check, { type: "Normal", reason: "DetectedUnhealthy", message });
}

export function refused({ node, check }: Case, objection: Objection): Decision {
  return { ...nothing, refusals: [{ subject: `node/${node.name}`, check: check.name, ...objection }] };
}
