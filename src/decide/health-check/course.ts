// A remediation on its way: the lease, the object of the first step, and with each step that has failed or had its time
// the next one. It goes on under pause, upgrade and a closed gate, for it has begun. It never ends the node itself.

import { timedOutKey } from "../../api/node-health-check-contract.ts";
import { formatTime, hourMs, type Instant, minuteMs } from "../../api/time.ts";
import type { CheckView, RemediationView, StepView } from "../../snapshot/check-views.ts";
import { type Context, nothing, type Decision, together } from "../decision.ts";
import { laneOfRemediation } from "../lane.ts";
import { dryRunCode, dryRunWord } from "../dry-run.ts";
import { unstamped } from "../ledger.ts";
import type { Objection } from "../safety.ts";
import { hasStarted, sayWait, startHold } from "../start-hold.ts";
import { nextOf } from "../termination-step.ts";
import { nodeGoing, proposalOf, refused, stepHold } from "./ask.ts";
import { failedWrite } from "./failed-write.ts";
import { edited, isGoingOn, isMadeUnderAnother, isUnderAnother } from "./holds.ts";
import { giveBack, heldByAnother, renewal, takeLease } from "./lease.ts";
import { isMadeBy } from "./manifest.ts";
import { isUnhealthy } from "./node-health.ts";
import { targetOf } from "./objects.ts";
import { nameTaken, type Plan, planOf, standingFor } from "./plan.ts";
import { endedAt, endsAt, isOver, stepOf, type StepTime } from "./step-time.ts";
import { disablingOf } from "./templates.ts";
import { checkNotice, type Patient, wakesAt } from "./words.ts";

/** What goes on for so long is worth a word. */
const oldMs = 48 * hourMs;

/** The node has an unhealthy condition, and a remediation or leave to begin one. */
export function carryOn(patient: Patient, context: Context): Decision {
  const { health } = patient;
  const { progress, current } = progressOf(patient, context);
  const ended = together([
    ...endings(patient, progress).map(one => timeOut(one, patient, context)),
    aged(patient, context),
  ]);
  const kept = keptUp(patient, current, context);
  // Another unhealthy condition that has not lasted long enough yet: what runs is left alone, and nothing is added.
  if (!isUnhealthy(health, context.now)) return together([ended, kept, { ...nothing, wakeAt: health.dueAt }]);
  // It cannot be understood, which it says itself: nothing was tried in vain.
  if (patient.check.steps.length === 0) return ended;
  if (current === undefined) return together([ended, noneLeft(patient, context)]);
  if (current.made !== undefined) return together([ended, kept]);
  if (ended.commands.length > 0) return ended;
  return together([ended, kept, begin(patient, current.step, context)]);
}

type Progress = { readonly step: StepView; readonly made: RemediationView | undefined };
type Ending = { readonly step: StepTime; readonly made: RemediationView | undefined };
type Running = { readonly step: StepTime; readonly made: RemediationView };

/** Each step with what was made for it, and the one whose turn it is. */
function progressOf({ check, remediations }: Pick<Patient, "check" | "remediations">, context: Context) {
  const progress = check.steps.map((step): Progress => {
    return { step, made: remediations.find(one => isMadeBy(step, one)) };
  });
  const isRunning = ({ step, made }: Progress) => made !== undefined && !isOver(made, step, context);
  // Those before it stay behind it, also where somebody has removed what was made for them.
  const running = progress.find(one => isRunning(one) && isAsWritten(one, check));
  return { progress, current: running ?? progress.find(one => one.made === undefined || isRunning(one)) };
}

/** Not before an edit, which may have put a step before it. */
function isAsWritten({ made }: Progress, { madeUnder }: CheckView): boolean {
  return made?.madeUnder === undefined || made.madeUnder === madeUnder;
}

/** All that may have had its time: of the steps, and of templates that the check no longer names. */
function endings({ check, remediations }: Patient, progress: readonly Progress[]): readonly Ending[] {
  const unused = remediations.flatMap(made => {
    const step = stepOf(made, check);
    return step === undefined || "template" in step ? [] : { step, made };
  });
  return [...progress, ...unused];
}

/** Whoever carries it out is told to stop, unless it has done what it could. */
function timeOut({ step, made }: Ending, { node }: Patient, context: Context): Decision {
  if (made === undefined || made.deletingSince !== undefined || made.timedOut !== undefined) return nothing;
  if (!isOver(made, step, context)) return { ...nothing, wakeAt: wakesAt(endsAt(made, step, context), context.now) };
  const target = targetOf(made, context);
  if (made.succeeded?.status === "True" || target === undefined) return nothing;
  const how =
    made.succeeded?.status === "False" ? `failed: ${made.succeeded.message || made.succeeded.reason}` : "had its time";
  const why = `${made.kind} ${made.name} ${how}, and node ${node.name} is not healthy.`;
  return {
    ...nothing,
    commands: [{ kind: "annotate-remediation", why, remediation: target, annotations: { [timedOutKey]: unstamped } }],
  };
}

