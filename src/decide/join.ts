// A higher reason that meets an action under way joins it: counted once, its evidence added, the end only nearer. It
// spends no cap, but whatever else holds a start back holds a join too: it may turn a drain into force.

import { formatTime } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import type { Command, Proposal } from "./decision.ts";
import { deadlineOf, instantOf, reasonsOf, unstamped } from "./ledger.ts";
import { classOf, outranks } from "./precedence.ts";

/**
 * Only a reason above all that the action already has. A person's delete is above repair, and yet joined by it: the
 * person said that the node shall go, its health says that nobody need wait for its pods.
 */
export function canJoin(proposal: Proposal, { spec }: ActionView): boolean {
  // A reboot takes no node away, whatever joins it: who wants it gone waits for the reboot's end.
  if (proposal.method !== spec.method) return false;
  const escalates = classOf(proposal.action) === "repair";
  return reasonsOf(spec).every(
    ({ action }) => outranks(proposal.action, action) || (action === "Deletion" && escalates),
  );
}

export function join(proposal: Proposal, { name, uid, resourceVersion, spec }: ActionView): Command {
  const { action, askedBy, message } = proposal;
  const evidence = proposal.evidence.map(seen => ({ ...seen, seenAt: unstamped }));
  const deadline = deadlineOf(proposal);
  const standing = instantOf(spec.deadline);
  const isNearer = deadline !== undefined && (standing === undefined || deadline < standing);
  const isForced = proposal.termination === "Forceful" && spec.termination !== "Forceful";
  return {
    kind: "update-action",
    why: message,
    action: { name, uid },
    resourceVersion,
    spec: {
      joined: [...(spec.joined ?? []), { action, askedBy, at: unstamped, message, evidence }],
      ...(isNearer ? { deadline: formatTime(deadline) } : {}),
      ...(isForced ? { termination: "Forceful" } : {}),
    },
  };
}
