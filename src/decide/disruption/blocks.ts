// What keeps a node that is due where it is, each with the name of who says so: the node, its pool, pods that are to come
// or that may not be moved. Where a claim has a terminationGracePeriod, pods do not hold up drift and expiration.

import type { PlannedAction } from "../../api/budget.ts";
import type { Instant, Millis } from "../../api/time.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ClaimView, DisruptionBudgetView, NodeView, PodView, PoolView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { longestHold, nodeHold, podHold, podHoldSentence } from "../do-not-disrupt.ts";
import { isTerminal } from "../drain.ts";
import { isOpen } from "../ledger.ts";
import type { Objection } from "../safety.ts";
import { initializedSince } from "./clock.ts";

export type Held = {
  readonly node: NodeView;
  readonly claim: ClaimView;
  readonly pool: PoolView;
  /** Of a plan that was given up: it was good for that alone, and need not have come up. */
  readonly isLeftover?: boolean;
};

/** Undefined: nothing does. Of several pods the one that holds longest is named. */
export function blockOf(held: Held, action: PlannedAction, context: Context): Objection | undefined {
  return (
    unclear(held.pool) ??
    uninitialized(held) ??
    annotated(held, context.now) ??
    awaited(held, context.picture) ??
    taking(held, action, context.picture) ??
    expected(held.node, context.picture) ??
    (goesEventually(held.claim, action) ? undefined : heldByPods(held, context))
  );
}

/** The peer's class "eventual": what is left at the end of the grace period goes by force, so that nobody can hold it. */
function goesEventually({ spec }: ClaimView, action: PlannedAction): boolean {
  return spec.terminationGracePeriod !== undefined && (action === "Drift" || action === "Expiration");
}

function unclear({ name, invalid, deletingSince }: PoolView): Objection | undefined {
  if (invalid !== undefined) {
    const message = `NodePool ${name} cannot be understood, so none of its nodes is disrupted: ${invalid.replace(/\.$/, "")}.`;
    return { code: "pool-invalid", message, liftedBy: `mending NodePool ${name}` };
  }
  if (deletingSince === undefined) return undefined;
  const message = `NodePool ${name} is being deleted, and its nodes go with it.`;
  return { code: "pool-deleting", message, liftedBy: "nothing: a pool that is being deleted goes" };
}

function uninitialized({ node, claim, isLeftover }: Held): Objection | undefined {
  if (isLeftover || initializedSince(claim) !== undefined) return undefined;
  const message = `Node ${node.name} is not initialized, so nobody can tell what it would be good for.`;
  return { code: "not-initialized", message, liftedBy: `the initialization of NodeClaim ${claim.name}` };
}

function annotated(held: Held, now: Instant): Objection | undefined {
  const hold = nodeHold(held);
  if (hold === undefined || hold.until <= now) return undefined;
  const { who, sentence: message, until } = hold;
  const end = Number.isFinite(until) ? { until } : {};
  return { code: "do-not-disrupt", message, ...end, liftedBy: `taking the annotation off ${who}` };
}

/** Nothing runs on a replacement until what it stands in for has gone. */
function awaited({ node, claim }: Held, picture: Picture): Objection | undefined {
  const action = picture
    .actionsOfClaim(claim.name)
    .find(one => isOpen(one) && one.spec.replacements?.some(({ name }) => name === claim.name));
  if (action === undefined) return undefined;
  const message = `Node ${node.name} is to take the pods of node ${action.spec.node.name} (NodeAction ${action.name}).`;
  return { code: "awaited-as-replacement", message, liftedBy: `the end of NodeAction ${action.name}` };
}

/** Pods are on their way to it: for want of use or for money it does not go before they are there. */
function taking({ node }: Held, action: PlannedAction, picture: Picture): Objection | undefined {
  if (action !== "Emptiness" && action !== "Consolidation") return undefined;
  const taker = picture.goingOnto(node.name);
  if (taker === undefined || taker.spec.node.uid === node.uid) return undefined;
  const message = `Node ${node.name} is to take pods of node ${taker.spec.node.name} (NodeAction ${taker.name}).`;
  return { code: "awaited-as-target", message, liftedBy: `the end of NodeAction ${taker.name}` };
}

function expected(node: NodeView, picture: Picture): Objection | undefined {
  const [first, ...others] = picture.podsExpectedOn(node);
  if (first === undefined) return undefined;
  const more = others.length === 0 ? "is" : `and ${others.length} more are`;
  const message = `Pod ${keyOf(first)} ${more} expected on node ${node.name}.`;
  return { code: "pods-expected", message, liftedBy: "their binding, or another place for them" };
}

function heldByPods({ node, pool }: Held, context: Context): Objection | undefined {
  const maxHoldMs = longestHold(pool);
  let longest: Objection | undefined;
  let count = 0;
  for (const pod of context.picture.podsOn(node.name)) {
    if (isTerminal(pod) || pod.deletionAt !== undefined) continue;
    const hold = heldByAnnotation(pod, maxHoldMs, context.now) ?? heldByBudget(pod, context.picture);
    if (hold === undefined) continue;
    // Those that end before it are not told of: how many are left would be another number by the hour.
    if (longest === undefined || lasts(hold) > lasts(longest)) [longest, count] = [hold, 1];
    else if (lasts(hold) === lasts(longest)) count++;
  }
  if (longest === undefined || count === 1) return longest;
  return { ...longest, message: `${longest.message} It is one of ${count} pods that hold node ${node.name} so long.` };
}

function lasts({ until = Number.POSITIVE_INFINITY }: Objection): Instant {
  return until;
}

/** Daemons and static pods as well. */
function heldByAnnotation(pod: PodView, maxHoldMs: Millis, now: Instant): Objection | undefined {
  const hold = podHold(pod, maxHoldMs);
  if (hold.until <= now) return undefined;
  return {
    code: "do-not-disrupt",
    message: podHoldSentence(pod, hold),
    ...(Number.isFinite(hold.until) ? { until: hold.until } : {}),
    liftedBy: "taking the annotation away, or deleting the pod",
  };
}

/** Of pods that a drain would evict. The server asks no budget about one that has not begun to run. */
function heldByBudget(pod: PodView, picture: Picture): Objection | undefined {
  if (pod.isStatic || pod.toleratesDisruption || pod.phase === "Pending") return undefined;
  const [budget, ...others] = picture.budgetsOver(pod);
  if (budget === undefined) return undefined;
  const holds = `Pod ${keyOf(pod)} holds its node:`;
  if (others.length > 0) {
    const names = [budget, ...others].map(keyOf).join(", ");
    const message = `${holds} it is under more than one PodDisruptionBudget (${names}) and cannot be evicted.`;
    return { code: "several-budgets", message, liftedBy: "leaving it under one of them" };
  }
  if (!pod.isReady && budget.evictsUnhealthyAlways) return undefined;
  if (budget.isObserved && budget.disruptionsAllowed > 0) return undefined;
  return closed(budget, holds);
}

function closed(budget: DisruptionBudgetView, holds: string): Objection {
  const called = `PodDisruptionBudget ${keyOf(budget)}`;
  if (!budget.isObserved) {
    const message = `${holds} ${called} has been changed and not been worked out since.`;
    return { code: "budget-not-observed", message, liftedBy: "its status; look at kube-controller-manager" };
  }
  const liftedBy = "another of its pods becoming ready, or a looser PodDisruptionBudget";
  return { code: "budget-allows-none", message: `${holds} ${called} allows 0 now.`, liftedBy };
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
