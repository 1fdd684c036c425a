// Carries a reboot that has begun to its end: cordon, reboot, wait until the node has recovered, uncordon. It evicts
// nothing: pods stay bound, and their containers start again with the machine. Whether it may begin is the arbiter's and
// the ledger's to say; what follows where it does not heal, the repair's.

import { formatTime, type Instant, minuteMs, parseDuration } from "../api/time.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import { cordon, isCordonedBy, uncordon } from "./cordon.ts";
import {
  type Command,
  type Context,
  type Decision,
  type Notice,
  nothing,
  type Refusal,
  type Rule,
} from "./decision.ts";
import { laneOf } from "./lane.ts";
import { instantOf, isDryRun } from "./ledger.ts";
import { told } from "./progress.ts";
import { nextOf, saidOf, type Wait } from "./termination-step.ts";

export const rebootRule: Rule = { name: "reboot", controller: "ledger", kind: "action", decide: decideReboot };

/** Where the action names no time that can be read. */
const timeoutDefaultMs = 10 * minuteMs;

function decideReboot(name: string, context: Context): Decision {
  const { picture } = context;
  const action = picture.action(name);
  if (action === undefined || !isOurs(action, context) || picture.staleness !== undefined) return nothing;
  const node = picture.nodeByUid(action.spec.node.uid);
  const named = action.spec.claim && picture.claim(action.spec.claim.name);
  const claim = named?.uid === action.spec.claim?.uid ? named : undefined;
  // Of what is gone the ledger speaks; a claim that is being deleted goes on with this entry as a termination.
  if (node === undefined || (action.spec.claim !== undefined && claim === undefined)) return nothing;
  if (claim?.deletingSince !== undefined) return nothing;
  const patient = patientOf(action, { node, claim });
  const end = endOf(patient, context);
  return end === undefined ? goOn(patient, context) : close(patient, end, context);
}

/** Begun, and by this term or adopted by it. */
function isOurs(action: ActionView, { epoch }: Context): boolean {
  const { isProvisional, spec, status } = action;
  return (
    !isProvisional &&
    spec.method === "Reboot" &&
    status.phase === "Running" &&
    !isDryRun(action) &&
    spec.epoch === epoch
  );
}

type Patient = {
  readonly action: ActionView;
  readonly node: NodeView;
  readonly providerID?: string;
  /** Whether the provider has taken the request. */
  readonly isAsked: boolean;
  readonly isRebooted: boolean;
  /** What is still wrong with the node. */
  readonly ill?: string;
  readonly giveUpAt: Instant;
};

type Scene = { readonly node: NodeView; readonly claim: ClaimView | undefined };

function patientOf(action: ActionView, { node, claim }: Scene): Patient {
  const { spec, status, createdAt } = action;
  const timeout = parseDuration(spec.timeout ?? "");
  const providerID = claim?.providerID ?? node.providerID;
  const ill = illOf(action, node);
  return {
    action,
    node,
    ...(providerID === undefined ? {} : { providerID }),
    isAsked: isFinished(action, "reboot"),
    isRebooted: status.bootID !== undefined && node.bootID !== undefined && node.bootID !== status.bootID,
    ...(ill === undefined ? {} : { ill }),
    giveUpAt: (instantOf(status.startedAt) ?? createdAt) + (timeout.ok ? timeout.value : timeoutDefaultMs),
  };
}

function isFinished({ status }: ActionView, step: StepName): boolean {
  return status.steps?.some(({ name, finishedAt }) => name === step && finishedAt !== undefined) ?? false;
}

/** It must be Ready, and nothing of what it was rebooted for may be left. */
function illOf({ spec }: Pick<ActionView, "spec">, { name, conditions }: NodeView): string | undefined {
  const said = (type: string) => {
    const condition = conditionOf(conditions, type);
    return condition === undefined ? `says nothing of ${type}` : `has ${type}=${condition.status}`;
  };
  if (!isTrue(conditions, "Ready")) return `Node ${name} ${said("Ready")}.`;
  const left = spec.evidence.find(({ conditionType = "", conditionStatus }) => {
    const condition = conditionOf(conditions, conditionType);
    return condition !== undefined && condition.status === conditionStatus;
  });
  return left?.conditionType === undefined ? undefined : `Node ${name} still ${said(left.conditionType)}.`;
}

