// Repairs and remediations that are written down and have not begun keep within the caps, and repairs within the budgets,
// of now, the earliest first: somebody may have lowered one since they were granted, or a window may have opened. Where
// neither is so they were counted when they were granted. Of plans waiting.ts speaks.

import type { Instant } from "../api/time.ts";
import type { ActionView, PoolView } from "../snapshot/views.ts";
import { budgetLimits } from "./budget-limits.ts";
import { capLimits, type Limit } from "./caps.ts";
import type { Context, Proposal } from "./decision.ts";
import { instantOf } from "./ledger.ts";
import { classOf } from "./precedence.ts";
import type { Objection } from "./safety.ts";
import { hasStarted, proposalOf } from "./start-hold.ts";

type Written = { readonly action: ActionView; readonly as: Proposal; readonly zone: string | undefined };

/** For one turn: whoever waits is looked at once, and only where a limit may be another than it was. */
export function overLimitsOfNow(context: Context): (action: ActionView, as: Proposal) => Objection | undefined {
  let waiting: readonly Written[] | undefined;
  return (action, as) => {
    if (classOf(as.action) !== "repair") return undefined;
    const zone = zoneOf(action, context);
    const limits = [...changedBudgets(action, as, context), ...changedCaps(action, { as, zone }, context)];
    if (limits.length === 0) return undefined;
    waiting ??= writtenDown(context);
    for (const limit of limits) {
      if (decidedBefore(action, limit, waiting) >= limit.allowed) return objection(action, limit);
    }
    return undefined;
  };
}

function changedBudgets({ spec }: ActionView, as: Proposal, context: Context): readonly Limit[] {
  const { picture, now, remembered } = context;
  const pool = spec.nodePool === undefined ? undefined : picture.pool(spec.nodePool);
  if (as.action !== "Repair" || pool === undefined || remembered === undefined) return [];
  if (isAsGranted(spec.budget, pool)) return [];
  return budgetLimits([pool], { picture, now, health: remembered.health }).filter(limit => limit.applies(as));
}

/** By a budget that stands as it did, and always. */
function isAsGranted(budget: ActionView["spec"]["budget"], { effective, generation }: PoolView): boolean {
  const ofRepair = effective.disruption.budgets.filter(({ actions }) => actions.includes("Repair"));
  if (budget === undefined || ofRepair.some(({ window }) => window !== undefined)) return false;
  const isDefault = ofRepair.every(({ path }) => path === "default");
  return isDefault ? budget.kind === "Default" : budget.generation === generation;
}

function changedCaps({ spec }: ActionView, { as, zone }: Omit<Written, "action">, context: Context): readonly Limit[] {
  const generation = context.picture.safety.meta?.generation;
  const { caps = [] } = spec;
  if (caps.length > 0 && caps.every(cap => cap.generation === generation)) return [];
  const asked = { actions: new Set([as.action]), zones: new Set(zone === undefined ? [] : [zone]) };
  return capLimits(asked, context).filter(limit => limit.applies(as));
}

function writtenDown(context: Context): readonly Written[] {
  const { picture } = context;
  return [...picture.departures()]
    .flatMap(({ action, claim }) => (action === undefined || claim?.deletingSince !== undefined ? [] : action))
    .filter(action => !hasStarted(action))
    .sort((a, b) => decidedAt(a) - decidedAt(b) || (a.name < b.name ? -1 : 1))
    .map(action => ({ action, as: proposalOf(action, context), zone: zoneOf(action, context) }));
}

/** Those that have begun or gone, as far as the limit counts them, and of the others those before it. */
function decidedBefore({ name }: ActionView, limit: Limit, waiting: readonly Written[]): number {
  const counted = waiting.filter(one => isCountedIn(limit, one));
  const place = counted.findIndex(({ action }) => action.name === name);
  return limit.counted - counted.length + Math.max(0, place);
}

function isCountedIn(limit: Limit, { as, zone }: Written): boolean {
  if (limit.counts !== undefined) return limit.counts(as);
  return limit.applies(as) && (limit.zone === undefined || limit.zone === zone);
}

function zoneOf({ spec }: ActionView, { picture }: Context): string | undefined {
  const node = picture.nodeByUid(spec.node.uid);
  return node && picture.zoneOf(node);
}

/** Without their number: else each end would have all that wait told anew. */
function objection({ spec }: ActionView, { role, place, what, allowed, changesAt }: Limit): Objection {
  const source = [place.kind, place.name, place.path].filter(Boolean).join(" ");
  const many = allowed === 1 ? "1 node is" : `${allowed} nodes are`;
  return {
    code: `${role}-spent`,
    message: `Node ${spec.node.name} stays: ${many} ${what}, decided on before it, and no more may be by now (${source}).`,
    ...(changesAt === undefined ? {} : { until: changesAt }),
    liftedBy: `an end of those before it, or a greater ${role}`,
  };
}

function decidedAt({ spec, createdAt }: ActionView): Instant {
  return instantOf(spec.decidedAt) ?? createdAt;
}
