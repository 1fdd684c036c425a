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
  /** When what it rests on was seen. */
  readonly at: Instant;
};
