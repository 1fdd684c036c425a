// Reboot: has the node rebooted by its provider, as often as the remediation says. The arbiter opens each action and the
// rule of reboots carries it (decide/reboot.ts); where nobody can reboot, that is said and nothing is touched.

import { formatDuration, parseDuration } from "../../api/time.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { NodeView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { isOpen } from "../ledger.ts";
import type { Course } from "./course.ts";
import { neverSeen, type Patient, wishOf } from "./patient.ts";

export function rebootCourse(patient: Patient, context: Context): Course {
  const { remediation, node, open } = patient;
  const where = `Node ${remediation.nodeName}`;
  const status = statusOf(patient);
  if (node === undefined) {
    return neverSeen(patient) ?? { result: "False", reason: "NodeGone", message: `${where} is gone.`, status };
  }
  const ended = endOf(patient, context);
  if (ended !== undefined) return { ...ended, status };
  if (remediation.timedOut !== undefined && (open === undefined || open.status.startedAt === undefined)) {
    const message = `${where} was not rebooted in time.`;
    return { result: "False", reason: "TimedOut", message, withdrawn: open, status };
  }
  const unfit = open === undefined ? unfitFor(patient, context) : undefined;
  if (unfit !== undefined) return { result: "False", ...unfit, status };
  const { timeout } = remediation.own.spec;
  const parsed = parseDuration(typeof timeout === "string" ? timeout : "");
  const how = parsed.ok ? { timeout: formatDuration(parsed.value) } : {};
  const wish = wishOf({ ...patient, node }, how, context);
  const message = `${where} is to be rebooted.`;
  return { result: "Unknown", reason: "Rebooting", message, status, ...wish };
}

type Verdict = Pick<Course, "result" | "reason" | "message">;

/** By the last of its actions, once there are no more to come. */
function endOf({ remediation, actions }: Patient, _context: Context): Verdict | undefined {
  const last = actions.at(-1);
  if (last === undefined || isOpen(last)) return undefined;
  const { phase, outcome = "it says not why" } = last.status;
  if (phase === "Done") return { result: "True", reason: "Rebooted", message: outcome };
  const { attempts } = remediation.own.spec;
  const allowed = typeof attempts === "number" ? attempts : 1;
  const failed = actions.filter(({ status }) => status.phase === "Failed").length;
  return failed < allowed ? undefined : { result: "False", reason: "RebootFailed", message: outcome };
}

/** Where a reboot could not even be asked for. */
function unfitFor({ node, claim }: Patient, { picture }: Context): Omit<Verdict, "result"> | undefined {
  const who = `Node ${node?.name}`;
  if (picture.provider.canReboot === false) {
    return { reason: "NotSupported", message: `Provider ${picture.provider.name} cannot reboot.` };
  }
  if ((claim?.providerID ?? node?.providerID) === undefined) {
    return { reason: "NoProviderID", message: `${who} has no providerID by which it could be rebooted.` };
  }
  const other = claim === undefined && node !== undefined ? sharing(node, picture) : undefined;
  if (other !== undefined) {
    const message = `${who} has the providerID of ${other}: another machine might be rebooted in its place.`;
    return { reason: "ForeignProviderID", message };
  }
  if (node?.bootID === undefined) {
    return { reason: "NoBootID", message: `${who} says no boot id: nobody could tell whether it was rebooted.` };
  }
  if (claim?.deletingSince === undefined) return undefined;
  return { reason: "NodeGoing", message: `NodeClaim ${claim.name} of the node is being deleted.` };
}

/** A node writes its providerID itself; one without a claim of its own has nobody who bears it out. */
function sharing(node: NodeView, picture: Picture): string | undefined {
  const claim = picture.claimOf(node);
  if (claim !== undefined) return `NodeClaim ${claim.name}`;
  const other = picture.nodesWith(node.providerID ?? "").find(({ uid }) => uid !== node.uid);
  return other && `node ${other.name}`;
}

function statusOf({ actions }: Patient): NonNullable<Course["status"]> {
  const asked = actions.flatMap(({ status }) => status.steps?.find(({ name }) => name === "reboot")?.finishedAt ?? []);
  const bootID = actions.find(({ status }) => status.bootID !== undefined)?.status.bootID;
  const lastRebootTime = asked.at(-1);
  return {
    ...(bootID === undefined ? {} : { bootID }),
    ...(asked.length === 0 ? {} : { attempts: asked.length }),
    ...(lastRebootTime === undefined ? {} : { lastRebootTime }),
  };
}
