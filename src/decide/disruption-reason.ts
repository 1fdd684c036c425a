// The condition and the event by which a claim says why it is being taken away by our own choice, in the peer's words.

import type { NodeActionSpec } from "../api/node-action.ts";
import type { ConditionChange, Notice } from "./decision.ts";
import { outranks } from "./precedence.ts";
import type { Departing } from "./termination-step.ts";

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

/** Told on node and claim before the first step is written: so it is said once. */
export function disruptionBegun({ claim, nodes, actions }: Pick<Departing, "claim" | "nodes" | "actions">): Notice[] {
  const fresh = actions.filter(({ status }) => !status.steps?.length);
  const about: readonly Notice["about"][] = [
    ...nodes.map(({ name, uid }) => ({ kind: "Node", name, uid }) as const),
    { kind: "NodeClaim", name: claim.name, uid: claim.uid },
  ];
  return fresh.flatMap(({ name, spec }) => {
    const { reason, message } = disruptionReason(spec) ?? {};
    const said = `Is taken away by NodeAction ${name} (${reason}). ${message}`;
    const notice = { type: "Normal", reason: "DisruptionTerminating", message: said } as const;
    return reason === undefined ? [] : about.map(object => ({ about: object, ...notice }));
  });
}