function aged({ node, check, remediations }: Patient, { now }: Context): Decision {
  const [oldest] = remediations;
  if (oldest === undefined) return nothing;
  const at = oldest.createdAt + oldMs;
  if (at > now) return { ...nothing, wakeAt: at };
  const message = `Node ${node.name} has been remediated since ${formatTime(oldest.createdAt)} (${oldest.kind} ${oldest.name}).`;
  return { ...nothing, notices: [checkNotice(check, { type: "Warning", reason: "OldRemediation", message })] };
}

/** Nothing more will be done by this check for as long as its remediations stand. */
export function isSpent({ check, remediations }: Pick<Patient, "check" | "remediations">, context: Context): boolean {
  const { steps } = check;
  return (
    steps.length > 0 && steps.every(step => remediations.some(one => isMadeBy(step, one) && isOver(one, step, context)))
  );
}

export function spentSentence({ node, check }: Pick<Patient, "node" | "check">): string {
  return `Every remediation of NodeHealthCheck ${check.name} was tried on node ${node.name}, and it is still unhealthy.`;
}

/** How long a node is kept for a step that cannot begin, as for an entry that has not begun. */
const patienceMs = 10 * minuteMs;

/**
 * What all that is left to do waits for, where the entry must end: the node is its pool's to replace, and repair waits for
 * that; or nobody has been at work on it for a while, and others could be helped. Undefined: something runs or may soon.
 */
export function leftAfterSteps(patient: Patient, context: Context): Objection | undefined {
  const { progress, current } = progressOf(patient, context);
  if (patient.remediations.length === 0 || current === undefined || current.made !== undefined) return undefined;
  // Its own time ends it, and nobody else begins beside it.
  if (isMadeUnderAnother(patient.check, patient.node.name, context)) return undefined;
  const held = stepHold(patient, current.step, context);
  if (held?.code === "left-to-repair") return held;
  // One that has not begun ends by the ledger's own rule.
  if (patient.action !== undefined && !hasStarted(patient.action)) return undefined;
  const isKept = (keptUntil(patient, context) ?? Number.POSITIVE_INFINITY) > context.now;
  if (isKept || disablingOf(patient.check, context)?.reason === "RemediationTemplatePending") return undefined;
  const stamps = endings(patient, progress).flatMap(one => timeOut(one, patient, context).commands);
  const plan = planOf(patient, current.step, context);
  return (
    shownOnly(patient, current.step, context) ??
    held ??
    stillUndone(patient) ??
    // No step begins beside one that could not be told to stop.
    failedWrite(stamps, context) ??
    planHold(patient, plan, context)
  );
}

/** Undefined: somebody is at work on the node. */
function keptUntil({ check, remediations, action }: Patient, context: Context): Instant | undefined {
  const ends = remediations.map(one => endedAt(one, check, context) ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends, action?.createdAt ?? Number.NEGATIVE_INFINITY);
  return remediations.length > 0 && Number.isFinite(last) ? last + patienceMs : undefined;
}

/** As for one on which all was tried. */
export function letGo(patient: Patient, left: Objection, context: Context): Decision {
  const { node, check } = patient;
  const isIdle = context.picture.openActionOn(node.uid) === undefined;
  return {
    ...refused(patient, left),
    commands: isIdle ? giveBack(node.name, check.name, context) : [],
    wakeAt: wakesAt(left.until, context.now),
  };
}

/** Once nobody works on the node for it, the lease is another's to take. */
function noneLeft(patient: Patient, context: Context): Decision {
  const message = spentSentence(patient);
  const spent = { code: "no-template-left", message, liftedBy: "the node's recovery, or a person" };
  return {
    ...letGo(patient, spent, context),
    notices: [checkNotice(patient.check, { type: "Warning", reason: "NoTemplateLeft", message })],
  };
}

/** What runs, also if it was made before an edit and its step is no longer the one whose turn it is. */
function keptUp(patient: Patient, current: Progress | undefined, context: Context): Decision {
  if (current?.made !== undefined) return keepUp(patient, { ...current, made: current.made }, context);
  const { check, remediations } = patient;
  // Nobody works under the lease of one that has done what it could.
  const isDone = ({ deletingSince, succeeded }: RemediationView) =>
    deletingSince !== undefined || succeeded?.status === "True";
  const made = remediations.find(one => isUnderAnother(one, check, context) && !isDone(one));
  const step = made && stepOf(made, check);
  return made === undefined || step === undefined ? nothing : keepUp(patient, { step, made }, context);
}

