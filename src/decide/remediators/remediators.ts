// The rule of our own remediators, for the remediations on one node: Replace and Reboot under the medik8s contract, for
// whoever makes such an object. The finalizer stays until nothing is left of what was done for it.

import type { RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView } from "../../snapshot/views.ts";
import { reasonOf, sameConditions, withCondition } from "../conditions.ts";
import {
  type Command,
  type ConditionChange,
  type Context,
  type Decision,
  nothing,
  type Refusal,
  together,
} from "../decision.ts";
import { targetOf } from "../health-check/objects.ts";
import { isOutOfServiceByUs } from "../out-of-service.ts";
import type { Objection } from "../safety.ts";
import { nextOf } from "../termination-step.ts";
import type { Course } from "./course.ts";
import { type Patient, patientOf } from "./patient.ts";
import { rebootCourse } from "./reboot.ts";
import { replaceCourse } from "./replace.ts";

export const remediationFinalizer = "fettle.dev/remediation";

export function decideOwnRemediations(nodeName: string, context: Context): Decision {
  return together(context.picture.checks.ownRemediations(nodeName).map(one => decideOne(one, context)));
}

function decideOne(remediation: RemediationView, context: Context): Decision {
  const patient = patientOf(remediation, context);
  if (patient === undefined) return nothing;
  if (remediation.deletingSince !== undefined) return remove(patient, context);
  const { succeeded } = remediation;
  // It has had its last word.
  if (succeeded?.status === "True" || succeeded?.status === "False") return nothing;
  const course = patient.method === "Reboot" ? rebootCourse(patient, context) : replaceCourse(patient, context);
  const told = tell(patient, course, context);
  return {
    ...nothing,
    commands: [...told, ...withdraw(course.withdrawn, `${remediation.kind} ${remediation.name} asks no longer.`)],
    // Nothing begins before the object says that it will be looked after.
    proposals: course.proposal === undefined || !isHeld(remediation) ? [] : [course.proposal],
    refusals: course.held === undefined ? [] : [refusal(patient, course.held)],
    // With what is due then, the evidence is another.
    wakeAt: nextOf(context.now, [
      course.held?.until,
      ...(patient.health?.matches.map(({ spell }) => spell?.dueAt) ?? []),
    ]),
  };
}

function refusal({ remediation, check }: Pick<Patient, "remediation" | "check">, objection: Objection): Refusal {
  const by = check === undefined ? {} : { check: check.name };
  return { subject: `node/${remediation.nodeName}`, ...by, ...objection };
}

function isHeld({ finalizers }: RemediationView): boolean {
  return finalizers.includes(remediationFinalizer);
}

function tell(patient: Patient, course: Course, context: Context): readonly Command[] {
  const { remediation, nodeUID, actions } = patient;
  const target = targetOf(remediation, context);
  const { own } = remediation;
  const conditions = conditionsOf(patient, course);
  const nodeAction = actions.at(-1)?.name;
  const fields = {
    ...(nodeUID === undefined ? {} : { nodeUID }),
    ...(nodeAction === undefined ? {} : { nodeAction }),
    ...course.status,
  };
  const written: Readonly<Record<string, unknown>> = own.status;
  const isTold =
    sameConditions(own.conditions, conditions) &&
    Object.entries(fields).every(([key, value]) => written[key] === value);
  if (target === undefined || (isTold && isHeld(remediation))) return [];
  return [
    {
      kind: "update-remediation",
      why: course.message,
      remediation: target,
      ...(isHeld(remediation) ? {} : { metadata: { addFinalizers: [remediationFinalizer] } }),
      ...(isTold ? {} : { status: { ...fields, conditions } }),
    },
  ];
}

function conditionsOf({ remediation, method }: Patient, course: Course): readonly ConditionChange[] {
  const { result, held } = course;
  // Whoever looks at the object alone must not take it for one that is about to begin.
  const { reason, message } = held === undefined ? course : { reason: reasonOf(held.code), message: held.message };
  const processing = { type: "Processing", status: result === "Unknown" ? "True" : "False", reason, message } as const;
  const permanent = {
    type: "PermanentNodeDeletionExpected",
    status: course.takesNodeAway || (method === "Terminate" && result === "True") ? "True" : "False",
    reason,
    message,
  } as const;
  const wanted: readonly ConditionChange[] = [
    processing,
    { type: "Succeeded", status: result, reason, message },
    ...(method === "Terminate" ? [permanent] : []),
  ];
  return wanted.reduce<readonly ConditionChange[]>(
    (conditions, condition) => withCondition(conditions, condition),
    remediation.own.conditions,
  );
}

/** Somebody takes it back: what has not begun does not, and a reboot that runs is seen to its end. */
function remove({ remediation, check, node, open, method }: Patient, context: Context): Decision {
  const who = `${remediation.kind} ${remediation.name}`;
  const isBegun = open?.status.startedAt !== undefined || open?.status.phase === "Running";
  if (open !== undefined && !isBegun) return { ...nothing, commands: withdraw(open, `${who} was removed.`) };
  if (open !== undefined && method === "Reboot") {
    const message = `${who} is removed, and node ${remediation.nodeName} is still being rebooted (NodeAction ${open.name}).`;
    const liftedBy = `the end of NodeAction ${open.name}`;
    return {
      ...nothing,
      refusals: [refusal({ remediation, check }, { code: "reboot-running", message, liftedBy })],
    };
  }
  const target = targetOf(remediation, context);
  // What we wrote on the node goes first.
  if (target === undefined || !isHeld(remediation) || (node && isOutOfServiceByUs(node))) return nothing;
  const why = `Nothing is left of ${who}.`;
  const metadata = { removeFinalizers: [remediationFinalizer] };
  return { ...nothing, commands: [{ kind: "update-remediation", why, remediation: target, metadata }] };
}

/** Only what has not begun. */
function withdraw(action: ActionView | undefined, outcome: string): readonly Command[] {
  if (action === undefined || action.isProvisional || action.status.startedAt !== undefined) return [];
  const { name, uid, resourceVersion } = action;
  const progress = { phase: "Abandoned", waitingFor: null, outcome } as const;
  return [{ kind: "update-action", why: outcome, action: { name, uid }, resourceVersion, progress }];
}