type End = { readonly phase: "Done" | "Failed" | "Abandoned"; readonly outcome: string };

/** Undefined: it goes on. */
function endOf(patient: Patient, context: Context): End | undefined {
  const { action, node, ill, isAsked, isRebooted, giveUpAt } = patient;
  if (node.deletingSince !== undefined) {
    return { phase: "Abandoned", outcome: `Node ${node.name} was deleted at ${formatTime(node.deletingSince)}.` };
  }
  const isLate = giveUpAt <= context.now;
  // One that is well and was asked to reboot may be about to go down.
  const isSpared = isRecovered(action, node) && (!isAsked || isLate);
  if ((ill === undefined && isRebooted) || isSpared) {
    const how = isRebooted ? "was rebooted and has recovered" : "has recovered, and was not seen to reboot";
    return { phase: "Done", outcome: `Node ${node.name} ${how}.` };
  }
  const lost = failedBefore(patient) ?? lostCause(patient, context);
  if (lost !== undefined) return { phase: "Failed", outcome: lost };
  if (!isLate) return undefined;
  const held = waitOf(patient, context) ?? action.status.waitingFor;
  const cause = held?.message ?? `Node ${node.name} was not rebooted.`;
  return { phase: "Failed", outcome: `It had not recovered by ${formatTime(giveUpAt)}: ${cause}` };
}

/** One that somebody wants rebooted need not be sick. */
export function isRecovered(action: Pick<ActionView, "spec">, node: NodeView): boolean {
  return !isWished(action) && illOf(action, node) === undefined;
}

/** By an object of a person, or of another controller, who knows why. */
function isWished({ spec }: Pick<ActionView, "spec">): boolean {
  return spec.evidence.some(({ kind }) => kind === "RemediationObject");
}

/** Why its end was begun already: what showed that may have been forgotten since, as each write on a lane ends a failure there. */
function failedBefore({ action }: Patient): string | undefined {
  return action.status.steps?.find(({ name }) => name === "uncordon")?.message;
}

/** What the provider refuses for good, by the class of its error. */
const final: ReadonlySet<string> = new Set(["NotSupported", "Invalid"]);

/** Why no waiting would help. */
function lostCause({ action, node, providerID, isAsked, isRebooted }: Patient, context: Context): string | undefined {
  if (providerID === undefined) return `Node ${node.name} has no providerID by which it could be rebooted.`;
  if (context.picture.instance(providerID)?.state === "gone") {
    return `The provider says that the instance ${providerID} of node ${node.name} is gone.`;
  }
  if (isAsked || isRebooted) return undefined;
  if (action.status.bootID === undefined) {
    return `NodeAction ${action.name} names no boot id, so nobody could tell whether node ${node.name} was rebooted.`;
  }
  const failure = context.picture.failure(`action/${action.name}`);
  return failure && final.has(failure.reason) ? `The provider refuses the reboot: ${saidOf(failure)}` : undefined;
}

function goOn(patient: Patient, context: Context): Decision {
  const { action, node, giveUpAt } = patient;
  const step = stepOf(patient);
  const wait = waitOf(patient, context);
  return {
    ...nothing,
    commands: [
      ...commandsOf(step, patient),
      ...told(action, {
        steps: stepsUpTo(step),
        wait: asTold(action, wait),
        why: `The reboot of node ${node.name} says how far it is.`,
      }),
    ],
    refusals: wait === undefined ? [] : [refusalOf(action, wait)],
    wakeAt: nextOf(context.now, [giveUpAt, wait?.retryAt]),
  };
}

const stepNames = ["cordon", "reboot", "recover", "uncordon"] as const;
type StepName = (typeof stepNames)[number];

/** The steps that have begun; the last one runs. */
function stepsUpTo(step: StepName) {
  return stepNames.slice(0, stepNames.indexOf(step) + 1).map(name => ({ name, isFinished: name !== step }));
}

/** A cordon that somebody has lifted since is left lifted. */
function stepOf({ action, node, isAsked, isRebooted }: Patient): StepName {
  if (isAsked || isRebooted) return "recover";
  return node.isCordoned || isCordonedBy(node, action) || isFinished(action, "cordon") ? "reboot" : "cordon";
}

