// What is left of a plan that was given up before it began: the taint comes off the node that stays, and a replacement
// on which nothing runs goes again. Told by the objects alone, so that nobody need remember it.

import { formatTime } from "../api/time.ts";
import { isSameTaint } from "../api/taint.ts";
import { disruptedTaint, replacementForKey } from "../api/well-known.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import { type Context, type Decision, nothing, type Proposal, type Rule } from "./decision.ts";
import { isEmpty } from "./disruption/reschedulable.ts";
import { finishedAt, isDryRun } from "./ledger.ts";
import { servedClass } from "./node-class.ts";
import { isOwnNode } from "./own-node.ts";
import { isGivenUp } from "./replacement.ts";
import { standstill } from "./safety.ts";

export const untaintRule: Rule = { name: "untaint", controller: "ledger", kind: "node", decide: decideUntaint };
export const leftoverRule: Rule = { name: "leftover", controller: "ledger", kind: "claim", decide: decideLeftover };

/** As upstream, also what somebody else has left: the taint means that its node is being taken away. */
function decideUntaint(name: string, { picture }: Context): Decision {
  const node = picture.node(name);
  const claim = node && picture.claimOf(node);
  if (node === undefined || claim === undefined || !isOwnNode(node, claim)) return nothing;
  if (!node.taints.some(taint => isSameTaint(taint, disruptedTaint))) return nothing;
  if (servedClass(claim.spec.nodeClassRef, picture.provider) === undefined) return nothing;
  const isGoing = node.deletingSince !== undefined || claim.deletingSince !== undefined;
  if (isGoing || picture.openActionOn(node.uid)?.spec.method === "Terminate") return nothing;
  const change = { removeTaints: [disruptedTaint] };
  const why = `Node ${name} stays: nothing takes it away any more.`;
  return { ...nothing, commands: [{ kind: "update-node", node: { name, uid: node.uid }, change, why }] };
}

function decideLeftover(name: string, context: Context): Decision {
  const { picture } = context;
  const claim = picture.claim(name);
  const batch = claim?.annotations[replacementForKey];
  if (claim === undefined || batch === undefined || claim.isProvisional) return nothing;
  if (claim.deletingSince !== undefined || servedClass(claim.spec.nodeClassRef, picture.provider) === undefined) {
    return nothing;
  }
  // A pool with replicas has one too many now, and ends the least useful itself.
  if (claim.pool !== undefined && picture.pool(claim.pool)?.effective.replicas !== undefined) return nothing;
  const actions = picture.actionsOfBatch(batch).filter(action => !isDryRun(action));
  if (!actions.some(({ spec }) => spec.replacements?.some(one => one.name === name))) return nothing;
  // Where a node went otherwise, its pods may need what was launched for them.
  if (!actions.every(action => isGivenUp(action, picture)) || picture.expectedOn(name).length > 0) return nothing;
  return remove(claim, actions, context);
}

function remove(claim: ClaimView, actions: readonly ActionView[], context: Context): Decision {
  const { name, uid, resourceVersion } = claim;
  const nodes = context.picture.nodesOf(claim);
  const why = `Claim ${name} was to replace ${actions.map(({ spec }) => `node ${spec.node.name}`).join(", ")}, which stays.`;
  if (nodes.length === 0 && !isTrue(claim.conditions, "Registered")) {
    const held = standstill(context);
    if (held !== undefined)
      return { ...nothing, refusals: [{ subject: `claim/${name}`, ...held }], wakeAt: held.until };
    return { ...nothing, commands: [{ kind: "delete-claim", claim: { name, uid }, resourceVersion, why }] };
  }
  const [node, ...others] = nodes;
  if (node === undefined || others.length > 0 || !isOwnNode(node, claim)) return nothing;
  const isWanted = context.picture.podsExpectedOn(node).length > 0;
  if (isWanted || !isEmpty(node.name, context.picture)) return nothing;
  return { ...nothing, proposals: [proposalOf({ node, claim, why }, actions)] };
}

/** It goes as any empty node does, within the budgets, whatever its pool says of consolidation. */
function proposalOf(
  { node, claim, why }: { node: NodeView; claim: ClaimView; why: string },
  actions: readonly ActionView[],
): Proposal {
  const dueAt = Math.max(...actions.map(action => finishedAt(action) ?? action.createdAt));
  const message = `${why} Nothing runs on node ${node.name}.`;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action: "Emptiness",
    method: "Terminate",
    termination: "Graceful",
    askedBy: { kind: "Controller", name: "replacement" },
    message,
    evidence: [{ kind: "Empty", message, since: formatTime(dueAt), dueAt: formatTime(dueAt) }],
    dueAt,
  };
}
