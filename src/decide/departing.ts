// Somebody has deleted a claim, or the node of one: the ledger must know before anything is done about it. Proposes the
// Deletion and says what is waited for; touches nothing itself.

import { formatTime, type Instant } from "../api/time.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { Subject } from "../snapshot/picture.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { type Context, type Decision, nothing, type Proposal, type Refusal, type Rule } from "./decision.ts";
import { servedClass } from "./node-class.ts";

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
  if (claim.deletingSince !== undefined || claim.isProvisional) return nothing;
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
  return { ...nothing, refusals: [refusal] };
}

export type Entries =
  | { readonly actions: readonly ActionView[] }
  /** What is missing before anything may be done. */
  | { readonly missing: Decision };

/** The running action of each node of a claim that is being deleted. */
export function entriesOf(
  claim: ClaimView,
  nodes: readonly NodeView[],
  context: Context & { terminationAt: Instant | undefined },
): Entries {
  const { picture, terminationAt } = context;
  const subject: Subject = `claim/${claim.name}`;
  const proposals: Proposal[] = [];
  const refusals: Refusal[] = [];
  const actions: ActionView[] = [];
  for (const node of nodes) {
    const action = picture.openActionOn(node.uid);
    if (action?.status.phase === "Running" && !action.isProvisional) actions.push(action);
    else if (action !== undefined) refusals.push(notStarted(subject, node, action));
    else {
      refusals.push(notOpen(subject, claim, node));
      proposals.push(deletion({ node, claim, since: sinceOf(claim), what: `Claim ${claim.name}`, terminationAt }));
    }
  }
  return refusals.length === 0 ? { actions } : { missing: { ...nothing, proposals, refusals } };
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
