// Replace: takes the node away with its NodeClaim, so that whoever provisioned it makes another. It ends nothing itself:
// the arbiter opens the action, and termination carries it. A node without a claim is not touched.

import type { Context } from "../decision.ts";
import { servedClass } from "../node-class.ts";
import type { Course } from "./course.ts";
import { type Patient, proposalOf } from "./patient.ts";

export function replaceCourse(patient: Patient, context: Context): Course {
  const { remediation, node, claim, open, actions } = patient;
  const where = `Node ${remediation.nodeName}`;
  if (node === undefined) return { result: "True", reason: "NodeGone", message: `${where} is gone.` };
  const unfit = unfitFor(patient, context);
  if (unfit !== undefined) return unfit;
  if (claim?.deletingSince !== undefined) {
    const message = `NodeClaim ${claim.name} is being deleted, and ${where.toLowerCase()} goes with it.`;
    return { result: "Unknown", reason: "Terminating", message, takesNodeAway: true };
  }
  if (remediation.timedOut !== undefined) {
    return { result: "False", reason: "TimedOut", message: `${where} was not replaced in time.`, withdrawn: open };
  }
  const failed = open === undefined ? actions.findLast(({ status }) => status.phase === "Failed") : undefined;
  if (failed !== undefined) {
    const message = `NodeAction ${failed.name} failed: ${failed.status.outcome ?? "it says not why"}`;
    return { result: "False", reason: "Failed", message };
  }
  const termination = remediation.own.spec["termination"] === "Graceful" ? "Graceful" : "Forceful";
  const proposal = open === undefined ? proposalOf({ ...patient, node }, { termination }, context) : undefined;
  const message = `${where} is to be replaced with NodeClaim ${claim?.name}.`;
  return { result: "Unknown", reason: "Replacing", message, takesNodeAway: true, ...(proposal && { proposal }) };
}

/** By us it can be neither drained nor replaced. */
function unfitFor({ node, claim }: Patient, { picture, settings }: Context): Course | undefined {
  if (claim === undefined) {
    const message = `Node ${node?.name} has no NodeClaim: nobody would replace it, so it is not touched.`;
    return { result: "False", reason: "NoNodeClaim", message };
  }
  const isServed = servedClass(claim.spec.nodeClassRef, picture.provider) !== undefined;
  if (isServed || settings.foreignClaims === "repair") return undefined;
  const message = `NodeClaim ${claim.name} belongs to another controller, and --foreign-claims=repair is not set.`;
  return { result: "False", reason: "ForeignClaim", message };
}
