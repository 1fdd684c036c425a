// Proposes to take a node away by our own choice: the highest reason that is due and that its pool is not closed to,
// unless something blocks it. A node with pods goes only with a move that says where they run afterwards.

import { formatTime, type Instant } from "../../api/time.ts";
import type { Move, Stay } from "../../snapshot/moves.ts";
import type { ClaimView, NodeView } from "../../snapshot/views.ts";
import {
  type Context,
  type Decision,
  nothing,
  type Notice,
  type Proposal,
  type Refusal,
  type Rule,
} from "../decision.ts";
import type { Objection } from "../safety.ts";
import { nextOf } from "../termination-step.ts";
import {
  type Candidate,
  candidateOf,
  type Due,
  dueOf,
  expiryOf,
  isGoing,
  needsMove,
  ownClaim,
  type Reason,
} from "./candidate.ts";
import { initializedSince } from "./clock.ts";
import { moveFor } from "./search-answers.ts";
import { asking } from "./search-rules.ts";

export const disruption: Rule = {
  name: "disruption",
  controller: "disruption",
  kind: "node",
  decide(name, context) {
    const node = context.picture.node(name);
    if (node === undefined) return nothing;
    const candidate = candidateOf(node, context);
    return candidate === undefined ? withoutPool(node, context) : decideCandidate(candidate, context);
  },
};

function decideCandidate(candidate: Candidate, context: Context): Decision {
  const { node, changesAt } = candidate;
  const due = dueOf(candidate, context);
  if (due === undefined) return undue(candidate, context);
  const decision = decideDue(due, context);
  const closed = due.closed.map(({ reason, objection }) =>
    refusal(node, { ...objection, message: `${objection.message} ${reason.message}` }),
  );
  return {
    ...decision,
    refusals: [...closed, ...decision.refusals],
    wakeAt: nextOf(context.now, [changesAt, due.changesAt, decision.wakeAt]),
  };
}

function decideDue({ candidate, reason, block, others }: Due, context: Context): Decision {
  if (block !== undefined) return blocked(candidate, reason, block);
  if (needsMove(candidate)) return withMove(candidate, reason, context);
  return { ...nothing, proposals: [reason, ...others].map(one => proposalOf(candidate, one)) };
}

function undue(candidate: Candidate, context: Context): Decision {
  const never = neverConsolidated(candidate);
  return {
    ...nothing,
    refusals: waiting(candidate, context),
    notices: never === undefined ? [] : noticesOf(candidate, "Unconsolidatable", never),
    wakeAt: candidate.changesAt,
  };
}

/** By the word of its pool, as the peer tells it: nobody has asked for it, so it is no refusal. */
function neverConsolidated({ claim, pool, isEmpty }: Candidate): string | undefined {
  const { replicas, disruption: policy } = pool.effective;
  if (replicas !== undefined || initializedSince(claim) === undefined) return undefined;
  const action = isEmpty ? "Emptiness" : "Consolidation";
  if (policy.disruptAfter[action] === "Never") {
    return `NodePool ${pool.name} never lets a node go by ${action} (its disruptAfter or consolidateAfter is Never).`;
  }
  if (isEmpty || policy.consolidationPolicy !== "WhenEmpty") return undefined;
  return `NodePool ${pool.name} lets only empty nodes go to save money (consolidationPolicy WhenEmpty).`;
}

/** That it is in use, or will be in a moment, is no news. */
function waiting({ node, pool, reasons }: Candidate, { picture, now }: Context): readonly Refusal[] {
  const isAwaited = ({ action, dueAt }: Reason) => action !== "Consolidation" && dueAt > now && Number.isFinite(dueAt);
  const reason = reasons.find(isAwaited);
  if (reason === undefined || (reason.action === "Emptiness" && picture.podsExpectedOn(node).length > 0)) return [];
  const { action, message, dueAt } = reason;
  const after = pool.effective.disruption.disruptAfter[action];
  return [
    refusal(node, {
      code: "not-long-enough",
      message: `${message} ${action} waits until ${formatTime(dueAt)} (disruptAfter ${after}).`,
      until: dueAt,
      liftedBy: `a shorter wait of ${action} in NodePool ${pool.name}`,
    }),
  ];
}

function blocked(candidate: Candidate, reason: Reason, block: Objection): Decision {
  const message = `${block.message} ${reason.message}`;
  return {
    ...nothing,
    refusals: [refusal(candidate.node, { ...block, message })],
    // Of nodes that are in use as they should be only the refusal tells.
    notices: reason.action === "Consolidation" ? [] : noticesOf(candidate, "DisruptionBlocked", block.message),
    wakeAt: block.until,
  };
}

/** As the peer: on the node and on its claim. */
function noticesOf({ node, claim }: Candidate, reason: string, message: string): readonly Notice[] {
  const about: readonly Notice["about"][] = [
    { kind: "Node", name: node.name, uid: node.uid },
    { kind: "NodeClaim", name: claim.name, uid: claim.uid },
  ];
  return about.map(object => ({ about: object, type: "Normal", reason, message }));
}

