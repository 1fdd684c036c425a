// Which reason takes a node when several want it. A node belongs to its highest reason, also while that one is refused:
// else a lower reason would take the node and the higher one join it, past what held it back. Plans hasten nothing by
// joining: where the budget of one is spent, the node may go by a lower one that has room.

import { plannedActions } from "../api/budget.ts";
import type { NodeActionSpec } from "../api/node-action.ts";

export type LedgerAction = NodeActionSpec["action"];

/**
 * Highest first. GarbageCollection follows a person's word: its machine is gone, so there is nothing left to repair or
 * to spare. ScaleDown comes before what would replace the node: the pool wants one less, and the surplus would remain.
 */
export const precedence: readonly LedgerAction[] = [
  "Deletion",
  "GarbageCollection",
  "Repair",
  "Remediation",
  "ScaleDown",
  "Expiration",
  "Drift",
  "Emptiness",
  "Consolidation",
];

const rankByAction = new Map(precedence.map((action, index) => [action, precedence.length - index]));

export function outranks(action: LedgerAction, other: LedgerAction): boolean {
  return rankOf(action) > rankOf(other);
}

/** An action that this version does not know is below all. */
export function rankOf(action: LedgerAction): number {
  return rankByAction.get(action) ?? 0;
}

/** What caps tell apart: health makes us, we choose to, or neither. */
export type ActionClass = "repair" | "disruption" | "other";

export function classOf(action: LedgerAction): ActionClass {
  if (action === "Repair" || action === "Remediation") return "repair";
  return (plannedActions as readonly string[]).includes(action) ? "disruption" : "other";
}
