// Replace: takes the node away with its NodeClaim or with the Machine of Cluster API that owns it, so that whoever
// provisioned it makes another. It ends nothing itself: the arbiter opens the action, and termination or the Machine's own
// controller carries it. A node that nobody would replace is not touched.

import { machineOf } from "../../api/cluster-api.ts";
import type { Context } from "../decision.ts";
import { servedClass } from "../node-class.ts";
import type { Course } from "./course.ts";
import { neverSeen, type Patient, wishOf } from "./patient.ts";

export function replaceCourse(patient: Patient, context: Context): Course {
  const { remediation, node, claim, open, actions } = patient;
  const where = `Node ${remediation.nodeName}`;
  if (node === undefined)
    return neverSeen(patient) ?? { result: "True", reason: "NodeGone", message: `${where} is gone.` };
  // The claim may be seen to go before its node is: they are watched apart.
  const isLosingClaim = claim === undefined && open?.status.startedAt !== undefined;
  const unfit = isLosingClaim ? undefined : unfitFor(patient, context);
  if (unfit !== undefined) return unfit;
  const owner = ownerOf(patient);
  if (claim?.deletingSince !== undefined || isLosingClaim) {
    const message = `${owner} is being deleted, and node ${remediation.nodeName} goes with it.`;
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
  const machine = claim === undefined ? machineOf(node) : undefined;
  const how = machine === undefined ? ({ termination } as const) : { machine };
  const wish = wishOf({ ...patient, node }, how, context);
  const message = `${where} is to be replaced with ${owner}.`;
  return { result: "Unknown", reason: "Replacing", message, takesNodeAway: true, ...wish };
}

/** For people. */
function ownerOf({ claim, node, open }: Patient): string {
  const { name } = claim ?? open?.spec.claim ?? {};
  const machine = node && machineOf(node);
  return name === undefined && machine !== undefined
    ? `Machine ${machine.namespace}/${machine.name}`
    : `NodeClaim ${name}`;
}

/** By us it can be neither drained nor replaced. */
function unfitFor({ node, claim }: Patient, { picture, settings }: Context): Course | undefined {
  if (claim === undefined) {
    const machine = node && machineOf(node);
    if (machine !== undefined && picture.checks.machines !== undefined) return undefined;
    const what =
      machine === undefined ? "" : ` and its Machine ${machine.namespace}/${machine.name} is in another cluster`;
    const message = `Node ${node?.name} has no NodeClaim${what}: nobody would replace it, so it is not touched.`;
    return { result: "False", reason: "NoNodeClaim", message };
  }
  const isServed = servedClass(claim.spec.nodeClassRef, picture.provider) !== undefined;
  if (isServed || settings.foreignClaims === "repair") return undefined;
  const message = `NodeClaim ${claim.name} belongs to another controller, and --foreign-claims=repair is not set.`;
  return { result: "False", reason: "ForeignClaim", message };
}
