// The rule of a node under health checks: for each check that selects it or has remediated it, whether it is asked for,
// carried on with or let go, and the entry in the ledger that stands for it.

import { checkOfHolder, confirmedHealthyKey } from "../../api/node-health-check-contract.ts";
import { formatTime } from "../../api/time.ts";
import { endedStep } from "../../snapshot/ended-remediations.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, NodeView } from "../../snapshot/views.ts";
import { type Context, type ActionProgress, nothing, type Decision, together } from "../decision.ts";
import { reasonOf } from "../conditions.ts";
import { servedClass } from "../node-class.ts";
import { ownClaimOf } from "../own-node.ts";
import { instantOf } from "../ledger.ts";
import { saysWait } from "../progress.ts";
import type { Objection } from "../safety.ts";
import { hasStarted } from "../start-hold.ts";
import { ask, refused } from "./ask.ts";
import { carryOn, isSpent, leftAfterSteps, letGo, spentSentence } from "./course.ts";
import { failedWrite } from "./failed-write.ts";
import { isGoingOn, isMadeUnderAnother } from "./holds.ts";
import { giveBack } from "./lease.ts";
import { isMadeBy } from "./manifest.ts";
import { healthOf, isHealthy, isUnhealthy } from "./node-health.ts";
import { forgetDelay, outlived, recover } from "./recovery.ts";
import { endOfRemoved, hasteEnds } from "./removed.ts";
import { endsAt, stepOf } from "./step-time.ts";
import { sightOf } from "./templates.ts";
import { checkNotice, type Patient, wakesAt } from "./words.ts";

export function decideCheckedNode(name: string, context: Context): Decision {
  const node = context.picture.node(name);
  if (node === undefined) return nothing;
  const patients = checksOf(node, context).map(check => patientOf(node, check, context));
  return together([
    ...patients.map(patient => decidePatient(patient, context)),
    confirmed(node, patients),
    leftBehind(node, context),
  ]);
}

/** Those that select it or have a remediation of it; and whoever has let it go and left an entry or its lease behind. */
function checksOf({ name, uid }: NodeView, { picture }: Context): readonly CheckView[] {
  const { checks } = picture;
  const asker = picture.openActionOn(uid)?.spec.askedBy;
  const asking = asker?.kind === "NodeHealthCheck" ? checks.check(asker.name) : undefined;
  const holding = checks.check(checkOfHolder(checks.lease(name)?.holder ?? "") ?? "");
  const left = [asking?.uid === asker?.uid ? asking : undefined, holding].flatMap(check => check ?? []);
  return [...new Set([...checks.concerning(name), ...left])];
}

/** What a check that is gone had begun: its objects go with it, and nobody else would end the entry. */
function leftBehind(node: NodeView, context: Context): Decision {
  const { picture, epoch } = context;
  const { checks } = picture;
  const action = picture.openActionOn(node.uid);
  if (action === undefined || action.isProvisional || action.spec.method !== "Remediate") return nothing;
  const { askedBy } = action.spec;
  const isLeft =
    checks.isListed && askedBy.kind === "NodeHealthCheck" && checks.check(askedBy.name)?.uid !== askedBy.uid;
  if (!isLeft || action.spec.epoch !== epoch) return nothing;
  const { name, uid, resourceVersion } = action;
  const why = `NodeHealthCheck ${askedBy.name}, which asked for it, is gone.`;
  const progress = over(action, why, hasStarted(action) ? "Done" : "Abandoned");
  return {
    ...nothing,
    commands: [
      { kind: "update-action", why, action: { name, uid }, resourceVersion, progress },
      ...giveBack(node.name, askedBy.name, context),
    ],
  };
}

