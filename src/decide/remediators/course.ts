// How a remediation of ours goes on, as a value: what its remediator wants, and what is to be said on the object.

import type { RebootRemediationStatus } from "../../api/remediation.ts";
import type { ActionView } from "../../snapshot/views.ts";
import type { Proposal } from "../decision.ts";
import type { Objection } from "../safety.ts";

export type Course = {
  /** Of the condition Succeeded; Unknown: it goes on. */
  readonly result: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** PermanentNodeDeletionExpected. */
  readonly takesNodeAway?: true;
  readonly proposal?: Proposal;
  /** Why nothing is proposed, although the node is still sick. */
  readonly held?: Objection;
  /** An action that must not begin any more. */
  readonly withdrawn?: ActionView | undefined;
  readonly status?: Pick<RebootRemediationStatus, "bootID" | "attempts" | "lastRebootTime">;
};
