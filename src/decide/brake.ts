// The brake of a pool: with too many unhealthy nodes none is repaired and none is disrupted, for then the fault may lie
// elsewhere, or the cure be worse. Holds back starts, never what has begun; says so on node, claim and pool.

import { type Amount, parseAmount, roundedUp } from "../api/amount.ts";
import type { Parsed } from "../api/parsed.ts";
import { type Instant, minuteMs } from "../api/time.ts";
import type { PoolView } from "../snapshot/views.ts";
import type { Health } from "./remembered.ts";
import {
  type ConditionChange,
  type Context,
  type Decision,
  type Notice,
  nothing,
  type Proposal,
  type Target,
  type Veto,
} from "./decision.ts";
import { classOf } from "./precedence.ts";
import { rulesWithoutPool } from "./repair-policy.ts";
import type { Objection } from "./safety.ts";

/** What is held is looked at again whenever something changes, and in any case so often. */
const lookEveryMs = 5 * minuteMs;

export function brakeVeto(health: Health): Veto {
  return (proposal, context) => {
    const pool = poolOf(proposal, context);
    if (proposal.action === "Repair") return braked(pool, health, context) ?? policyBraked(proposal, pool, health);
    // Planned disruption of a pool pauses while its repair is stopped.
    return pool !== undefined && classOf(proposal.action) === "disruption" ? braked(pool, health, context) : undefined;
  };
}

export function poolOf({ claim }: Proposal, { picture }: Context): PoolView | undefined {
  const name = claim && picture.claim(claim.name)?.pool;
  return name === undefined ? undefined : picture.pool(name);
}

type Bound = { readonly max: number; readonly written: string; readonly doubt?: string };

/** What cannot be read allows none. */
function boundOf(written: string, nodes: number): Bound {
  const amount: Parsed<Amount> = parseAmount(written);
  return amount.ok
    ? { max: roundedUp(amount.value, nodes), written }
    : { max: 0, written, doubt: `, which cannot be read: ${amount.error}` };
}

/** Of the pool, or of the whole cluster for claims of none. */
function braked(pool: PoolView | undefined, health: Health, { picture }: Context): Objection | undefined {
  const { nodes, unhealthy } = health.count(pool?.name);
  const repair = pool?.effective.repair ?? rulesWithoutPool(picture.provider).repair;
  const bound = boundOf(repair.maxUnhealthy, nodes);
  if (unhealthy <= bound.max) return undefined;
  const whole = pool === undefined ? "the cluster" : `NodePool ${pool.name}`;
  return {
    code: pool === undefined ? "cluster-too-unhealthy" : "pool-too-unhealthy",
    message: `${unhealthy} of ${nodes} nodes of ${whole} are unhealthy, more than ${words(bound, "spec.repair.maxUnhealthy")}.`,
    liftedBy: pool === undefined ? "recovery of nodes" : `recovery of nodes, or a greater spec.repair.maxUnhealthy`,
  };
}

/** The brake of one policy, beside the pool's. */
function policyBraked({ policy }: Proposal, pool: PoolView | undefined, health: Health): Objection | undefined {
  const path = policy?.path ?? "";
  const written = pool?.effective.repair.policies.find(one => one.path === path)?.maxUnhealthy;
  if (pool === undefined || written === undefined) return undefined;
  const { nodes, byPolicy } = health.count(pool.name);
  const matching = byPolicy.get(path) ?? 0;
  const bound = boundOf(written, nodes);
  if (matching <= bound.max) return undefined;
  return {
    code: "policy-too-unhealthy",
    message: `${matching} of ${nodes} nodes of NodePool ${pool.name} match ${path}, more than ${words(bound, "its maxUnhealthy")}.`,
    liftedBy: `recovery of nodes, or a greater maxUnhealthy of ${path}`,
  };
}

function words({ max, written, doubt = "" }: Bound, field: string): string {
  return `${max} (${field}: ${written}${doubt})`;
}

/**
 * What is told of repairs that the brake holds, over all that is proposed: events on node, claim and pool. Numbers only
 * on the pool, so that the others are not told anew with every count.
 */
export function decideBlocked(proposals: Iterable<Proposal>, health: Health, context: Context): Decision {
  const veto = brakeVeto(health);
  const notices = new Map<string, Notice>();
  const looks: Instant[] = [];
  for (const proposal of proposals) {
    const held = proposal.action === "Repair" ? veto(proposal, context) : undefined;
    if (held === undefined) continue;
    looks.push(nextLook(proposal.dueAt, context.now));
    for (const notice of blocked(proposal, held, context)) notices.set(notice.about.uid, notice);
  }
  return { ...nothing, notices: [...notices.values()], wakeAt: looks.length === 0 ? undefined : Math.min(...looks) };
}

/** On a beat that does not depend on when it is asked. */
function nextLook(from: Instant, now: Instant): Instant {
  return from + (Math.floor((now - from) / lookEveryMs) + 1) * lookEveryMs;
}

function blocked(proposal: Proposal, { code, message: numbers }: Objection, context: Context): readonly Notice[] {
  const { node, claim, policy } = proposal;
  const pool = poolOf(proposal, context);
  const whole = pool === undefined ? "the cluster" : `NodePool ${pool.name}`;
  const message =
    code === "policy-too-unhealthy"
      ? `Node ${node.name} is not repaired by ${policy?.path}: too many nodes of ${whole} match it.`
      : `Node ${node.name} is not repaired: too many nodes of ${whole} are unhealthy.`;
  return [
    notice("Node", node, message),
    ...(claim === undefined ? [] : [notice("NodeClaim", claim, message)]),
    ...(pool === undefined ? [] : [notice("NodePool", pool, numbers)]),
  ];
}

function notice(kind: "Node" | "NodeClaim" | "NodePool", { name, uid }: Target, message: string): Notice {
  return { about: { kind, name, uid }, type: "Warning", reason: "NodeRepairBlocked", message };
}

/** The pool's own condition, among those that its rule writes. */
export function repairBlocked(pool: PoolView, health: Health, context: Context): ConditionChange {
  const held = braked(pool, health, context);
  return held === undefined
    ? { type: "RepairBlocked", status: "False", reason: "WithinLimit", message: "" }
    : { type: "RepairBlocked", status: "True", reason: "TooManyUnhealthy", message: held.message };
}
