// A node that is healthy again, or no longer the check's: its remediations are removed, after healthyDelay, or when
// somebody has confirmed it. A node that fails again in between begins the delay anew. What took away another node of the
// same name goes at once.

import { confirmedHealthyKey, healthySinceKey } from "../../api/node-health-check-contract.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import { type Context, nothing, type RemediationCommand, type Decision } from "../decision.ts";
import { unstamped } from "../ledger.ts";
import { refused } from "./ask.ts";
import { wellSince } from "./node-health.ts";
import { targetOf } from "./objects.ts";
import { checkNotice, type Patient } from "./words.ts";

/** The remediations of a patient with no unhealthy condition, or of a node that was let go. */
export function recover(patient: Patient, context: Context): Decision {
  const { node, check, remediations } = patient;
  const standing = remediations.filter(({ deletingSince }) => deletingSince === undefined);
  if (standing.length === 0) return remediations.length === 0 ? nothing : finishing(patient);
  const why = patient.isSelected
    ? `Node ${node.name} is healthy again.`
    : `Node ${node.name} is no longer selected by NodeHealthCheck ${check.name}.`;
  if (!patient.isSelected || check.healthyDelayMs === 0 || isConfirmed(patient)) return remove(patient, why, context);
  return delay(patient, standing, { why, context });
}

/**
 * Those that have taken away the node they were made for, while another got its name before that was seen: over, as where
 * no other has come. Undefined: there are none.
 */
export function outlived({ node, remediations }: Patient, context: Context): Decision | undefined {
  const over = remediations.filter(
    ({ takesNodeAway, succeeded, createdAt, deletingSince }) =>
      takesNodeAway && succeeded?.status === "True" && createdAt < node.createdAt && deletingSince === undefined,
  );
  if (over.length === 0) return undefined;
  const why = `The node ${node.name} that it was made for is gone, and another has its name.`;
  return { ...nothing, commands: deletions(over, why, context) };
}

function isConfirmed({ node }: Patient): boolean {
  return node.annotations[confirmedHealthyKey] !== undefined;
}

type Delaying = { readonly why: string; readonly context: Context };

function delay(patient: Patient, standing: readonly RemediationView[], { why, context }: Delaying): Decision {
  const { node, check } = patient;
  if (check.healthyDelayMs < 0) {
    const message = `Node ${node.name} is healthy again; its remediation stays until somebody confirms that (spec.healthyDelay of NodeHealthCheck ${check.name}).`;
    return refused(patient, {
      code: "awaits-confirmation",
      message,
      liftedBy: `${confirmedHealthyKey} on node ${node.name}`,
    });
  }
  const unseen = standing.filter(({ healthySince }) => healthySince === undefined);
  if (unseen.length > 0) return { ...nothing, commands: annotated(unseen, { value: unstamped, why }, context) };
  const until = delayEnds(patient, context) ?? context.now;
  if (until <= context.now) return remove(patient, why, context);
  const message = `Node ${node.name} is healthy again; its remediation stays until ${formatTime(until)} (spec.healthyDelay of NodeHealthCheck ${check.name}).`;
  const liftedBy = `${confirmedHealthyKey} on node ${node.name}`;
  return { ...refused(patient, { code: "healthy-delay", message, until, liftedBy }), wakeAt: until };
}

/** From when all stamps say it was healthy; from later, if its conditions say that it failed in between. */
function delayEnds({ node, check, remediations }: Patient, context: Context): Instant | undefined {
  const stamps = remediations.flatMap(({ healthySince }) => healthySince ?? []);
  if (stamps.length === 0) return undefined;
  return Math.max(...stamps, wellSince(node, check, context)) + check.healthyDelayMs;
}

/** It has failed again: what was counted of the delay is void. */
export function forgetDelay({ node, remediations }: Patient, context: Context): Decision {
  const stamped = remediations.filter(one => one.healthySince !== undefined && one.deletingSince === undefined);
  if (stamped.length === 0) return nothing;
  return {
    ...nothing,
    commands: annotated(stamped, { value: null, why: `Node ${node.name} has failed again.` }, context),
  };
}

function annotated(
  remediations: readonly RemediationView[],
  { value, why }: { readonly value: string | null; readonly why: string },
  context: Context,
): readonly RemediationCommand[] {
  return remediations.flatMap(one => {
    const remediation = targetOf(one, context);
    if (remediation === undefined) return [];
    return { kind: "annotate-remediation" as const, why, remediation, annotations: { [healthySinceKey]: value } };
  });
}

function remove({ check, remediations }: Patient, why: string, context: Context): Decision {
  const standing = remediations.filter(({ deletingSince }) => deletingSince === undefined);
  return {
    ...nothing,
    commands: deletions(standing, why, context),
    notices: [checkNotice(check, { type: "Normal", reason: "RemediationRemoved", message: why })],
  };
}

export function deletions(
  remediations: readonly RemediationView[],
  why: string,
  context: Pick<Context, "picture">,
): readonly RemediationCommand[] {
  return remediations.flatMap(one => {
    const remediation = targetOf(one, context);
    return remediation === undefined ? [] : { kind: "delete-remediation" as const, why, remediation };
  });
}

/** Until the last finalizer is gone the node counts as not healthy. */
function finishing(patient: Patient): Decision {
  const { node, remediations } = patient;
  const holders = [...new Set(remediations.flatMap(({ finalizers }) => finalizers))].join(", ");
  const message = `The remediation of node ${node.name} is being undone${holders === "" ? "" : `, held by ${holders}`}.`;
  return refused(patient, {
    code: "remediation-finishing",
    message,
    liftedBy: "whoever has to take the finalizers away",
  });
}
