// The condition and the events by which claims say that a node is taken away by our own choice, and why, in the peer's words.

import type { NodeActionSpec } from "../api/node-action.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
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

/** On each replacement that is not up yet: for whom it is launched, and then that somebody waits for it. Once for a batch. */
export function replacementsAwaited({ name, spec, status }: ActionView, picture: Picture): Notice[] {
  const { batch, replacements = [], node, action } = spec;
  const isFirst = batch === undefined || picture.actionsOfBatch(batch)[0]?.name === name;
  const claims = isFirst ? replacements.flatMap(one => picture.claim(one.name) ?? []) : [];
  const said =
    status.phase === "WaitingForReplacement"
      ? { reason: "DisruptionWaitingReadiness", message: `Node ${node.name} stays until this one is initialized.` }
      : { reason: "DisruptionLaunching", message: `Is launched before node ${node.name} goes by ${action}.` };
  return claims
    .filter(({ isProvisional, conditions }) => !isProvisional && !isTrue(conditions, "Initialized"))
    .map(claim => ({ about: { kind: "NodeClaim", name: claim.name, uid: claim.uid }, type: "Normal", ...said }));
}
