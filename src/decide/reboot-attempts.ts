// Whether a sick node has had its reboots: those that did not heal it, in a row; and all of a day, for one that falls sick
// again and again is not healed by them. Read off the ledger.

import { dayMs, type Instant } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import { finishedAt, isDryRun, isOpen, olderFirst } from "./ledger.ts";

type Sickness = {
  readonly dueAt: Instant;
  /** Reboots that failed before then were for another sickness. */
  readonly wellUntil: Instant;
  /** How many reboots may fail. */
  readonly attempts: number;
};

/** As upstream: more of them within a day help nobody, whatever came of each. */
const aDayMax = 2;

/** Why it is not rebooted once more, as a sentence; undefined: it may be. */
export function hadItsReboots(nodeUid: string, sickness: Sickness, picture: Picture): string | undefined {
  const { attempts } = sickness;
  const reboots = picture.actionsOn(nodeUid).filter(isFinishedReboot).toSorted(olderFirst);
  const failed = failedInARow(reboots, sickness);
  if (failed >= attempts) return `${failed} of ${attempts} reboots did not heal it.`;
  const lately = reboots.filter(reboot => wasAsked(reboot) && overAt(reboot) > sickness.dueAt - dayMs).length;
  return lately >= Math.max(aDayMax, attempts)
    ? `It was rebooted ${lately} times within a day, and is sick again.`
    : undefined;
}

function isFinishedReboot(action: ActionView): boolean {
  const { spec } = action;
  return spec.action === "Repair" && spec.method === "Reboot" && !isOpen(action) && !isDryRun(action);
}

/** Since the last one that healed it. */
function failedInARow(reboots: readonly ActionView[], { wellUntil }: Sickness): number {
  const lastHealed = reboots.findLastIndex(({ status }) => status.phase === "Done");
  const since = reboots.slice(lastHealed + 1).filter(({ status }) => status.startedAt !== undefined);
  return since.filter(reboot => overAt(reboot) >= wellUntil).length;
}

/** The provider took it; others ended before that. */
function wasAsked({ status }: ActionView): boolean {
  return status.steps?.some(({ name, finishedAt: at }) => name === "reboot" && at !== undefined) ?? false;
}

function overAt(action: ActionView): Instant {
  return finishedAt(action) ?? action.createdAt;
}
