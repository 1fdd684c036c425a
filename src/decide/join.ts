// A higher reason that meets an action under way joins it: counted once, its evidence added, the end only nearer. It
// spends no cap, but whatever else holds a start back holds a join too: it may turn a drain into force.

import type { NodeActionSpec } from "../api/node-action.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import type { Command, Proposal } from "./decision.ts";
import { deadlineOf, instantOf, reasonsOf, unstamped } from "./ledger.ts";
import { classOf, outranks } from "./precedence.ts";
import { tellsSilence } from "./silence.ts";

/**
 * Only a reason above all that the action already has. A person's delete is above repair, and yet joined by it: the
 * person said that the node shall go, its health says that nobody need wait for its pods. For the same cause a repair
 * by force joins one that goes gently, and so does one for a kubelet that is silent by now.
 */
export function canJoin(proposal: Proposal, { spec }: ActionView): boolean {
  // A reboot takes no node away, whatever joins it: who wants it gone waits for the reboot's end.
  if (proposal.method !== spec.method) return false;
  const isSickness = classOf(proposal.action) === "repair";
  const isNews = hastens(proposal, spec) || tellsSilence(proposal.evidence, spec);
  const escalates = proposal.action === "Repair" && isNews;
  return reasonsOf(spec).every(
    ({ action }) =>
      outranks(proposal.action, action) || (action === "Deletion" && isSickness) || (action === "Repair" && escalates),
  );
}

type Wish = Pick<Proposal, "termination" | "dueAt" | "deadline">;

/** It turns what goes gently into force, sooner than it would come to that by itself. Once. */
export function hastens(wish: Wish, spec: NodeActionSpec): boolean {
  if (wish.termination !== "Forceful" || spec.termination === "Forceful") return false;
  return nearer(wish, spec) !== undefined;
}

/** The end that is wished for, if it comes before the one that stands. */
function nearer(wish: Wish, spec: NodeActionSpec): Instant | undefined {
  const deadline = deadlineOf(wish);
  const standing = instantOf(spec.deadline) ?? Number.POSITIVE_INFINITY;
  return deadline !== undefined && deadline < standing ? deadline : undefined;
}

export function join(proposal: Proposal, { name, uid, resourceVersion, spec }: ActionView): Command {
  const { action, askedBy, message } = proposal;
  const evidence = proposal.evidence.map(seen => ({ ...seen, seenAt: unstamped }));
  const deadline = nearer(proposal, spec);
  const isForced = proposal.termination === "Forceful" && spec.termination !== "Forceful";
  return {
    kind: "update-action",
    why: message,
    action: { name, uid },
    resourceVersion,
    ...(classOf(action) === "repair" ? { looksFirst: true } : {}),
    spec: {
      joined: [...(spec.joined ?? []), { action, askedBy, at: unstamped, message, evidence }],
      ...(deadline === undefined ? {} : { deadline: formatTime(deadline) }),
      ...(isForced ? { termination: "Forceful" } : {}),
    },
  };
}