function withMove(candidate: Candidate, reason: Reason, { picture, now }: Context): Decision {
  const { node } = candidate;
  const move = moveFor(reason, picture.moveOf(node.uid));
  if (move === undefined) {
    const stay = picture.stayOf(node.uid);
    const refusals = unanswered(candidate, reason, stay);
    const stays = refusals.filter(({ code }) => code === "unconsolidatable");
    const notices = stays.flatMap(({ message }) => noticesOf(candidate, "Unconsolidatable", message));
    return { ...nothing, ...asking(reason, stay, now), refusals, notices };
  }
  const [stuck, ...others] = move.stuck;
  if (stuck === undefined) return { ...nothing, proposals: [proposalOf(candidate, reason, move)] };
  const more = others.length === 0 ? "" : `, nor for ${others.length} more`;
  const message = `There is no place for pod ${stuck.pod} of node ${node.name}${more}: ${stuck.short}. ${reason.message}`;
  const liftedBy = "room on another node, or a pool that may launch one";
  return { ...nothing, refusals: [refusal(node, { code: "pods-without-place", message, liftedBy })] };
}

function unanswered({ node }: Candidate, { action, message }: Reason, stay: Stay | undefined): readonly Refusal[] {
  if (action === "Consolidation") return stay === undefined ? [] : [staying(node, stay)];
  const liftedBy = "the search, which is asked";
  const said = `Where the pods of node ${node.name} would go has not been found out yet. ${message}`;
  return [refusal(node, { code: "move-not-found-yet", message: said, liftedBy })];
}

function staying(node: NodeView, { short, until }: Stay): Refusal {
  const message = `Node ${node.name} stays: ${short}.`;
  if (until !== undefined) return refusal(node, { code: "put-off", message, until, liftedBy: "pods standing still" });
  const liftedBy = "a change in what runs, or in what is offered at which price";
  return refusal(node, { code: "unconsolidatable", message, liftedBy });
}

function proposalOf({ node, claim, pool, isEmpty }: Candidate, reason: Reason, move?: Move): Proposal {
  const { action, policy, evidence, dueAt } = reason;
  const message = move === undefined ? reason.message : `${reason.message} ${outlook(move)}`;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action,
    method: "Terminate",
    termination: "Graceful",
    askedBy: { kind: "NodePool", name: pool.name, uid: pool.uid },
    message,
    policy,
    evidence: [move === undefined ? evidence : { ...evidence, message }],
    dueAt,
    // The empty ones first: nobody has to move.
    ...(isEmpty ? { priority: 1 } : {}),
    ...(move ? { batch: move.batch } : {}),
    ...(move && move.claims.length > 0 ? { replacements: move.claims.map(({ name }) => ({ name })) } : {}),
    ...(pool.effective.dryRun ? { dryRun: true } : {}),
  };
}

function outlook({ nodes, claims, podCount, price, action }: Move): string {
  const goes = nodes.length === 1 ? "it goes" : `${nodes.length} nodes go`;
  const pods = podCount === 1 ? "1 pod moves" : `${podCount} pods move`;
  const names = claims.map(({ name }) => name).join(", ");
  const comes =
    claims.length === 0 ? "nothing new is needed" : `${names} ${claims.length === 1 ? "comes" : "come"} first`;
  const isSaving = action === "Consolidation";
  const saves = isSaving ? `, ${priceText(price.after)} instead of ${priceText(price.before)} an hour` : "";
  return `When ${goes}, ${pods} and ${comes}${saves}.`;
}

function priceText(price: number): string {
  return price.toFixed(4);
}

/** Of nodes that could expire and have nobody to hold them to a budget. */
function withoutPool(node: NodeView, context: Context): Decision {
  const claim = ownClaim(node, context);
  if (claim === undefined || isGoing(node, claim, context)) return nothing;
  const since = expiryOf(claim);
  if (!Number.isFinite(since)) return nothing;
  if (since > context.now) return { ...nothing, wakeAt: since };
  return { ...nothing, refusals: [refusal(node, poolless(claim, since))] };
}

function poolless({ name, pool }: ClaimView, since: Instant): Objection {
  const age = `NodeClaim ${name} came of age at ${formatTime(since)}`;
  if (pool === undefined) {
    const message = `${age}, but is of no pool, whose budgets would say when it may go: it is left alone.`;
    return { code: "no-pool", message, liftedBy: "a person deleting it" };
  }
  const message = `${age}, but NodePool ${pool} is not there to say when it may go.`;
  return { code: "pool-missing", message, liftedBy: `a NodePool ${pool}` };
}

function refusal({ name }: NodeView, objection: Objection): Refusal {
  return { subject: `node/${name}`, ...objection };
}
