// What packing answers. Placements stand in the order in which they were decided: each holds given those before it, as
// the scheduler would judge the pods one by one.

import type { NodeRequirement } from "../../api/node-selector.ts";
import type { Pod, ResourceList } from "../../api/pod.ts";
import type { Reason } from "./reasons.ts";

export type Target =
  | { kind: "existing"; node: string }
  | { kind: "upcoming"; claim: string }
  /** `index` into `newNodes`. */
  | { kind: "new"; index: number };

export type Placement = {
  pod: Pod;
  target: Target /** Preferences that were given up for it, in words. */;
  relaxed: readonly string[];
};

export type NewNode = {
  pool: string;
  /** Names of the types that all its pods fit on, cheapest first. */
  instanceTypes: readonly string[];
  /** The pool's requirements narrowed by the pods', as wide as the rules allow. */
  requirements: readonly NodeRequirement[];
  /** What pods and daemons ask for together. */
  requests: ResourceList;
  /** Of the cheapest offering that is still possible. */
  price: number;
  pods: readonly Pod[];
};

export type Unplaced = { pod: Pod; reason: Reason };

export type Answer = {
  placements: readonly Placement[];
  newNodes: readonly NewNode[];
  unplaced: readonly Unplaced[];
};
