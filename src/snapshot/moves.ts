// What a search has found for nodes that may go: who goes together, where their pods would go, and what must be there
// first. As the picture keeps it and rules read it.

import type { PlannedAction } from "../api/budget.ts";
import type { Instant } from "../api/time.ts";
import type { PlannedClaim } from "./placement.ts";

/** The latest answer to "what if these were gone?" that still stands: nothing that it read has changed since. */
export type Move = {
  /** Of all nodes that go as one command, and of the NodeActions that are opened for it. */
  readonly batch: string;
  /** Why it was asked; Repair where a gentle one wants a replacement first. */
  readonly action: PlannedAction | "Repair";
  readonly nodes: readonly { readonly name: string; readonly uid: string }[];
  /** To be launched and initialized before any of the nodes is drained. None: their pods fit onto what is there. */
  readonly claims: readonly PlannedClaim[];
  /** How many pods run elsewhere afterwards. */
  readonly podCount: number;
  /** Per hour, of the nodes that go and of the claims that come. */
  readonly price: { readonly before: number; readonly after: number };
  /** Pods that would have no place: the nodes cannot go. */
  readonly stuck: readonly { readonly pod: string; readonly short: string }[];
  /** Why a consolidation that waits for its start would not pay any more. */
  readonly unpaid?: string;
  /** When what it rests on was seen. */
  readonly at: Instant;
};

/** Why consolidation leaves a node where it is, and since when searches have said so. */
export type Stay = {
  readonly short: string;
  readonly at: Instant;
  /** It was not judged but put off, until then at the latest. */
  readonly until?: Instant;
};

/** How a Balanced pool weighed what a move saves against what it disturbs. */
export type MoveScore = { readonly pool: string; readonly score: number; readonly isApproved: boolean };

/** A move with what it rests on beside its own nodes and the pods on them. */
export type FoundMove = {
  readonly move: Move;
  /** Where pods would go that go onto nodes which are there: the node's name by the pod's namespace and name. */
  readonly places: ReadonlyMap<string, string>;
  /** `poolVersion` by name, of the pools of the nodes and of the claims. */
  readonly poolVersions: ReadonlyMap<string, string>;
};

/** The answer of a search. Moves that stood when it began, and still do, are kept. */
export type MovesFound = {
  readonly at: Instant;
  readonly moves: readonly FoundMove[];
  /** By the nodes' uids; those of earlier searches are forgotten. */
  readonly stays: ReadonlyMap<string, Stay>;
  /** By name: nodes that it did not come to. */
  readonly unanswered: readonly string[];
  /** When something ends by itself that has kept pods from a place. */
  readonly lookAgainAt?: Instant | undefined;
  readonly scores?: readonly MoveScore[];
};

/** When there is a reason to search again. */
export type MoveSearch = {
  /** Nodes of which the last answer is that they cannot go, or had better stay. */
  readonly heldCount: number;
  /** Something has changed since the last search that may let them. */
  readonly isSupplyChanged: boolean;
  readonly searchedAt: Instant;
  readonly lookAgainAt: Instant | undefined;
};
