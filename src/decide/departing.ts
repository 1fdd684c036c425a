// Somebody has deleted a claim, or the node of one: the ledger must know before anything is done about it. Proposes the
// Deletion and says what is waited for; touches nothing itself.

import { formatTime, type Instant } from "../api/time.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { Subject } from "../snapshot/picture.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import {
  type Command,
  type Context,
  type Decision,
  nothing,
  type Proposal,
  type Refusal,
  type Rule,
} from "./decision.ts";
import { servedClass } from "./node-class.ts";
import { isOwnNode } from "./own-node.ts";

/** A node that was deleted by hand while its claim was not: the claim goes too, and then the node as any other. */
export const nodeDeletion: Rule = {
  name: "node-deletion",
  controller: "termination",
  kind: "node",
  decide: decideNodeDeletion,
};

function decideNodeDeletion(name: string, { picture }: Context): Decision {
  const node = picture.node(name);
  if (node?.deletingSince === undefined) return nothing;
  const claim = picture.claimOf(node);
  if (claim === undefined) return node.finalizers.includes(terminationFinalizer) ? ownerless(node) : nothing;
  if (claim.deletingSince !== undefined || claim.isProvisional || !isOwnNode(node, claim)) return nothing;
  if (servedClass(claim.spec.nodeClassRef, picture.provider) === undefined) return nothing;
  if (picture.openActionOn(node.uid) !== undefined) return nothing;
  const since = node.deletingSince;
  return { ...nothing, proposals: [deletion({ node, claim, since, what: `Node ${node.name}` })] };
}

function ownerless(node: NodeView): Decision {
  const refusal: Refusal = {
    subject: `node/${node.name}`,
    code: "no-single-claim",
    message: `Node ${node.name} is being deleted, but no claim has its providerID, or more than one has: it is left alone.`,
    liftedBy: `Leaving it one claim, or taking the finalizer ${terminationFinalizer} off the node.`,
  };
  const about = { kind: "Node", name: node.name, uid: node.uid } as const;
  const { message } = refusal;
  return { ...nothing, refusals: [refusal], notices: [{ about, type: "Warning", reason: "NoSingleClaim", message }] };
}

export type Entries =
  | { readonly actions: readonly ActionView[] }
  /** What is missing before anything may be done. */
  | { readonly missing: Decision };

/** The running action of each node of a claim that is being deleted, or what is missing: then nothing else is done. */
export function entriesOf(
  claim: ClaimView,
  nodes: readonly NodeView[],
  context: Context & { terminationAt: Instant | undefined },
): Entries {
  const entries = nodes.map(node => ({ node, action: context.picture.openActionOn(node.uid) }));
  const refusals = entries.flatMap(entry => notReady(entry, claim, context) ?? []);
  if (refusals.length === 0) return { actions: entries.flatMap(({ action }) => action ?? []) };
  const { terminationAt } = context;
  const asked = { claim, since: sinceOf(claim), what: `Claim ${claim.name}`, terminationAt };
  const proposals = entries.flatMap(({ node, action }) => (action ? [] : deletion({ ...asked, node })));
  const commands = entries.flatMap(({ action }) => (action && isOurs(action, context) ? running(action) : []));
  return { missing: { ...nothing, commands, proposals, refusals } };
}

type Entry = { readonly node: NodeView; readonly action: ActionView | undefined };

function notReady({ node, action }: Entry, claim: ClaimView, context: Context): Refusal | undefined {
  const subject: Subject = `claim/${claim.name}`;
  if (action === undefined) return notOpen(subject, claim, node);
  if (action.isProvisional || action.spec.epoch === context.epoch) {
    return action.status.phase === "Running" ? undefined : notStarted(subject, node, action);
  }
  return {
    subject,
    code: "action-not-adopted",
    message: `NodeAction ${action.name} on node ${node.name} belongs to the leader of epoch ${action.spec.epoch}.`,
    liftedBy: "Its adoption by the present leader.",
  };
}

function isOurs({ isProvisional, spec }: ActionView, { epoch }: Context): boolean {
  return isProvisional !== true && spec.epoch === epoch;
}

/** The claim is being deleted, whoever began it: so the action has. */
function running({ name, uid, resourceVersion, status }: ActionView): Command[] {
  if (status.phase === "Running") return [];
  const why = "Its claim is being deleted.";
  return [{ kind: "update-action", action: { name, uid }, resourceVersion, progress: { phase: "Running" }, why }];
}

type Deleted = {
  readonly node: NodeView;
  readonly claim: ClaimView;
  readonly since: Instant;
  /** Which of the two was deleted. */
  readonly what: string;
  readonly terminationAt?: Instant | undefined;
};

function deletion({ node, claim, since, what, terminationAt }: Deleted): Proposal {
  const message = `${what} was deleted at ${formatTime(since)}.`;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action: "Deletion",
    method: "Terminate",
    askedBy: { kind: "Person", name: "unknown" },
    message,
    evidence: [{ kind: "DeletionTimestamp", message, since: formatTime(since) }],
    dueAt: since,
    ...(terminationAt === undefined ? {} : { deadline: terminationAt }),
  };
}

function notOpen(subject: Subject, claim: ClaimView, node: NodeView): Refusal {
  return {
    subject,
    code: "action-not-open",
    message: `Claim ${claim.name} was deleted at ${formatTime(sinceOf(claim))}; nothing is done to node ${node.name} before its NodeAction is written.`,
    liftedBy: "The NodeAction; look at what its proposal was refused for.",
  };
}

function notStarted(subject: Subject, node: NodeView, action: ActionView): Refusal {
  return {
    subject,
    code: "action-not-started",
    message: `NodeAction ${action.name} on node ${node.name} has not been started yet.`,
    liftedBy: "Its start; look at the NodeAction.",
  };
}

function sinceOf({ deletingSince = 0 }: ClaimView): Instant {
  return deletingSince;
}
