// The fields of nodes that defaults, validation and columns look at, as they are after decoding.

import type { KubeObject } from "../../api/meta.ts";

export type Taint = { key: string; value?: string; effect: string; timeAdded?: string };

export type Node = KubeObject & {
  spec: {
    podCIDR?: string;
    podCIDRs?: string[];
    providerID?: string;
    unschedulable?: boolean;
    taints?: Taint[];
    configSource?: unknown;
  };
  status: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: { type: string; status: string }[];
    addresses?: { type: string; address: string }[];
    nodeInfo: Record<string, string>;
    config?: unknown;
    [field: string]: unknown;
  };
};
