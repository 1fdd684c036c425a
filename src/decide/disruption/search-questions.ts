// What a search for moves is asked: plans that wait to be judged again, nodes that are due and have pods, and nodes that
// may go if that saves money; and which nodes may take their pods.

import { parseAmount } from "../../api/amount.ts";
import { capacityTypeKey } from "../../api/node.ts";
import type { Instant } from "../../api/time.ts";
import { initializedKey } from "../../api/well-known.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import { waitsForReplacement } from "../../snapshot/waiting-action.ts";
import type { ActionView, ClaimView, NodeView, PoolView } from "../../snapshot/views.ts";
import { ceilingOf } from "../budgets.ts";
import type { Context } from "../decision.ts";
import type { Effort } from "../packing/effort.ts";
import { type Candidate, candidateOf, dueOf, needsMove, ownClaim, type Reason } from "./candidate.ts";
import { idleAt } from "./clock.ts";
import type * as Consolidation from "./consolidation/question.ts";
import { disturbanceOf } from "./disturbance.ts";
import { isJudgedAgain, moveFor } from "./search-answers.ts";
import type { Prices } from "./search-prices.ts";
import { Unrest } from "./search-unrest.ts";

export type DueNode = { readonly candidate: Candidate; readonly reason: Reason };

export type Questions = {
  /** Open actions by batch, none of them started, whose replacements are there. */
  readonly plans: ReadonlyMap<string, readonly ActionView[]>;
  /** The same whose replacements are still to come, and of which no answer stands: their pods want room all the same. */
  readonly comingPlans: ReadonlyMap<string, readonly ActionView[]>;
  /** Due for another reason than money, and not answered yet. */
  readonly due: readonly DueNode[];
  readonly savers: readonly Consolidation.Candidate[];
  /** Those that are about to be, and from when on. */
  readonly soon: readonly { readonly uid: string; readonly dueAt: Instant }[];
  readonly termsByPool: ReadonlyMap<string, Consolidation.Terms>;
  /** By name: candidates whose price nobody knows. */
  readonly unpriced: readonly NodeView[];
  /** By batch: nodes that were launched for it, and are nobody else's until it is over. */
  readonly reserved: ReadonlyMap<string, readonly string[]>;
  /** By name: initialized, and nobody takes them away. Those that are young take nothing that saves money. */
  readonly targets: readonly string[];
  readonly youngOnes: ReadonlySet<string>;
  readonly unrest: Unrest;
};

type Gathering = { readonly picture: ClusterPicture; readonly context: Context; readonly prices: Prices };

export function* gather(gathering: Gathering, effort: Effort): Generator<void, Questions> {
  const { picture, context, prices } = gathering;
  const plans = new Map<string, readonly ActionView[]>();
  const comingPlans = new Map<string, readonly ActionView[]>();
  const due: DueNode[] = [];
  const savers: Consolidation.Candidate[] = [];
  const soon: Questions["soon"][number][] = [];
  const unpriced: NodeView[] = [];
  const targets: string[] = [];
  const youngOnes = new Set<string>();
  const unrest = new Unrest();
  const reserved = reservedBy(picture);
  const isReserved = new Set([...reserved.values()].flat());
  const totals = new Totals(gathering);
  for (const node of picture.nodes()) {
    effort.work += 20;
    yield;
    const claim = ownClaim(node, context);
    const action = picture.openActionOn(node.uid);
    if (claim !== undefined) {
      totals.add(node, claim, isReserved.has(node.name));
      unrest.add(node, claim, context);
    }
    if (action !== undefined && waitsForReplacement(action)) {
      if (isJudgedAgain(action, picture)) addPlan(plans, action);
      else if (picture.moveOf(node.uid)?.batch !== action.spec.batch) addPlan(comingPlans, action);
    }
    if (action !== undefined && action.spec.method !== "Reboot") continue;
    const candidate = claim && candidateOf(node, context);
    const found = candidate && dueOf(candidate, context);
    const isTarget = claim === undefined || node.labels[initializedKey] === "true";
    if (isTarget && !isReserved.has(node.name)) targets.push(node.name);
    if (claim !== undefined && isYoung(node, claim, context)) youngOnes.add(node.name);
    if (candidate === undefined || !needsMove(candidate)) continue;
    if (found === undefined) soon.push(...savesSoon(candidate));
    if (found === undefined || found.block !== undefined) continue;
    const move = moveFor(found.reason, picture.moveOf(node.uid));
    if (move !== undefined && move.stuck.length === 0) continue;
    if (found.reason.action !== "Consolidation") due.push({ candidate, reason: found.reason });
    else {
      const price = prices.of(candidate.claim);
      if (price === undefined) unpriced.push(node);
      else savers.push(saver(candidate, price, picture));
    }
  }
  due.sort((a, b) => a.reason.dueAt - b.reason.dueAt || (a.candidate.node.name < b.candidate.node.name ? -1 : 1));
  return {
    plans,
    comingPlans,
    due,
    savers,
    soon,
    termsByPool: totals.terms(),
    unpriced,
    reserved,
    targets,
    youngOnes,
    unrest,
  };
}