function patientOf(node: NodeView, check: CheckView, context: Context): Patient {
  const { picture, epoch } = context;
  const { checks } = picture;
  const open = picture.openActionOn(node.uid);
  // What our own remediators do for the check has entries of its own (decide/remediators).
  const isMeant = open?.spec.action === "Remediation" && open.spec.method === "Remediate";
  const isOurs = isMeant && open.spec.askedBy.uid === check.uid;
  const isUsable = isOurs && !open.isProvisional && open.spec.epoch === epoch;
  const remediations = [...checks.remediationsOf(check, node.name)].sort(
    (a, b) => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1),
  );
  return {
    node,
    check,
    isSelected: checks.selects(check, node.name) || isMadeUnderAnother(check, node.name, context),
    health: healthOf(node, check, { ...context, triedAt: remediations.at(-1)?.createdAt }),
    remediations,
    action: isUsable ? open : undefined,
    isTerminated: isTerminatedByUs(node, context),
  };
}

/** Somebody has deleted its claim: from then on the entry tells how far its termination is. */
function isTerminatedByUs(node: NodeView, { picture }: Context): boolean {
  const claim = ownClaimOf(node, picture);
  return claim?.deletingSince !== undefined && servedClass(claim.spec.nodeClassRef, picture.provider) !== undefined;
}

function decidePatient(patient: Patient, context: Context): Decision {
  const { node, check, health, remediations, action, isSelected } = patient;
  const sight = sightOf(check, context);
  // What is not understood or not seen is left as it is: a remediation that runs must not end by a doubt.
  const isUnseen = sight === "Pending" || (sight === "Hidden" && remediations.length === 0);
  if (check.selector === undefined || isUnseen) return ask({ ...patient, isSelected: true }, context);
  if (sight === "Hidden") return seenInPart(patient, context);
  // Between its entry and our seeing it, or while an older leader's entry is adopted.
  const open = action === undefined ? context.picture.openActionOn(node.uid) : undefined;
  const isAsked = open?.spec.askedBy.uid === check.uid;
  if (action === undefined && remediations.length === 0) {
    if (isAsked) return nothing;
    return together([ask(patient, context), { ...nothing, commands: giveBack(node.name, check.name, context) }]);
  }
  // Somebody removed it, or it is done: the entry ends, and what is still unhealthy then is asked for anew.
  if (action !== undefined && hasStarted(action) && remediations.length === 0) {
    const wakeAt = wakesAt(hasteEnds(action), context.now);
    return { ...keptInLedger(patient, action, { course: nothing, context }), wakeAt };
  }
  const former = outlived(patient, context);
  if (former !== undefined) return former;
  const isWell = isHealthy(health) || !isSelected;
  const isOnItsWay = isAsked && open.spec.method === "Remediate";
  // Nothing is removed before its entry is ours and knows of it.
  if (isWell && isOnItsWay) return nothing;
  const course = courseOf(patient, isWell, context);
  if (action !== undefined) return together([course, keptInLedger(patient, action, { course, context })]);
  if (isWell || isOnItsWay || isCarriedOutByUs(patient) || isSpent(patient, context)) return course;
  const left = leftAfterSteps(patient, context);
  // What could not be written is said with the course.
  const isSaid = course.refusals.some(({ code }) => code === left?.code);
  if (left !== undefined) {
    return together([course, { ...letGo(patient, left, context), ...(isSaid ? { refusals: [] } : {}) }]);
  }
  // It runs and the ledger does not know of it: after an update from another controller, or under a new node.
  return together([course, ask(patient, context)]);
}

/** What is seen goes on: it is removed, kept up and has its time. Nothing is concluded from what is not there. */
function seenInPart(patient: Patient, context: Context): Decision {
  const { health, isSelected, action } = patient;
  const course = courseOf(patient, isHealthy(health) || !isSelected, context);
  if (action === undefined || (hasStarted(action) && !isUnwritten(patient))) return course;
  return together([course, keptInLedger(patient, action, { course, context })]);
}

function courseOf(patient: Patient, isWell: boolean, context: Context): Decision {
  // Whoever comes next could not tell that it ever was.
  if (isWell && isUnwritten(patient)) return nothing;
  const course = isWell
    ? recover(patient, context)
    : together([forgetDelay(patient, context), carryOn(patient, context)]);
  const failed = failedWrite(course.commands, context);
  return failed === undefined ? course : together([refused(patient, failed), course]);
}

