// What the picture keeps of each object: what some rule reads and nothing else, with times as instants. Views never
// change; a new state of the object is a new view, and one that looks the same is the same view.

import type { NodeActionSpec, NodeActionStatus } from "../api/node-action.ts";
import type { EffectiveNodeClaim, EffectiveNodePool } from "../api/effective-node-pool.ts";
import type { EffectiveSafetyPolicy } from "../api/effective-safety-policy.ts";
import type { NodePoolSpec, NodePoolStatus } from "../api/node-pool.ts";
import type { NodeClaimStatus } from "../api/node-claim.ts";
import type { SafetyPolicyStatus } from "../api/safety-policy.ts";
import type { OwnerReference } from "../api/meta.ts";
import type { Labels, Selector } from "../api/selector.ts";
import type { ResourceList } from "../api/pod.ts";
import type { CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/storage.ts";
import type { Taint } from "../api/taint.ts";
import type { Instant, Millis } from "../api/time.ts";
import type { ListedInstance } from "./instance.ts";
import type { PodNeeds } from "./pod-needs.ts";

export type MetaView = {
  readonly name: string;
  readonly uid: string;
  /** Of the last change that a rule could see. Good as a precondition where every change is one (claims, actions). */
  readonly resourceVersion: string;
  readonly createdAt: Instant;
  /** The deletionTimestamp: since when somebody wants it gone. */
  readonly deletingSince?: Instant;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly finalizers: readonly string[];
};

export type ConditionView = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** lastTransitionTime, as the reporter says; absent: it says none that can be read. */
  readonly since?: Instant;
};

/**
 * Of what we have asked for and the server has not yet confirmed: it is there and counts, but its uid and its
 * resourceVersion are empty. Nothing may be built on it: wait until it is real.
 */
type Provisional = { readonly isProvisional?: true };

export type NodeView = MetaView & {
  readonly providerID?: string;
  /** In the order of the object; heartbeat times are left out. */
  readonly conditions: readonly ConditionView[];
  readonly taints: readonly Taint[];
  readonly isCordoned: boolean;
  /** Another one after each boot; absent: the kubelet says none. */
  readonly bootID?: string;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly owners: readonly OwnerReference[];
};

export type ClaimView = MetaView &
  Provisional & {
    readonly generation: number;
    readonly owners: readonly OwnerReference[];
    /** The label karpenter.sh/nodepool; absent: a claim that somebody made by hand. */
    readonly pool?: string;
    readonly zone?: string;
    readonly spec: EffectiveNodeClaim;
    readonly status: NodeClaimStatus;
    readonly conditions: readonly ConditionView[];
    readonly providerID?: string;
    /** Of its status, what a launch has found and the claim does not say yet; known to whoever launched it alone. */
    readonly unwritten?: { readonly since: Instant; readonly status: Omit<NodeClaimStatus, "conditions"> };
    /** The annotation karpenter.sh/nodeclaim-termination-timestamp: when what is left on the node goes by force. */
    readonly terminationAt?: Instant;
  };

/** Tiers of the drain, in their order. */
export type PodTier = "workload" | "daemon" | "critical" | "critical-daemon";

export type PodView = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName?: string;
  readonly createdAt: Instant;
  readonly startedAt?: Instant;
  /** When its grace ends: the deletionTimestamp, which for pods lies in the future while they stop. */
  readonly deletionAt?: Instant;
  /** terminationGracePeriodSeconds. */
  readonly graceMs: Millis;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly isReady: boolean;
  readonly tier: PodTier;
  /** Owned by its node: the kubelet's own, which no API call ends. */
  readonly isStatic: boolean;
  readonly toleratesDisruption: boolean;
  readonly labels: Labels;
  /** The annotation karpenter.sh/do-not-disrupt as written. */
  readonly doNotDisrupt?: string;
  readonly ownerKind?: string;
  /** Names of PersistentVolumeClaims. */
  readonly volumeClaims: readonly string[];
  /** What it asks of a node. Absent: nothing. */
  readonly needs?: PodNeeds;
  /** The scheduler says that no node can take it. */
  readonly isUnschedulable?: true;
  /** Where the scheduler makes room for it by preemption. */
  readonly nominatedNode?: string;
  /** How much it would be missed by upstream's measure, from -10 to 10. Absent: as most are, 1. */
  readonly evictionCost?: number;
};

export type DisruptionBudgetView = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Undefined: it selects no pod. */
  readonly selector: Selector | undefined;
  readonly disruptionsAllowed: number;
  readonly evictsUnhealthyAlways: boolean;
  /** Its status speaks of its present spec. */
  readonly isObserved: boolean;
};

export type AttachmentView = {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly volume?: string;
  readonly deletingSince?: Instant;
};

export type VolumeClaimView = {
  readonly namespace: string;
  readonly name: string;
  readonly volume?: string;
  /** As scheduling reads it. */
  readonly claim?: PersistentVolumeClaim;
};

/** What only scheduling reads, in the shapes that it reads. */
export type DaemonSetView = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Of its pods. */
  readonly labels: Labels;
  readonly needs: PodNeeds;
};
export type NamespaceView = { readonly name: string; readonly labels: Labels };
export type VolumeView = { readonly name: string; readonly volume: PersistentVolume };
export type StorageClassView = { readonly name: string; readonly storageClass: StorageClass };
export type CsiNodeView = { readonly name: string; readonly csiNode: CsiNode };

export type PoolView = MetaView & {
  readonly generation: number;
  readonly written: NodePoolSpec;
  readonly effective: EffectiveNodePool;
  /** What the API server cannot judge and is wrong: the pool starts nothing until it is mended. */
  readonly invalid?: string;
  readonly status: NodePoolStatus;
  readonly conditions: readonly ConditionView[];
};

export type ActionView = MetaView & Provisional & { readonly spec: NodeActionSpec; readonly status: NodeActionStatus };

export type SafetyView = {
  /** Absent: there is no such object, and its defaults hold. */
  readonly meta?: MetaView & { readonly generation: number };
  readonly policy: EffectiveSafetyPolicy;
  /** As it was last written, with its conditions apart. */
  readonly status?: Omit<SafetyPolicyStatus, "conditions">;
  readonly conditions?: readonly ConditionView[];
  /** It cannot be understood: nothing new starts until it is mended. */
  readonly invalid?: string;
};

/** What the provider last said of an instance, and when. */
export type InstanceView = {
  readonly providerID: string;
  readonly state: "running" | "off" | "terminating" | "gone";
  readonly seenAt: Instant;
  /** Of a row of `gone` answers to a look-up, the first. */
  readonly goneSince?: Instant;
};

export type InstanceListView = { readonly at: Instant; readonly instances: readonly ListedInstance[] };
