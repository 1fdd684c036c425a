// Actions that are written down and have not begun, seen together once a turn: nodes of one batch begin all or none, and
// no more begin than the budgets of now allow, the earliest first. Whether one may begin by itself is start-hold.ts; what
// repairs are held by beside that, granted-limits.ts.

import { plannedActions } from "../api/budget.ts";
import type { Instant } from "../api/time.ts";
import type { Departure } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import { waitsForReplacement } from "../snapshot/waiting-action.ts";
import { type BudgetLimit, budgetLimits } from "./budget-limits.ts";
import type { Context, Proposal, Waiting } from "./decision.ts";
import { overLimitsOfNow } from "./granted-limits.ts";
import { instantOf, isDryRun, isOpen } from "./ledger.ts";
import type { Objection } from "./safety.ts";
import { hasStarted, startHold } from "./start-hold.ts";

/** For one turn: each pool and each batch is looked at once. */
export function seenTogether(context: Context): Waiting {
  const queues = new Map<string, Queue>();
  const holds = new Map<string, readonly MemberHold[]>();
  const overLimits = overLimitsOfNow(context);
  const overBudget: Waiting["overBudget"] = (action, as) => {
    const { nodePool } = action.spec;
    if (!(plannedActions as readonly string[]).includes(as.action)) return overLimits(action, as);
    if (nodePool === undefined) return undefined;
    const queue = queues.get(nodePool) ?? queueOf(nodePool, context);
    queues.set(nodePool, queue);
    return overBudgetOf(action, as, queue);
  };
  const alone: Context = { ...context, waiting: { overBudget, heldWith: () => undefined } };
  const heldWith: Waiting["heldWith"] = action => {
    const { batch } = action.spec;
    if (batch === undefined || !waitsForReplacement(action)) return undefined;
    const held = holds.get(batch) ?? memberHolds(batch, alone);
    holds.set(batch, held);
    return incomplete(action, context) ?? heldBy(action, held);
  };
  return { overBudget, heldWith };
}

/** What is counted in a pool, and the place of each in it that has not begun. */
type Queue = {
  readonly limits: readonly BudgetLimit[];
  readonly placeByName: ReadonlyMap<string, number>;
};

function queueOf(name: string, context: Context): Queue {
  const { picture, now, remembered } = context;
  const pool = picture.pool(name);
  if (pool === undefined || remembered === undefined) return { limits: [], placeByName: new Map() };
  const going = picture.departuresOf(name);
  const waiting = going.flatMap(departure => (hasBegun(departure) ? [] : (departure.action ?? [])));
  const begun = going.length - waiting.length;
  const placeByName = new Map(waiting.sort(earlierFirst).map((action, index) => [action.name, begun + index + 1]));
  return { limits: budgetLimits([pool], { picture, now, health: remembered.health }), placeByName };
}

function hasBegun({ action, claim }: Departure): boolean {
  return action === undefined || hasStarted(action) || claim?.deletingSince !== undefined;
}

/** Nodes of one batch stand beside each other. */
function earlierFirst(a: ActionView, b: ActionView): number {
  return decidedAt(a) - decidedAt(b) || (placeText(a) < placeText(b) ? -1 : 1);
}

function decidedAt({ spec, createdAt }: ActionView): Instant {
  return instantOf(spec.decidedAt) ?? createdAt;
}

function placeText({ name, spec }: ActionView): string {
  return `${spec.batch ?? ""}\n${name}`;
}

function overBudgetOf({ name, spec }: ActionView, as: Proposal, queue: Queue): Objection | undefined {
  const place = queue.placeByName.get(name);
  if (place === undefined) return undefined;
  const limit = queue.limits
    .filter(one => one.applies(as))
    .reduce<BudgetLimit | undefined>((least, one) => (least && least.allowed <= one.allowed ? least : one), undefined);
  if (limit === undefined || place <= limit.allowed) return undefined;
  const { allowed, place: source, changesAt } = limit;
  const before = place === 2 ? "1 was" : `${place - 1} were`;
  return {
    code: "budget-spent",
    message: `Node ${spec.node.name} stays: of NodePool ${spec.nodePool} at most ${allowed} may be going away by now (${source.path}), and ${before} decided on before it.`,
    ...(changesAt === undefined ? {} : { until: changesAt }),
    liftedBy: "an end of those before it, or a greater budget",
  };
}

type MemberHold = { readonly action: ActionView; readonly hold: Objection };

/** None once one of them has begun: what was decided as one is not whole any more. */
function memberHolds(batch: string, context: Context): readonly MemberHold[] {
  const { picture } = context;
  const actions = picture.actionsOfBatch(batch).filter(action => !isDryRun(action));
  const isUnderWay = ({ spec }: ActionView) =>
    spec.claim !== undefined && picture.claim(spec.claim.name)?.deletingSince !== undefined;
  if (actions.some(action => hasStarted(action) || isUnderWay(action))) return [];
  const members = actions.filter(action => isOpen(action) && waitsForReplacement(action));
  return members.flatMap(action => {
    const hold = startHold(action, context);
    return hold === undefined ? [] : { action, hold };
  });
}

function heldBy({ name, spec }: ActionView, held: readonly MemberHold[]): Objection | undefined {
  const holder = held.find(({ action }) => action.name !== name);
  if (holder === undefined) return undefined;
  const { message: why, until, liftedBy } = holder.hold;
  const message = `Node ${spec.node.name} goes only together with node ${holder.action.spec.node.name}, and that is held: ${why}`;
  return { code: "batch-held", message, ...(until === undefined ? {} : { until }), liftedBy };
}

/** One that goes with it is not in the ledger yet. One that has gone otherwise is not waited for. */
function incomplete({ spec }: ActionView, { picture }: Context): Objection | undefined {
  const move = picture.moveOf(spec.node.uid);
  if (move === undefined || move.batch !== spec.batch) return undefined;
  const missing = move.nodes.find(({ uid }) => {
    const node = picture.nodeByUid(uid);
    const open = picture.openActionOn(uid);
    const isWritten = open?.spec.batch === spec.batch && !open?.isProvisional;
    return node !== undefined && node.deletingSince === undefined && !isWritten;
  });
  if (missing === undefined) return undefined;
  const message = `Node ${spec.node.name} goes only together with node ${missing.name}, for which nothing is written yet.`;
  return { code: "batch-incomplete", message, liftedBy: `what is said of node ${missing.name}` };
}