/** It runs: the lease is kept for as long. */
function keepUp(patient: Patient, { step, made }: Running, context: Context): Decision {
  // The node has failed again before all was undone: nothing can be made under the same name.
  if (made.deletingSince !== undefined) return refused(patient, nameTaken(patient, made));
  // What we carry out ourselves has an entry of its own in the ledger.
  if (patient.action === undefined && made.own === undefined) return nothing;
  // Somebody else has it since ours ran out: what runs goes on, and theirs is respected.
  const held = heldByAnother(patient, context);
  if (held !== undefined) return { ...nothing, wakeAt: wakesAt(held.until, context.now) };
  const { takes, renewAt } = takeLease(patient, step, context);
  const commands = takes === undefined ? [] : [renewal(patient, takes)];
  return { ...nothing, commands, wakeAt: wakesAt(renewAt, context.now) };
}

function begin(patient: Patient, step: StepView, context: Context): Decision {
  const { node, check, action } = patient;
  const plan = planOf(patient, step, context);
  const held =
    goingOrEdited(patient, context) ??
    stillUndone(patient) ??
    shownOnly(patient, step, context) ??
    stepHold(patient, step, context) ??
    entryHold(patient, context) ??
    planHold(patient, plan, context);
  if (action === undefined) return nothing;
  // While another step runs, it is that one which the entry tells of.
  const isTold = patient.isTerminated || patient.remediations.some(one => isGoingOn(one, check));
  if (held !== undefined) {
    const commands = isTold ? [] : sayWait(action, lasting(held));
    return {
      ...refused(patient, held),
      commands,
      wakeAt: nextOf(context.now, [held.until, keptUntil(patient, context)]),
    };
  }
  if (plan === undefined) return nothing;
  const { takes, renewAt } = takeLease(patient, step, context);
  const { kind, metadata } = plan.manifest;
  const why = `Node ${node.name} is unhealthy by NodeHealthCheck ${check.name}: ${kind} ${metadata.name} is asked for.`;
  return {
    ...nothing,
    commands: [
      {
        kind: "create-remediation",
        why,
        ...plan,
        node: { name: node.name, uid: node.uid },
        action: { name: action.name, uid: action.uid },
        ...(takes === undefined ? {} : { takes }),
      },
    ],
    wakeAt: wakesAt(renewAt, context.now),
  };
}

/** When a write is tried next changes with each attempt, and is not worth a write. */
function lasting({ until, ...held }: Objection): Objection {
  return until === undefined || isFailure(held.code) ? held : { ...held, until };
}

function isFailure(code: string): boolean {
  return code === "create-failed" || code === "write-failed";
}

function goingOrEdited({ node, check, isTerminated }: Patient, context: Context): Objection | undefined {
  if (node.deletingSince !== undefined || isTerminated) return nodeGoing(node);
  return isMadeUnderAnother(check, node.name, context) ? edited(check, context) : undefined;
}

/**
 * All that was made is taken back: the node was well, or somebody wants that tried again. What it has now is a new failure,
 * which begins with the first step, and is judged like any other, once nothing is left.
 */
function stillUndone(patient: Patient): Objection | undefined {
  const { remediations } = patient;
  const [oldest] = remediations;
  const isTakenBack = remediations.every(({ deletingSince }) => deletingSince !== undefined);
  return oldest !== undefined && isTakenBack ? nameTaken(patient, oldest) : undefined;
}

/** A dry run that was asked for since the entry was written: what runs goes on, and nothing is added. */
function shownOnly(patient: Patient, { template }: StepView, context: Context): Objection | undefined {
  const word = dryRunWord(proposalOf(patient, context), context);
  if (word === undefined) return undefined;
  const message = `${template.kind} ${template.name} would be used on node ${patient.node.name}, but that is only shown, because ${word}.`;
  return { code: dryRunCode, message, liftedBy: "ending the dry run" };
}

/** What is written down and has not begun is judged by all that holds starts; a step beside one that runs has begun. */
function entryHold({ action, check, remediations }: Patient, context: Context): Objection | undefined {
  const isBegun = remediations.some(one => isGoingOn(one, check));
  return action === undefined || isBegun ? undefined : startHold(action, context);
}

function planHold(patient: Patient, plan: Plan | undefined, context: Context): Objection | undefined {
  if (plan === undefined) return undefined;
  const found = standingFor(plan, context);
  if (found !== undefined) return nameTaken(patient, found);
  const { apiVersion, kind, metadata } = plan.manifest;
  const failure = context.picture.failure(laneOfRemediation({ apiVersion, kind, ...metadata }));
  if (failure === undefined || failure.retryAt <= context.now) return undefined;
  const message = `${kind} ${metadata.name} could not be created: ${failure.message}`;
  return { code: "create-failed", message, until: failure.retryAt, liftedBy: "an answer of the server" };
}
