// What consolidation is asked and what it answers, in the words of packing: nodes that may go if that pays, on which
// terms, and where the pods of those that should go would run.

import type { MoveScore } from "../../../snapshot/moves.ts";
import type { Pod } from "../../../api/pod.ts";
import type { NewNode } from "../../packing/answer.ts";

/** A node that may go for less money. */
export type Candidate = {
  readonly name: string;
  readonly pool: string;
  /** Per hour, of the offering that it is. */
  readonly price: number;
  readonly isSpot: boolean;
  /** What it disturbs that it goes: its own share of that of its pool (disturbance.ts). */
  readonly disturbance: number;
};

/** What a pool lets consolidation do. */
export type Terms = {
  /** Balanced: what is saved must be in proportion to what is disturbed. */
  readonly isBalanced: boolean;
  /** The least that must be saved, as a share of the nodes' price. */
  readonly minSavings: number;
  /** How many of its nodes may go as one. */
  readonly atOnce: number;
  /** Of all its nodes together: their price, and how much there is to disturb. */
  readonly price: number;
  readonly disturbance: number;
};

export type Question = {
  readonly candidates: readonly Candidate[];
  readonly termsByPool: ReadonlyMap<string, Terms>;
  /** Nodes that may take pods: there, well, and neither young nor on their way out. */
  readonly targets: readonly string[];
  /** Whether spot nodes may be replaced by spot nodes. */
  readonly spotToSpot: boolean;
  /** Pods that wait for a place and would compete for the same room. */
  readonly waiting: readonly Pod[];
};

/** Nodes that go together, and what comes instead. */
export type Saving = {
  readonly nodes: readonly string[];
  readonly newNodes: readonly NewNode[];
  /** Where pods go that go onto nodes that are there, by namespace and name. */
  readonly places: ReadonlyMap<string, string>;
  readonly podCount: number;
  readonly price: { readonly before: number; readonly after: number };
};

export type Verdict = {
  readonly savings: readonly Saving[];
  /** Why the others stay, by name. */
  readonly stays: ReadonlyMap<string, string>;
  /** Those that it did not come to. */
  readonly unanswered: readonly string[];
  /** How many could not be left as they were when they were last judged. */
  readonly judgedCount: number;
  readonly scores: readonly MoveScore[];
};
