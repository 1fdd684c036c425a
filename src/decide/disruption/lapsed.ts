// Whether what was planned would still be asked for by its pool, as that speaks now. A wait that has passed stays passed:
// pods that go while the replacement comes do not begin it anew, but a longer one counts from when the first began.

import { type PlannedAction, plannedActions } from "../../api/budget.ts";
import type { NodeActionSpec } from "../../api/node-action.ts";
import { formatTime } from "../../api/time.ts";
import type { ClaimView, NodeView, PoolView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { instantOf } from "../ledger.ts";
import { passed } from "./clock.ts";
import { isEmpty } from "./reschedulable.ts";

type Asked = Pick<NodeActionSpec, "action" | "askedBy" | "evidence">;
type Subject = { readonly node: NodeView; readonly claim: ClaimView };

/** Why it would not; undefined: it would, or it is no pool's plan. */
export function lapsed(asked: Asked, { node, claim }: Subject, { picture, now }: Context): string | undefined {
  const action = plannedActions.find(one => one === asked.action);
  if (action === undefined || asked.askedBy.kind !== "NodePool") return undefined;
  const pool = claim.pool === undefined ? undefined : picture.pool(claim.pool);
  if (pool === undefined) return `NodePool ${claim.pool ?? asked.askedBy.name}, which asked for it, is gone`;
  if (action === "Emptiness" || action === "Consolidation") {
    const kept = keptByPolicy(pool, action, isEmpty(node.name, picture));
    if (kept !== undefined) return kept;
  }
  const after = pool.effective.disruption.disruptAfter[action];
  const since = instantOf(asked.evidence[0]?.since);
  const dueAt = passed(since ?? Number.NEGATIVE_INFINITY, after) ?? Number.POSITIVE_INFINITY;
  if (dueAt <= now) return undefined;
  const byPool = `by ${action} (disruptAfter ${after})`;
  if (!Number.isFinite(dueAt)) return `NodePool ${pool.name} never lets it go ${byPool}`;
  return `NodePool ${pool.name} lets it go ${byPool} not before ${formatTime(dueAt)}`;
}

function keptByPolicy({ name, effective }: PoolView, action: PlannedAction, nothingRuns: boolean): string | undefined {
  if (effective.replicas !== undefined) return `NodePool ${name} has its number of nodes from replicas now`;
  const { consolidationPolicy } = effective.disruption;
  if (action === "Emptiness" || nothingRuns || consolidationPolicy !== "WhenEmpty") return undefined;
  return `NodePool ${name} consolidates only empty nodes now (consolidationPolicy ${consolidationPolicy})`;
}
