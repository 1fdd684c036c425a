// Remediations of each check that are over without their node having recovered, oldest first: whether a successor has
// come for each is counted by whoever asks.

import { finalPhases } from "../api/node-action.ts";
import { Grouped } from "./ordered.ts";
import type { Change } from "./tables.ts";
import type { ActionView } from "./views.ts";

/** The step that is written when a remediation ends with its node still there. */
export const endedStep = "ended";

export class EndedRemediations {
  /** By the uid of the check. */
  readonly #byCheck = new Grouped<ActionView>();

  of(checkUid: string): readonly ActionView[] {
    return this.#byCheck.of(checkUid);
  }

  /** The uids of the checks that are concerned. */
  replace({ before, after }: Change<ActionView>): readonly string[] {
    const [from, to] = [checkOf(before), checkOf(after)];
    if (from === undefined && to === undefined) return [];
    if (before !== undefined) this.#byCheck.move(placeOf(before), { from, to: undefined, value: undefined });
    if (after !== undefined) this.#byCheck.move(placeOf(after), { from: undefined, to, value: after });
    return [...new Set([from, to].flatMap(uid => uid ?? []))];
  }
}

function placeOf({ spec, name }: ActionView): string {
  return `${spec.decidedAt} ${name}`;
}

function checkOf(action: ActionView | undefined): string | undefined {
  return action !== undefined && hasTakenNode(action) ? action.spec.askedBy.uid : undefined;
}

/** A remediation that is over and has taken its node away, as far as it can tell. */
export function hasTakenNode({ spec, status }: ActionView): boolean {
  // A reboot takes no node away.
  const isMeant = spec.action === "Remediation" && spec.method !== "Reboot" && spec.dryRun !== true;
  const isOver = finalPhases.some(phase => phase === status.phase);
  const isWithNode = status.steps?.some(({ name }) => name === endedStep) ?? false;
  return isMeant && status.startedAt !== undefined && isOver && !isWithNode;
}