/** A step was made and the entry does not know of it yet. */
function isUnwritten({ check, remediations, action }: Patient): boolean {
  if (action === undefined) return false;
  const known = new Set((action.status.steps ?? []).map(({ name }) => name));
  return check.steps.some((step, index) => {
    return !known.has(stepName(index)) && remediations.some(one => one.own === undefined && isMadeBy(step, one));
  });
}

type Kept = { readonly course: Decision; readonly context: Context };

/** What the ledger says of it. */
function keptInLedger(patient: Patient, action: ActionView, kept: Kept): Decision {
  if (patient.isTerminated) return nothing;
  const progress = progressOf(patient, action, kept);
  if (progress === undefined) return nothing;
  const { name, uid, resourceVersion } = action;
  const why = progress.outcome ?? `Node ${patient.node.name} is being remediated.`;
  return {
    ...nothing,
    commands: [{ kind: "update-action", why, action: { name, uid }, resourceVersion, progress }],
    notices: made(patient, action),
  };
}

/** Told with the entry that first knows of it: to ask for a remediation is not to have it. */
function made({ node, check, remediations }: Patient, action: ActionView): Decision["notices"] {
  return remediations.flatMap(one => {
    const step = check.steps.findIndex(each => isMadeBy(each, one));
    if (one.createdAt < action.createdAt || hasEnded(one) || isKnown(one, stepName(step), action)) return [];
    const message = `Node ${node.name} is unhealthy by NodeHealthCheck ${check.name}: ${one.kind} ${one.name} is made.`;
    return checkNotice(check, { type: "Normal", reason: "RemediationCreated", message });
  });
}

/** Where the step has another template by now, what it had before is known as ended, and one made since is news. */
function isKnown({ createdAt }: RemediationView, step: string, { status: { steps = [] } }: ActionView): boolean {
  const known = steps.find(({ name }) => name === step);
  return known !== undefined && (known.finishedAt === undefined || createdAt <= (instantOf(known.startedAt) ?? 0));
}

function stepName(index: number): string {
  return `remediation-${index + 1}`;
}

/** Undefined: it says so already. */
function progressOf(patient: Patient, action: ActionView, { course, context }: Kept): ActionProgress | undefined {
  const { now } = context;
  const { node, check, health, remediations, isSelected } = patient;
  if (isCarriedOutByUs(patient)) {
    const names = remediations.filter(isOurOwn).map(({ kind, name }) => `${kind} ${name}`);
    return over(action, `Node ${node.name} is left to ${names.join(", ")}, with an action of its own.`, "Done");
  }
  // Of one that was opened for a further step, when all before it had been tried, nothing has begun yet; of one whose object
  // has just been made, its entry may not know it.
  const isBegun = hasStarted(action) || remediations.some(one => isGoingOn(one, check));
  // Somebody wants it gone: that takes the node over, with an entry of its own.
  if (node.deletingSince !== undefined) {
    const phase = isBegun ? "Done" : "Abandoned";
    return over(action, `Node ${node.name} is being deleted.`, phase, stepsOf(patient, action));
  }
  const isWell = isHealthy(health) || !isSelected;
  // The node is sick and stays, and nobody does anything: it must hold no place of those who could be helped.
  if (!isWell && isSpent(patient, context)) {
    return over(action, spentSentence(patient), "Failed", stepsOf(patient, action));
  }
  const left = isWell ? undefined : leftAfterSteps(patient, context);
  if (left !== undefined) return over(action, leftSentence(left), "Failed", stepsOf(patient, action));
  if (remediations.length > 0 && isBegun) return running(patient, action, waitOf(patient, course, context));
  if (hasStarted(action)) {
    const { outcome, phase } = endOfRemoved(node.name, isWell, now < hasteEnds(action));
    return over(action, outcome, phase);
  }
  if (isUnhealthy(health, now) && isSelected) return undefined;
  return over(
    action,
    `Node ${node.name} was no longer unhealthy by NodeHealthCheck ${check.name} before anything was done.`,
    "Abandoned",
  );
}

