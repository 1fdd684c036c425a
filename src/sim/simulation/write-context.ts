// What a write of the controller is judged with.

import type { KubeObject } from "../../api/meta.ts";
import { terminationFinalizer } from "../../api/well-known.ts";
import type { Clock } from "../../control/ports.ts";
import type { Ledger } from "./ledger.ts";
import type { ClusterObjects } from "./objects.ts";
import type { Process } from "./process.ts";

export type WriteContext = {
  readonly ledger: Ledger;
  readonly objects: ClusterObjects;
  readonly process: Process;
  readonly clock: Clock;
  /** When what others write last changed, by collection and key: what is new may not have been seen. */
  readonly changedAt: ReadonlyMap<string, number>;
};

/** What a slow watch may not have shown yet; a silent one for longer, but it is found out. */
const unseenMs = 60_000;
export const silentMs = 105_000;

export function isUnseen({ clock, changedAt }: WriteContext, key: string, withinMs = unseenMs): boolean {
  return clock.now() - (changedAt.get(key) ?? Number.NEGATIVE_INFINITY) < withinMs;
}

/** A command that reads the nodes first knows of all but those that join while it goes on to write: a few calls long. */
const joiningMs = 100;

export function isJoining(context: WriteContext, { metadata }: KubeObject): boolean {
  const isTaken = metadata.finalizers?.includes(terminationFinalizer) ?? false;
  return !isTaken && isUnseen(context, `nodes ${metadata.name}`, joiningMs);
}
