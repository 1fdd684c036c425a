// What a command is carried out with, and how the answer of a write comes into the picture.

import type { KubeObject } from "../api/meta.ts";
import type { Status } from "../api/status.ts";
import type { Outcome, Settings, Target } from "../decide/decision.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Kind } from "../snapshot/kind.ts";
import type { GuardedApi, GuardedProvider } from "./guard.ts";
import { Stale } from "./outcome.ts";
import type { Clock } from "./ports.ts";

export type Execution = {
  readonly api: GuardedApi;
  readonly provider: GuardedProvider;
  readonly picture: ClusterPicture;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly epoch: number;
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
