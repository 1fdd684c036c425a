// Where pods that want a node shall go: what a search has found, as the picture keeps it and rules read it.

import type { Manifest } from "../api/meta.ts";
import type { ResourceList } from "../api/pod.ts";
import type { Instant } from "../api/time.ts";
import type { PoolView } from "./views.ts";

/** What the last search said of a pod: on which claim or node it counts until it is bound, or why it can go nowhere. */
export type Placement =
  | {
      readonly on: "claim" | "node";
      readonly name: string;
      readonly at: Instant;
      /** By the move that takes its node away, together with the room of all others that go by it. */
      readonly isPromised?: true;
    }
  | { readonly on: "nothing"; readonly short: string; readonly tree: string };

/** A claim that pods need and that does not exist yet. Its name was chosen before the first try and stays. */
export type PlannedClaim = {
  readonly name: string;
  readonly pool: string;
  /** `poolVersion` of the pool that was asked about; with another one the claim is not made. */
  readonly poolVersion: string;
  readonly manifest: Manifest & { metadata: { name: string } };
  /** By uid; most of them must still want it. */
  readonly pods: readonly string[];
  /** The most that its instance may have: what limits must have room for. */
  readonly capacity: ResourceList;
  readonly at: Instant;
};

/** The answer of a search: by the pods' uids, and what they need beside what is there. */
export type Plan = {
  readonly at: Instant;
  readonly placements: ReadonlyMap<string, Placement>;
  readonly claims: readonly PlannedClaim[];
  /** When something ends by itself that has kept pods from a place. */
  readonly lookAgainAt?: Instant;
};

/** When there is a reason to search. */
export type Pending = {
  /** Pods of which no search has said anything that still holds: when the first and the last of them came. */
  readonly batch: { readonly openedAt: Instant; readonly lastAt: Instant } | undefined;
  /** How many they are. */
  readonly batchCount: number;
  /** Pods that are expected on a node or claim and not bound yet. */
  readonly expectedCount: number;
  /** When the first of them has been expected long enough where it was to go. */
  readonly expiresAt: Instant | undefined;
  /** Pods that can go nowhere. */
  readonly stuckCount: number;
  /** Something has changed since the last search that may let them. */
  readonly isSupplyChanged: boolean;
  readonly searchedAt: Instant;
  readonly lookAgainAt: Instant | undefined;
};

/** Changes with everything of a pool that an answer about it rests on. */
export function poolVersion({ uid, generation, invalid, deletingSince, status }: PoolView): string {
  const { failures = 0, until = "" } = status.launchBackoff ?? {};
  return [uid, generation, invalid ?? "", deletingSince ?? "", failures, failures === 0 ? "" : until].join(" ");
}
