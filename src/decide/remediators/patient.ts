// A remediation of one of our own kinds as its remediator sees it: the node it is for, who asks, and the actions that
// were opened for it.

import { formatTime } from "../../api/time.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, ClaimView, NodeView } from "../../snapshot/views.ts";
import type { Context, Proposal } from "../decision.ts";
import { excluded, stepHold } from "../health-check/ask.ts";
import { heldFromRepair } from "../health-check/left-to-repair.ts";
import { evidenceOf, type Health, healthOf, isUnhealthy } from "../health-check/node-health.ts";
import { isDryRun, isOpen, olderFirst } from "../ledger.ts";
import { ownClaimOf } from "../own-node.ts";
import type { Objection } from "../safety.ts";
import type { Course } from "./course.ts";

export type Patient = {
  readonly remediation: RemediationView & { readonly own: NonNullable<RemediationView["own"]> };
  /** Undefined: gone, or another one has its name. */
  readonly node: NodeView | undefined;
  readonly nodeUID: string | undefined;
  readonly claim: ClaimView | undefined;
  /** The check that made it; undefined: somebody else. */
  readonly check: CheckView | undefined;
  /** In its eyes. */
  readonly health: Health | undefined;
  readonly method: "Terminate" | "Reboot";
  /** Opened for it, the oldest first. */
  readonly actions: readonly ActionView[];
  readonly open: ActionView | undefined;
};

export function patientOf(remediation: RemediationView, context: Context): Patient | undefined {
  const { own } = remediation;
  if (own === undefined) return undefined;
  const { picture } = context;
  const named = picture.node(remediation.nodeName);
  // A node that came later is not the one that was sick.
  const known = own.status.nodeUID ?? (named && named.createdAt <= remediation.createdAt ? named.uid : undefined);
  const node = named?.uid === known ? named : undefined;
  const check = picture.checks.all().find(({ uid }) => uid === remediation.checkUid);
  const method = remediation.kind === "RebootRemediation" ? "Reboot" : "Terminate";
  const asked = { remediation: { ...remediation, own }, check, method } as const;
  const actions = known === undefined ? [] : actionsFor(known, asked, context);
  return {
    ...asked,
    node,
    nodeUID: known,
    claim: node && ownClaimOf(node, picture),
    health: node && check && healthOf(node, check, context),
    actions,
    open: actions.find(isOpen),
  };
}

type Asked = Pick<Patient, "remediation" | "check" | "method">;

/** Those of one that was removed before are not of this one. */
function actionsFor(nodeUID: string, asked: Asked, { picture }: Context): readonly ActionView[] {
  return picture
    .actionsOn(nodeUID)
    .filter(action => {
      const { spec, createdAt } = action;
      const isMeant = spec.action === "Remediation" && spec.method === asked.method && isAskedBy(spec.askedBy, asked);
      return isMeant && !isDryRun(action) && createdAt >= asked.remediation.createdAt;
    })
    .toSorted(olderFirst);
}

/** Also where the check that made it is gone by now. */
function isAskedBy({ kind, uid }: Proposal["askedBy"], { remediation: { checkUid } }: Asked): boolean {
  return kind === "NodeHealthCheck" ? uid === checkUid : checkUid === undefined;
}

function askerOf({ check }: Pick<Patient, "check">): Proposal["askedBy"] {
  if (check === undefined) return { kind: "Controller", name: "remediators" };
  return { kind: "NodeHealthCheck", name: check.name, uid: check.uid };
}

/** There was no such node when the remediation was made: nothing that is gone went by it. */
export function neverSeen({ nodeUID, remediation: { nodeName, createdAt } }: Patient): Course | undefined {
  if (nodeUID !== undefined) return undefined;
  const message = `No node ${nodeName} was there at ${formatTime(createdAt)}, when this was made: nothing is done.`;
  return { result: "False", reason: "NodeNotFound", message };
}

type How = Pick<Proposal, "termination" | "timeout" | "machine">;
type Present = Patient & { readonly node: NodeView };

/**
 * What is asked for, unless an action is open for it. What the check would not ask for now is not begun either: it may
 * have waited long since the object was made.
 */
export function wishOf(patient: Present, how: How, context: Context): Pick<Course, "proposal" | "held" | "withdrawn"> {
  const { health, open } = patient;
  // The check that made it does not hold the node for unhealthy any more, and will take it back.
  if (health !== undefined && !isUnhealthy(health, context.now)) return {};
  if (open?.status.startedAt !== undefined) return {};
  const held = heldBack(patient, context);
  if (held !== undefined) return { held, withdrawn: open };
  return open === undefined ? { proposal: proposalOf(patient, how, context) } : {};
}

function heldBack({ remediation, node, check }: Present, context: Context): Objection | undefined {
  const { apiVersion, kind, name, checkUid } = remediation;
  if (check !== undefined)
    return stepHold({ node, check }, { template: { apiVersion, kind: `${kind}Template` } }, context);
  // Nobody has judged the node for it. Who keeps a node from all that is automatic need not know of who makes objects.
  if (checkUid === undefined) return excluded({ node }) ?? heldFromRepair(node, context);
  // The server collects it, sooner or later; until then nobody judges the node.
  const message = `The NodeHealthCheck that made ${kind} ${name} is gone: nothing is begun for it.`;
  return { code: "check-gone", message, liftedBy: `the end of ${kind} ${name}` };
}

function proposalOf(patient: Present, how: How, context: Context): Proposal {
  const { remediation, node, claim, check, health, method } = patient;
  const who = `${remediation.kind} ${remediation.name}`;
  const message = `${who} asks for it${check === undefined ? "" : `, made by NodeHealthCheck ${check.name}`}.`;
  return {
    node: { name: node.name, uid: node.uid },
    ...(claim === undefined || claim.isProvisional ? {} : { claim: { name: claim.name, uid: claim.uid } }),
    action: "Remediation",
    method,
    ...how,
    askedBy: askerOf(patient),
    message,
    policy: { kind: remediation.kind, name: remediation.name },
    evidence:
      health === undefined
        ? [{ kind: "RemediationObject", message, since: formatTime(remediation.createdAt) }]
        : evidenceOf(health, { node, now: context.now }),
    dueAt: health?.dueAt ?? remediation.createdAt,
    ...(check?.effective.dryRun ? { dryRun: true } : {}),
  };
}
