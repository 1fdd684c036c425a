// A remediation on its way: the lease, the object of the first step, and with each step that has failed or had its time
// the next one. It goes on under pause, upgrade and a closed gate, for it has begun. It never ends the node itself.

import { timedOutKey } from "../../api/node-health-check-contract.ts";
import { formatTime, hourMs, type Instant } from "../../api/time.ts";
import type { RemediationView, StepView } from "../../snapshot/check-views.ts";
import { nothing } from "../decision.ts";
import { unstamped } from "../ledger.ts";
import type { Objection } from "../safety.ts";
import { refused, stepHold } from "./ask.ts";
import { edited, isMadeUnderAnother } from "./holds.ts";
import { heldByAnother, takeLease } from "./lease.ts";
import { isMadeBy, remediationFor } from "./manifest.ts";
import { isUnhealthy } from "./node-health.ts";
import { type CheckContext, type CheckDecision, checkNotice, type Patient, together, wakesAt } from "./words.ts";
import { laneOfRemediation, targetOf } from "./objects.ts";

/** What goes on for so long is worth a word. */
const oldMs = 48 * hourMs;

/** The node has an unhealthy condition, and a remediation or leave to begin one. */
export function carryOn(patient: Patient, context: CheckContext): CheckDecision {
  const { check, health, remediations } = patient;
  const progress = check.steps.map(step => ({ step, made: remediations.find(one => isMadeBy(step, one)) }));
  const current = progress.find(({ step, made }) => made === undefined || !isOver(made, step, context.now));
  const ended = together([...progress.map(one => timeOut(one, patient, context)), aged(patient, context)]);
  // Another unhealthy condition that has not lasted long enough yet: what runs is left alone, and nothing is added.
  if (!isUnhealthy(health, context.now)) return { ...ended, wakeAt: earliest(ended.wakeAt, health.dueAt) };
  if (current === undefined) return together([ended, noneLeft(patient)]);
  if (current.made !== undefined) return together([ended, keepUp(patient, current.step, context)]);
  if (ended.commands.length > 0) return ended;
  return together([ended, begin(patient, current.step, context)]);
}

type Progress = { readonly step: StepView; readonly made: RemediationView | undefined };

/** By its own word, by ours, or by its time. */
export function isOver(made: RemediationView, { timeoutMs }: StepView, now: Instant): boolean {
  if (made.timedOut !== undefined || made.succeeded?.status === "False") return true;
  return timeoutMs !== undefined && made.createdAt + timeoutMs <= now;
}

/** Whoever carries it out is told to stop, unless it has done what it could. */
function timeOut({ step, made }: Progress, { node }: Patient, context: CheckContext): CheckDecision {
  if (made === undefined || made.deletingSince !== undefined || made.timedOut !== undefined) return nothing;
  const endsAt = step.timeoutMs === undefined ? undefined : made.createdAt + step.timeoutMs;
  if (!isOver(made, step, context.now)) return { ...nothing, wakeAt: wakesAt(endsAt, context.now) };
  const target = targetOf(made, context);
  if (made.succeeded?.status === "True" || target === undefined) return nothing;
  const how = made.succeeded?.status === "False" ? `failed: ${made.succeeded.message}` : "had its time";
  const why = `${made.kind} ${made.name} ${how}, and node ${node.name} is not healthy.`;
  return {
    ...nothing,
    commands: [{ kind: "annotate-remediation", why, remediation: target, annotations: { [timedOutKey]: unstamped } }],
  };
}

function aged({ node, check, remediations }: Patient, { now }: CheckContext): CheckDecision {
  const [oldest] = remediations;
  if (oldest === undefined) return nothing;
  const at = oldest.createdAt + oldMs;
  if (at > now) return { ...nothing, wakeAt: at };
  const message = `Node ${node.name} has been remediated since ${formatTime(oldest.createdAt)} (${oldest.kind} ${oldest.name}).`;
  return { ...nothing, notices: [checkNotice(check, { type: "Warning", reason: "OldRemediation", message })] };
}

function noneLeft(patient: Patient): CheckDecision {
  const { node, check } = patient;
  const message = `Every remediation of NodeHealthCheck ${check.name} was tried on node ${node.name}, and it is still unhealthy.`;
  return {
    ...refused(patient, { code: "no-template-left", message, liftedBy: "the node's recovery, or a person" }),
    notices: [checkNotice(check, { type: "Warning", reason: "NoTemplateLeft", message })],
  };
}