function reservedBy(picture: ClusterPicture): ReadonlyMap<string, readonly string[]> {
  const reserved = new Map<string, readonly string[]>();
  for (const action of picture.openActions()) {
    const { batch = action.name, replacements = [] } = action.spec;
    if (!waitsForReplacement(action) || replacements.length === 0) continue;
    const claims = replacements.flatMap(({ name }) => picture.claim(name) ?? []);
    reserved.set(
      batch,
      claims.flatMap(claim => picture.nodesOf(claim).map(({ name }) => name)),
    );
  }
  return reserved;
}

function savesSoon({ node, reasons }: Candidate): Questions["soon"] {
  return reasons.flatMap(({ action, dueAt }) => (action === "Consolidation" ? { uid: node.uid, dueAt } : []));
}

function saver({ node, claim, pool }: Candidate, price: number, picture: ClusterPicture): Consolidation.Candidate {
  const isSpot = claim.labels[capacityTypeKey] === "spot";
  return { name: node.name, pool: pool.name, price, isSpot, disturbance: disturbanceOf(node.name, picture) };
}

function addPlan(plans: Map<string, readonly ActionView[]>, action: ActionView): void {
  const { batch } = action.spec;
  if (batch !== undefined) plans.set(batch, [...(plans.get(batch) ?? []), action]);
}

/** Pods came or went a short while ago: whoever comes next had better not be moved there for money. */
function isYoung(node: NodeView, claim: ClaimView, { picture, now }: Context): boolean {
  const pool = picture.pool(claim.pool ?? "");
  if (pool === undefined || pool.effective.replicas !== undefined) return false;
  const isAsked = pool.effective.disruption.disruptAfter.Consolidation !== "Never";
  return isAsked && (idleAt({ claim, node, pool }, picture) ?? Number.POSITIVE_INFINITY) > now;
}

type Total = { price: number; disturbance: number; initialized: number };

/** What the nodes of each pool come to. */
class Totals {
  readonly #gathering: Gathering;
  readonly #byPool = new Map<string, Total>();

  constructor(gathering: Gathering) {
    this.#gathering = gathering;
  }

  /** What was launched in place of others is counted with those, until they are gone. */
  add({ name, labels }: NodeView, claim: ClaimView, isReserved: boolean): void {
    const { picture, prices } = this.#gathering;
    if (claim.pool === undefined) return;
    const total = this.#byPool.get(claim.pool) ?? { price: 0, disturbance: 0, initialized: 0 };
    this.#byPool.set(claim.pool, total);
    if (labels[initializedKey] === "true") total.initialized++;
    if (isReserved) return;
    total.price += prices.of(claim) ?? 0;
    total.disturbance += disturbanceOf(name, picture);
  }

  terms(): ReadonlyMap<string, Consolidation.Terms> {
    const { picture, context } = this.#gathering;
    const found = new Map<string, Consolidation.Terms>();
    for (const [name, total] of this.#byPool) {
      const pool = picture.pool(name);
      if (pool !== undefined) found.set(name, termsOf(pool, total, context));
    }
    return found;
  }
}

function termsOf({ effective }: PoolView, total: Total, { now }: Context): Consolidation.Terms {
  const { initialized, price, disturbance } = total;
  const { consolidationPolicy, minSavings } = effective.disruption;
  const least = parseAmount(minSavings);
  return {
    isBalanced: consolidationPolicy === "Balanced",
    // What cannot be read is never reached.
    minSavings: least.ok && "percent" in least.value ? least.value.percent / 100 : Number.POSITIVE_INFINITY,
    atOnce: ceilingOf(effective, "Consolidation", { at: now, initialized }).allowed,
    price,
    disturbance,
  };
}
