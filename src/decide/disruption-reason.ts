// The condition by which a claim says why it is being taken away by our own choice, in the peer's words.

import type { NodeActionSpec } from "../api/node-action.ts";
import type { ConditionChange } from "./decision.ts";
import { outranks } from "./precedence.ts";

export const disruptionReasonType = "DisruptionReason";

const reasonByAction: Partial<Record<NodeActionSpec["action"], string>> = {
  Consolidation: "Underutilized",
  Emptiness: "Empty",
  Drift: "Drifted",
  Expiration: "Expired",
};

/** Of several reasons the highest; undefined: it goes by nobody's choice. */
export function disruptionReason(spec: NodeActionSpec): ConditionChange | undefined {
  const reasons: readonly Pick<NodeActionSpec, "action" | "message">[] = [spec, ...(spec.joined ?? [])];
  const highest = reasons.reduce((one, other) => (outranks(other.action, one.action) ? other : one));
  const reason = reasonByAction[highest.action];
  if (reason === undefined) return undefined;
  return { type: disruptionReasonType, status: "True", reason, message: highest.message };
}
