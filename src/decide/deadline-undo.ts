// Takes the termination time off a claim that stays: it was written right before the claim's deletion, and that did not come
// about. Left there, it would turn the claim's next end, however gentle, into one by force. What a person wrote stays: who
// wants a node to go by force says so before deleting its claim.

import { formatTime, type Instant } from "../api/time.ts";
import { terminationTimestampKey } from "../api/well-known.ts";
import type { ActionView } from "../snapshot/views.ts";
import { type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { finishedAt, instantOf, isCounted, isDryRun } from "./ledger.ts";

export const deadlineUndo: Rule = { name: "deadline-undo", controller: "ledger", kind: "claim", decide };

function decide(name: string, { picture }: Context): Decision {
  const claim = picture.claim(name);
  if (claim?.terminationAt === undefined || claim.deletingSince !== undefined || claim.isProvisional) return nothing;
  const { uid, resourceVersion, terminationAt } = claim;
  const withDeadline = picture
    .nodesOf(claim)
    .flatMap(node => picture.actionsOn(node.uid))
    .filter(({ spec }) => spec.claim?.uid === uid && spec.deadline !== undefined);
  // Its start may be under way.
  if (withDeadline.some(isCounted)) return nothing;
  if (!withDeadline.some(action => hasWritten(action, terminationAt))) return nothing;
  const metadata = { annotations: { [terminationTimestampKey]: null } };
  const why = `Claim ${name} stays: what was to end it by ${formatTime(terminationAt)} is over.`;
  return { ...nothing, commands: [{ kind: "update-claim", claim: { name, uid }, resourceVersion, metadata, why }] };
}

/** Its own deadline, or by force the instant of its start, which lay between its decision and its end. */
function hasWritten(action: ActionView, at: Instant): boolean {
  const { deadline, decidedAt, termination } = action.spec;
  const [from, to] = [instantOf(decidedAt), finishedAt(action)];
  if (isDryRun(action)) return false;
  if (instantOf(deadline) === at) return true;
  return termination === "Forceful" && from !== undefined && to !== undefined && from <= at && at <= to;
}
