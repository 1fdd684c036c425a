// Takes the termination time off a claim that stays: it was written right before the claim's deletion, and that did not come
// about. Left there, it would turn the claim's next end, however gentle, into one by force.

import { formatTime } from "../api/time.ts";
import { terminationTimestampKey } from "../api/well-known.ts";
import type { ActionView } from "../snapshot/views.ts";
import { type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { isCounted } from "./ledger.ts";
import { servedClass } from "./node-class.ts";

export const deadlineUndo: Rule = { name: "deadline-undo", controller: "ledger", kind: "claim", decide };

function decide(name: string, { picture }: Context): Decision {
  const claim = picture.claim(name);
  if (claim?.terminationAt === undefined || claim.deletingSince !== undefined || claim.isProvisional) return nothing;
  const withDeadline = picture
    .nodesOf(claim)
    .flatMap(({ uid }) => picture.actionsOn(uid))
    .filter(({ spec }: ActionView) => spec.claim?.uid === claim.uid && spec.deadline !== undefined);
  // Its start may be under way.
  if (withDeadline.some(isCounted)) return nothing;
  // Of another controller's claim only what one of ours has left.
  const isOurs = servedClass(claim.spec.nodeClassRef, picture.provider) !== undefined || withDeadline.length > 0;
  if (!isOurs) return nothing;
  const { uid, resourceVersion, terminationAt } = claim;
  const metadata = { annotations: { [terminationTimestampKey]: null } };
  const why = `Claim ${name} stays: what was to end it by ${formatTime(terminationAt)} is over.`;
  return { ...nothing, commands: [{ kind: "update-claim", claim: { name, uid }, resourceVersion, metadata, why }] };
}
