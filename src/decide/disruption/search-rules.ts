// When a search for moves is due: somebody may go and nobody has found out where its pods would, a plan waits to be judged
// again, or those that could not go may be able to by now. The search runs beside the turns (control/search.ts).

import { formatTime, type Instant, type Millis, secondMs } from "../../api/time.ts";
import type { Stay } from "../../snapshot/moves.ts";
import type { FailureView } from "../../snapshot/picture.ts";
import { type Command, type Decision, nothing, type Rule } from "../decision.ts";
import { laneOf } from "../lane.ts";
import type { Reason } from "./candidate.ts";
import { isJudgedAgain } from "./search-answers.ts";

/** Nodes that are due within so long are asked about together. */
const togetherMs: Millis = secondMs;
/** Nodes that cannot go, or had better stay, are asked about again once in this time at most, however much changes. */
const retryMs: Millis = 10 * secondMs;

/** Asks for those that a search has held back, once something has changed that may let them go. */
export const moveSearch: Rule = {
  name: "move-search",
  controller: "disruption",
  kind: "cluster",
  decide(_, { picture, now }) {
    const { heldCount, isSupplyChanged, searchedAt, lookAgainAt } = picture.moves;
    const changedAt = isSupplyChanged ? searchedAt : lookAgainAt;
    if (heldCount === 0 || changedAt === undefined) return nothing;
    const dueAt = Math.max(changedAt, searchedAt + retryMs);
    if (dueAt > now) return { ...nothing, wakeAt: dueAt };
    const command = search(dueAt, "Nodes that could not go, or had better stay, are looked at again.");
    const failure = picture.failure(laneOf(command));
    return failure !== undefined && failure.retryAt > now ? failed(failure) : { ...nothing, commands: [command] };
  },
};

/** Asks for a plan whose replacements have come. */
export const judgeAgain: Rule = {
  name: "judge-again",
  controller: "disruption",
  kind: "action",
  decide(name, { picture }) {
    const action = picture.action(name);
    if (action === undefined || !isJudgedAgain(action, picture)) return nothing;
    // A search that has said no is repeated by `moveSearch`.
    if (picture.moveOf(action.spec.node.uid)?.batch === action.spec.batch) return nothing;
    const why = `What was planned for node ${action.spec.node.name} is judged again before it begins.`;
    return { ...nothing, commands: [search(action.createdAt, why)] };
  },
};

/** The question of a node that is due and has no answer. */
export function asking(
  { action, dueAt }: Pick<Reason, "action" | "dueAt">,
  stay: Stay | undefined,
  now: Instant,
): Pick<Decision, "commands" | "wakeAt"> {
  if (action === "Consolidation" && stay !== undefined) return { commands: [], wakeAt: undefined };
  const askedAt = Math.ceil(dueAt / togetherMs) * togetherMs;
  if (askedAt > now) return { commands: [], wakeAt: askedAt };
  return {
    commands: [search(askedAt, `Nodes are due since ${formatTime(dueAt)} whose pods need another place.`)],
    wakeAt: undefined,
  };
}

function failed({ reason, message, retryAt }: FailureView): Decision {
  const said = `The search for moves failed (${reason || "no answer"}): ${message}; the next is at ${formatTime(retryAt)}.`;
  const refusal = {
    subject: "cluster",
    code: "search-failed",
    message: said,
    until: retryAt,
    liftedBy: "the next try",
  } as const;
  return { ...nothing, refusals: [refusal], wakeAt: retryAt };
}

function search(askedAt: Instant, why: string): Command {
  return { kind: "search", for: "disruption", askedAt, why };
}
