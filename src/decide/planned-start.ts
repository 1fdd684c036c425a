// What holds back the start of what is written down by the word of its pool, which lets none go by now; of a plan also
// that the node has not stood still, or that something has come to it. It was otherwise when it was decided.

import { budgetedActions, type PlannedAction, plannedActions } from "../api/budget.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { formatTime } from "../api/time.ts";
import { closureOf } from "./budgets.ts";
import type { Context } from "./decision.ts";
import { blockOf, type Held } from "./disruption/blocks.ts";
import { quietSince, stillAt } from "./disruption/clock.ts";
import type { Objection } from "./safety.ts";

type Start = Pick<NodeActionSpec, "action" | "askedBy" | "node" | "nodePool">;

/** What was written down before the pool closed does not start either: a freeze freezes. */
export function budgetHold(
  { nodePool }: Pick<Start, "nodePool">,
  action: Start["action"],
  { picture, now }: Context,
): Objection | undefined {
  const budgeted = budgetedActions.find(one => one === action);
  const pool = nodePool === undefined ? undefined : picture.pool(nodePool);
  return budgeted && pool && closureOf(pool, budgeted, now).closed;
}

/** Undefined: nothing does, or it is no plan. */
export function plannedHold(start: Start, context: Context): Objection | undefined {
  const { picture } = context;
  const action = plannedActions.find(one => one === start.action);
  const pool = start.nodePool === undefined ? undefined : picture.pool(start.nodePool);
  if (action === undefined || pool === undefined) return undefined;
  const node = picture.nodeByUid(start.node.uid);
  const claim = node && picture.claimOf(node);
  const held = node && claim && { node, claim, pool, isLeftover: start.askedBy.kind === "Controller" };
  return held && (stirred(held, action, context) ?? blockOf(held, action, context));
}

/** What is taken for being little used is not taken while pods come and go. */
function stirred({ node, claim }: Held, action: PlannedAction, { picture, now }: Context): Objection | undefined {
  if (action !== "Consolidation" && action !== "Emptiness") return undefined;
  const since = quietSince(claim, node.name, picture);
  // Not initialized: that holds it by itself, or it is left over and nothing ever ran there.
  const until = since === undefined ? undefined : stillAt(since, picture);
  if (until === undefined || until <= now) return undefined;
  const message = `A pod came to node ${node.name} or went, or may have: it must stand still until ${formatTime(until)}.`;
  return { code: "not-still", message, until, liftedBy: "time" };
}
