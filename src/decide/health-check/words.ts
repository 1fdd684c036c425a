// The words of health checks: who the patient is, and how answers about it are put together. Plain values.

import type { Instant } from "../../api/time.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, NodeView } from "../../snapshot/views.ts";
import type { Notice } from "../decision.ts";
import type { Health } from "./node-health.ts";

/** One node as it stands to one check. */
export type Patient = {
  readonly node: NodeView;
  readonly check: CheckView;
  /** Not, if its labels or the selector have changed since it was remediated. */
  readonly isSelected: boolean;
  readonly health: Health;
  /** Of this check, the oldest first, those that are being deleted too. */
  readonly remediations: readonly RemediationView[];
  /** The entry in the ledger that was opened for this check, if it is open and real. */
  readonly action: ActionView | undefined;
  /** Its claim is being deleted and we carry that out, which is what the entry tells of. */
  readonly isTerminated: boolean;
};

export function wakesAt(instant: Instant | undefined, now: Instant): Instant | undefined {
  return instant !== undefined && instant > now && Number.isFinite(instant) ? instant : undefined;
}

/** What is said to the owner of the check. */
export function checkNotice({ name, uid }: CheckView, notice: Pick<Notice, "type" | "reason" | "message">): Notice {
  return { about: { kind: "NodeHealthCheck", name, uid }, ...notice };
}
