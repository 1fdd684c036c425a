// Machines that a provider can launch, as a pool may use them: what they hold, which labels they can have, and at
// which price, where and how they are offered.

import type { NodeRequirement } from "./node-selector.ts";
import type { ResourceList } from "./pod.ts";

export type Offering = {
  /** As a rule one zone and one capacity type. */
  requirements: readonly NodeRequirement[];
  /** Per hour. */
  price: number;
  available: boolean;
};

export type InstanceType = {
  name: string;
  /** The labels that its nodes can have: `In` several values means any one of them. */
  requirements: readonly NodeRequirement[];
  offerings: readonly Offering[];
  capacity: ResourceList;
  /** Capacity less what system and kubelet keep for themselves. */
  allocatable: ResourceList;
};
