// How long finished actions are kept: seven days or 2,000 of them, and as long as a cap looks back at them. What is open
// is never deleted.

import { dayMs, type Instant, secondMs } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import { longestWindow } from "./caps.ts";
import { type Command, type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { finishedAt } from "./ledger.ts";

/** No window of a cap is longer than 168h; windows are counted a second longer than they are written (caps.ts). */
const keptMs = 7 * dayMs + secondMs;
const keptMax = 2_000;
/** One decision asks for no more at once; the rest comes when these are gone. */
const deletedMax = 100;

/** The end of one finished action by its age. */
export function retire(action: ActionView, context: Context): Decision {
  const end = overAt(action) + keptMs;
  return end > context.now ? { ...nothing, wakeAt: end } : { ...nothing, commands: [deletion(action)] };
}

/** The oldest of too many. */
export const retentionRule: Rule = {
  name: "retention",
  controller: "ledger",
  kind: "cluster",
  decide: (_name, context) => {
    const excessCount = Math.min(deletedMax, context.picture.finishedCount - keptMax);
    if (excessCount <= 0) return nothing;
    const excess = [...context.picture.finishedSince(0)].slice(0, excessCount);
    const windowMs = longestWindow(context);
    const needed = excess.find(action => overAt(action) + windowMs > context.now);
    const ripe = needed === undefined ? excess : excess.slice(0, excess.indexOf(needed));
    return { ...nothing, commands: ripe.map(deletion), wakeAt: needed && overAt(needed) + windowMs };
  },
};

function overAt(action: ActionView): Instant {
  return finishedAt(action) ?? action.createdAt;
}

function deletion({ name, uid }: ActionView): Command {
  return { kind: "delete-action", why: "It has been kept long enough.", action: { name, uid } };
}