function commandsOf(step: StepName, { action, node, providerID }: Patient): Command[] {
  if (step === "cordon") return [cordon(node, action)];
  const { name, uid, spec, status } = action;
  if (step !== "reboot" || providerID === undefined || status.bootID === undefined) return [];
  const target = { name: node.name, uid: node.uid };
  const { bootID } = status;
  return [{ kind: "reboot-instance", action: { name, uid }, node: target, providerID, bootID, why: spec.message }];
}

/** Undefined: what is to be done next is under way. */
function waitOf(patient: Patient, context: Context): Wait | undefined {
  const { action, node, ill, isAsked, isRebooted, giveUpAt: until } = patient;
  if (isRebooted && ill !== undefined) {
    return { code: "not-recovered", message: `It was rebooted. ${ill}`, until, liftedBy: "its recovery" };
  }
  if (isAsked) {
    const message = `Node ${node.name} has not come back from its reboot: its boot id is still ${action.status.bootID}.`;
    return { code: "not-rebooted", message, until, liftedBy: "the machine's return" };
  }
  return failedWrite(commandsOf(stepOf(patient), patient), context);
}

function failedWrite([command]: readonly Command[], { picture }: Context): Wait | undefined {
  const failure = command && picture.failure(laneOf(command));
  if (command === undefined || failure === undefined) return undefined;
  const what =
    command.kind === "reboot-instance" ? "The reboot could not be asked for" : "The node could not be written";
  const { retryAt } = failure;
  return { code: "write-failed", message: `${what}: ${saidOf(failure)}`, retryAt, liftedBy: "another answer" };
}

/**
 * That it could not be asked for is told once, whatever each answer says: a provider names the request in it, and with
 * every write the lane would be free to ask again at once.
 */
function asTold({ status: { waitingFor } }: ActionView, wait: Wait | undefined): Wait | undefined {
  if (wait === undefined || wait.code !== "write-failed" || waitingFor === undefined) return wait;
  const [what = ""] = wait.message.split(":");
  return waitingFor.message.startsWith(`${what}:`) ? { ...wait, message: waitingFor.message } : wait;
}

/** The cordon goes first, so that an action that is over leaves nothing behind. */
function close({ action, node }: Patient, { phase, outcome }: End, context: Context): Decision {
  if (phase !== "Abandoned" && isCordonedBy(node, action)) {
    const command = uncordon(node, outcome);
    const wait = failedWrite([command], context);
    const message = phase === "Failed" ? { message: outcome } : {};
    const steps = [...stepsBefore(action, "uncordon"), { name: "uncordon", isFinished: false, ...message }];
    // Written first: once the node shows it, nothing tells any more that it was a step.
    const isWritten = action.status.steps?.some(({ name }) => name === "uncordon") ?? false;
    return {
      ...nothing,
      commands: [...(isWritten ? [command] : []), ...told(action, { steps, wait, why: outcome })],
      refusals: wait === undefined ? [] : [refusalOf(action, wait)],
      wakeAt: wait?.retryAt,
    };
  }
  const { name, uid, resourceVersion } = action;
  const progress = { phase, outcome, steps: stepsBefore(action), waitingFor: null };
  const why = outcome;
  return {
    ...nothing,
    commands: [{ kind: "update-action", action: { name, uid }, resourceVersion, progress, why }],
    notices: phase === "Abandoned" ? [] : [notice(node, endReasons[phase], outcome)],
  };
}

/** Those that are written down, all or those before one, as over: but a reboot only if it was taken. */
function stepsBefore({ status }: ActionView, step?: StepName) {
  return (status.steps ?? [])
    .filter(({ name }) => name !== step)
    .map(({ name, finishedAt }) => ({ name, isFinished: name !== "reboot" || finishedAt !== undefined }));
}

const endReasons = { Done: "NodeRebootHealed", Failed: "NodeRebootFailed" } as const;

function notice({ name, uid }: NodeView, reason: string, message: string): Notice {
  const type = reason === endReasons.Failed ? "Warning" : "Normal";
  return { about: { kind: "Node", name, uid }, type, reason, message };
}

function refusalOf({ name }: ActionView, { code, message, until, retryAt, liftedBy }: Wait): Refusal {
  const end = until ?? retryAt;
  return { subject: `action/${name}`, code, message, ...(end === undefined ? {} : { until: end }), liftedBy };
}
