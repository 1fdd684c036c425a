// A reason of sickness joins an action under way, perhaps turning a drain into force: node and lease are read live first,
// as for a start. What does not hold then does not join, and it is remembered when to try again.

import { doubtOf } from "../decide/actions.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { joinLane, retryMs } from "../decide/ledger.ts";
import { updateAction } from "./execute-action.ts";
import { readLive, seen } from "./execute-start.ts";
import type { Execution } from "./execution.ts";
import { Stale } from "./outcome.ts";

export async function joinAction(
  command: Extract<Command, { kind: "update-action" }>,
  execution: Execution,
): Promise<Outcome> {
  const { picture, clock, settings, epoch } = execution;
  const { name, uid } = command.action;
  const reason = command.spec?.joined?.at(-1);
  const action = picture.action(name);
  if (action?.uid !== uid || reason === undefined) throw new Stale(`NodeAction ${name} has changed.`);
  const live = seen(await readLive(action, execution), execution);
  const why = doubtOf(reason, live, { picture, now: clock.now(), settings, epoch });
  const lane = joinLane(name);
  if (why === undefined) {
    picture.setFailure(lane, undefined);
    return updateAction(command, execution);
  }
  const at = clock.now();
  const count = (picture.failure(lane)?.count ?? 0) + 1;
  picture.setFailure(lane, { at, retryAt: at + retryMs(count), count, reason: reason.action, message: why });
  return { result: "stale" };
}