/** It runs: the lease is kept for as long. */
function keepUp(patient: Patient, step: StepView, context: CheckContext): CheckDecision {
  if (patient.action === undefined) return nothing;
  // Somebody else has it since ours ran out: what runs goes on, and theirs is respected.
  const held = heldByAnother(patient, context);
  if (held !== undefined) return { ...nothing, wakeAt: wakesAt(held.until, context.now) };
  const { command, renewAt } = takeLease(patient, step, context);
  return { ...nothing, commands: command === undefined ? [] : [command], wakeAt: wakesAt(renewAt, context.now) };
}

function begin(patient: Patient, step: StepView, context: CheckContext): CheckDecision {
  const { node, check, action } = patient;
  if (action === undefined) return nothing;
  const held = startHold(patient, step, context);
  if (held !== undefined) return { ...refused(patient, held), wakeAt: wakesAt(held.until, context.now) };
  const { command, renewAt } = takeLease(patient, step, context);
  if (command !== undefined) return { ...nothing, commands: [command] };
  const template = context.checks.template(step.template);
  const state = template && context.checks.kind({ apiVersion: template.apiVersion, kind: kindOf(step) });
  if (template === undefined || state?.state !== "Served") return nothing;
  const manifest = remediationFor(check, node, template);
  const why = `Node ${node.name} is unhealthy by NodeHealthCheck ${check.name}: ${manifest.kind} ${manifest.metadata.name} is asked for.`;
  return {
    ...nothing,
    commands: [
      {
        kind: "create-remediation",
        why,
        resource: state.resource,
        manifest,
        node: { name: node.name, uid: node.uid },
        action: { name: action.name, uid: action.uid },
      },
    ],
    notices: [checkNotice(check, { type: "Normal", reason: "RemediationCreated", message: why })],
    wakeAt: wakesAt(renewAt, context.now),
  };
}

function kindOf({ template }: StepView): string {
  return template.kind.replace(/Template$/, "");
}

function startHold(patient: Patient, step: StepView, context: CheckContext): Objection | undefined {
  const { node, check } = patient;
  if (node.deletingSince !== undefined) {
    const message = `Node ${node.name} is being deleted: no further remediation begins.`;
    return { code: "node-going", message, liftedBy: "another node" };
  }
  if (isMadeUnderAnother(check, node.name, context)) return edited(check, context);
  return stepHold(patient, step, context) ?? nameTaken(patient, step, context) ?? failed(patient, step, context);
}

/** The name is the node's: what has it must go first, and what is not ours stays. */
function nameTaken({ node, check }: Patient, step: StepView, { checks }: CheckContext): Objection | undefined {
  const template = checks.template(step.template);
  if (template === undefined) return undefined;
  const { apiVersion, kind, metadata } = remediationFor(check, node, template);
  const found = checks.remediation({ apiVersion, kind, ...metadata });
  if (found === undefined) return undefined;
  const who = `${kind} ${found.name}`;
  if (found.deletingSince !== undefined) {
    const by = found.finalizers.length === 0 ? "" : `, held by ${found.finalizers.join(", ")}`;
    const message = `${who} of node ${node.name} is still being deleted${by}.`;
    return { code: "still-being-removed", message, liftedBy: "whoever has to take the finalizers away" };
  }
  const message = `${who} is there already and belongs to ${found.owner ?? "nobody"}, not to NodeHealthCheck ${check.name}.`;
  return { code: "remediation-of-another", message, liftedBy: `the end of ${who}` };
}

function failed({ node, check }: Patient, step: StepView, context: CheckContext): Objection | undefined {
  const template = context.checks.template(step.template);
  if (template === undefined) return undefined;
  const { apiVersion, kind, metadata } = remediationFor(check, node, template);
  const failure = context.picture.failure(laneOfRemediation({ apiVersion, kind, ...metadata }));
  if (failure === undefined || failure.retryAt <= context.now) return undefined;
  const message = `${kind} ${metadata.name} could not be created: ${failure.message}`;
  return { code: "create-failed", message, until: failure.retryAt, liftedBy: "an answer of the server" };
}

function earliest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
