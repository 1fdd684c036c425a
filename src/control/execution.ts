// What a command is carried out with, and how the answer of a write comes into the picture.

import type { KubeObject, Resource } from "../api/meta.ts";
import type { Status } from "../api/status.ts";
import type { Taint } from "../api/taint.ts";
import type { Context, Outcome, Settings, Target } from "../decide/decision.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Kind } from "../snapshot/kind.ts";
import type { GuardedApi, GuardedProvider } from "./guard.ts";
import { isConflict, Stale } from "./outcome.ts";
import { keyOf } from "./patch.ts";
import type { Clock } from "./ports.ts";
import type { LeaseLooks } from "./lease-looks.ts";
import type { RecentReads } from "./recent-reads.ts";
import type { Searches } from "./searches.ts";
import type { StartLooks } from "./start-looks.ts";

export type Execution = {
  readonly api: GuardedApi;
  readonly provider: GuardedProvider;
  readonly picture: ClusterPicture;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly epoch: number;
  /** Whoever searches works on what they keep. */
  readonly searches: Searches;
  readonly leaseLooks: LeaseLooks;
  readonly recentReads: RecentReads;
  readonly startLooks: StartLooks;
  /** With what the turns remember and what holds their starts. Absent: by somebody who has seen nothing before. */
  readonly remembering?: (context: Context) => Context;
  /** Of the command's time-out. */
  readonly signal: AbortSignal;
};

export const done: Outcome = { result: "done" };
export const alreadySo: Outcome = { result: "already-so" };

/** The answer to a delete: the object while something holds it, else a Status. */
export function sawDeletion(
  picture: ClusterPicture,
  { kind, target, answer }: { kind: Kind; target: Target; answer: KubeObject | Status },
): void {
  if ("uid" in answer.metadata) picture.answered(kind, answer as KubeObject);
  else sawGone(picture, kind, target);
}

export function sawGone(picture: ClusterPicture, kind: Kind, { name, namespace, uid }: Target): void {
  picture.wroteGone(kind, name, uid, namespace);
}

/** The live object, if it is the one that is meant. */
export function assertSame<T extends KubeObject>(raw: T, { uid }: Target): T {
  if (raw.metadata.uid !== uid) throw new Stale(`${raw.kind} ${raw.metadata.name} is another one now.`);
  return raw;
}

/** What is read of an object before it is changed. */
export type Live = KubeObject & { spec?: { taints?: Taint[]; unschedulable?: boolean }; status?: object };

/**
 * Writes what is computed from the live object, over that version alone, and once more if somebody was quicker: for
 * lists that others write too, for kinds whose versions the picture does not keep (heartbeats), and for statuses, whose
 * patches do not look at the uid.
 */
export async function overLive(
  { api }: Execution,
  { resource, target }: { resource: Resource; target: Target },
  write: (live: Live) => Promise<Outcome>,
): Promise<Outcome> {
  const attempt = async () => write(assertSame(await api.get<Live>(resource, keyOf(target)), target));
  try {
    return await attempt();
  } catch (error) {
    if (!isConflict(error)) throw error;
    return attempt();
  }
}
