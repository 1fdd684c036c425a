// What a provider says of a machine, or why it could not. Errors are values, told apart by what we do about them.

import type { ResourceList } from "../api/pod.ts";
import type { Instant } from "../api/time.ts";

/** An instance as the provider lists it. */
export type ListedInstance = {
  readonly providerID: string;
  readonly createdAt: Instant;
  /** The tag of the cluster that launched it. */
  readonly cluster?: string;
  /** The tag of the claim it was launched for. */
  readonly claimUid?: string;
};
export type Instance = ListedInstance & {
  /** Instance type, zone, capacity type, architecture and the like: what the node will be labelled with. */
  labels: Readonly<Record<string, string>>;
  capacity: ResourceList;
  allocatable: ResourceList;
  imageID?: string;
  /** `off`: the machine has no power and nothing runs on it; said only by a provider that knows. */
  state: "running" | "off" | "terminating";
};

/** Why a provider could not. Unknown: it may have happened all the same. */
export type ProviderError = {
  error:
    | "InsufficientCapacity"
    | "NodeClassNotReady"
    | "QuotaExceeded"
    | "Throttled"
    | "NotSupported"
    | "Invalid"
    | "Unknown";
  message: string;
  retryAfterMs?: number;
};