function leftSentence({ code, message }: Objection): string {
  return code === "left-to-repair" ? message : `No further step could begin, and nobody works on the node: ${message}`;
}

/** One owner at a time: what our own remediators do is asked for and written down by them. */
function isCarriedOutByUs({ remediations }: Patient): boolean {
  return remediations.some(isOurOwn);
}

function isOurOwn(remediation: RemediationView): boolean {
  return remediation.own !== undefined && !hasEnded(remediation);
}

function over(
  { status }: ActionView,
  outcome: string,
  phase: "Done" | "Failed" | "Abandoned",
  steps: readonly { readonly name: string }[] = status.steps ?? [],
): ActionProgress {
  const done = steps.map(({ name }) => ({ name, isFinished: true }));
  return { phase, waitingFor: null, outcome, steps: [...done, { name: endedStep, isFinished: true }] };
}

type Wait = NonNullable<ActionProgress["waitingFor"]>;

/** What holds the next step or the end, else whoever has been asked and has not answered. */
function waitOf({ check, node, remediations }: Patient, { refusals: [held] }: Decision, context: Context): Wait | null {
  if (held !== undefined) return { reason: reasonOf(held.code), message: held.message };
  const asked = remediations.findLast(one => one.timedOut === undefined && one.succeeded?.status !== "False");
  if (asked === undefined) return null;
  const who = `${asked.kind} ${asked.name}`;
  const step = stepOf(asked, check);
  const until = step && endsAt(asked, step, context);
  const said =
    asked.succeeded?.status === "True"
      ? `says that it has succeeded, and node ${node.name} is not healthy`
      : "has not said that it has succeeded or failed";
  return {
    reason: "RemediationRunning",
    message: `${who}, made at ${formatTime(asked.createdAt)}, ${said}.`,
    ...(until === undefined ? {} : { until }),
  };
}

/** A step whose remediation is removed before that of another is not forgotten. */
function stepsOf({ check, remediations }: Patient, { status: { steps = [] } }: ActionView) {
  return check.steps.flatMap((step, index) => {
    const name = stepName(index);
    const made = remediations.find(one => isMadeBy(step, one));
    if (made === undefined) return steps.some(one => one.name === name) ? { name, isFinished: true } : [];
    return { name, isFinished: hasEnded(made) };
  });
}

function running(patient: Patient, action: ActionView, waitingFor: Wait | null): ActionProgress | undefined {
  const { status } = action;
  const known = status.steps ?? [];
  const steps = stepsOf(patient, action);
  const written = known.map(({ name, finishedAt }) => `${name} ${finishedAt !== undefined}`);
  const shall = steps.map(({ name, isFinished }) => `${name} ${isFinished}`);
  if (status.phase !== "Running" || written.join() !== shall.join()) return { phase: "Running", waitingFor, steps };
  return saysWait(action, waitingFor) ? undefined : { waitingFor };
}

/** By what is written on it, so that the ledger says nothing that time alone would change. */
function hasEnded({ timedOut, succeeded, deletingSince }: RemediationView): boolean {
  return timedOut !== undefined || deletingSince !== undefined || (succeeded?.status ?? "Unknown") !== "Unknown";
}

/** A confirmation is used up once nothing is left that it could remove, else it would confirm the next failure too. */
function confirmed(node: NodeView, patients: readonly Patient[]): Decision {
  const isUsedUp = patients.every(({ health, remediations }) => isHealthy(health) && remediations.length === 0);
  if (node.annotations[confirmedHealthyKey] === undefined || patients.length === 0 || !isUsedUp) return nothing;
  return {
    ...nothing,
    commands: [
      {
        kind: "update-node",
        why: `Node ${node.name} is healthy and nothing of its remediation is left to confirm.`,
        node: { name: node.name, uid: node.uid },
        change: { annotations: { [confirmedHealthyKey]: null } },
      },
    ],
  };
}
