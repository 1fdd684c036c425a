// How a term begins: with what the API server has now, not with what a watch has shown so far. Actions, claims and nodes
// are read consistently and laid over the picture, what is gone included; then the first turn may decide.

import type { KubeObject, Resource } from "../api/meta.ts";
import type { Instant } from "../api/time.ts";
import { nodeActions } from "../api/node-action.ts";
import { nodeClaims } from "../api/node-claim.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { sawGone } from "./execution.ts";
import type { KubeApi } from "./ports.ts";
import { isNotFound } from "./outcome.ts";
import { leases, nodes } from "./resources.ts";

/** In a simulation a constant. */
export type Leadership = {
  /** Of our term; undefined: another leads, or nobody. */
  readonly epoch: number | undefined;
  /** When somebody was last seen to lead before this process began to look. Undefined: nobody, as far as we know. */
  readonly ledUntil?: Instant | undefined;
  onChange(changed: () => void): void;
};

/**
 * The number under which a term acts. Whoever holds the lease is the newest leader, so what the ledger shows at the
 * beginning is older, whatever it says: a stranger may have written it, or the lease was restored from a backup.
 */
export function termNumber(epoch: number, actions: Iterable<{ readonly spec: { readonly epoch: number } }>): number {
  let term = epoch;
  // A number that cannot be counted on from cannot be overtaken: such an action is left to a person.
  for (const { spec } of actions) if (spec.epoch > term && spec.epoch < Number.MAX_SAFE_INTEGER) term = spec.epoch + 1;
  return term;
}

const pageItemsMax = 500;

export async function readLedger(
  api: Pick<KubeApi, "list">,
  picture: ClusterPicture,
  signal: AbortSignal,
): Promise<void> {
  const lists = { api, picture, signal };
  await readAll(lists, { kind: "action", resource: nodeActions.resource, known: picture.actions() });
  await readAll(lists, { kind: "claim", resource: nodeClaims.resource, known: picture.claims() });
  await readAll(lists, { kind: "node", resource: nodes, known: picture.nodes() });
}

/** Whether there was a health check by default once: what somebody has deleted since does not come back. */
export async function readDefaultMark(
  { api, picture, signal }: Omit<Lists, "api"> & { readonly api: Pick<KubeApi, "get"> },
  mark: { readonly name: string; readonly namespace: string },
): Promise<void> {
  try {
    await api.get(leases, mark, { signal });
    picture.checks.setHadDefault(true);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    picture.checks.setHadDefault(false);
  }
}

type Read = {
  readonly kind: "action" | "claim" | "node";
  readonly resource: Resource;
  readonly known: Iterable<{ readonly name: string; readonly uid: string }>;
};

type Lists = { readonly api: Pick<KubeApi, "list">; readonly picture: ClusterPicture; readonly signal: AbortSignal };

async function readAll({ api, picture, signal }: Lists, read: Read): Promise<void> {
  // Only what was known before the list began can be gone by it: what the watch brings meanwhile is newer.
  const missing = new Map([...read.known].map(({ name, uid }) => [uid, { name, uid }]));
  for await (const raw of pages(api, read.resource, signal)) {
    missing.delete(raw.metadata.uid);
    picture.answered(read.kind, raw);
  }
  // Of one that is only provisional nothing is known yet.
  for (const target of missing.values()) if (target.uid !== "") sawGone(picture, read.kind, target);
}

/** Without a version: as new as etcd. A page that has expired fails the whole, and the caller begins again. */
async function* pages(api: Lists["api"], resource: Resource, signal: AbortSignal): AsyncIterable<KubeObject> {
  for (let place: { continue?: string } = {}; ; ) {
    const page = await api.list(resource, { limit: pageItemsMax, signal, ...place });
    yield* page.items;
    if (page.continue === undefined) return;
    place = { continue: page.continue };
  }
}
