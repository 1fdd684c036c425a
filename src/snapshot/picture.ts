// How rules read the cluster: one picture, the same for the whole turn, with every join already made. Look-ups cost
// nothing or as much as their answer; nothing here can be changed, and nothing is read live.

import type { InstanceType } from "../api/instance-type.ts";
import type { Instant, Millis } from "../api/time.ts";
import type { CheckPicture } from "./check-picture.ts";
import type { ListedInstance } from "./instance.ts";
import type { LaunchResult } from "./launch-result.ts";
import type { Move, MoveSearch, Stay } from "./moves.ts";
import type { Pending, Placement, PlannedClaim } from "./placement.ts";
import type {
  ActionView,
  AttachmentView,
  ClaimView,
  DisruptionBudgetView,
  InstanceListView,
  InstanceView,
  NodeView,
  PodView,
  PoolView,
  SafetyView,
} from "./views.ts";

/** What a decision is about. `check` and further kinds come with their rules. */
export type SubjectKind = "claim" | "node" | "pool" | "action" | "pod" | "check" | "cluster";
export type Subject = `${Exclude<SubjectKind, "cluster">}/${string}` | "cluster";

/** A node that is going away or out of service: by its deletion, its claim's, or an open action that is carried out. */
export type Departure = {
  /** Where the node cannot be seen any more and no action names it, the uid is that of its claim. */
  readonly node: { readonly name: string; readonly uid: string };
  readonly claim?: ClaimView;
  readonly pool?: string;
  readonly zone?: string;
  /** Absent: nobody has opened one yet. */
  readonly action?: ActionView;
};

export type NodeClassRef = { readonly group: string; readonly kind: string; readonly name: string };

export type NodeClassState =
  | { readonly state: "Ready"; readonly generation: number }
  | { readonly state: "NotFound" | "Terminating" | "NotReady"; readonly message: string };

/** One pair of condition and status that means a sick node, with how long it is borne where nobody says otherwise. */
export type RepairStatement = {
  readonly conditionType: string;
  readonly conditionStatus: string;
  readonly toleration: Millis;
};

/** What the provider can say at once, from what it has seen. */
export type ProviderView = {
  readonly name: string;
  /** Claims of other classes are somebody else's: their lifecycle, termination and instances are not ours. */
  serves(kind: Pick<NodeClassRef, "group" | "kind">): boolean;
  /** For pools and claims that name none. */
  readonly defaultClass: NodeClassRef | undefined;
  nodeClass(ref: NodeClassRef): NodeClassState;
  instanceTypes(ref: NodeClassRef): readonly InstanceType[];
  readonly repairStatements: readonly RepairStatement[];
  /** Why the instance of a claim is no longer as its class says; undefined: it is, as far as is known. */
  driftOf?(claim: ClaimView): { readonly reason: string; readonly message: string } | undefined;
  /** False: no instance can be rebooted through it, and nothing need be tried. */
  readonly canReboot?: boolean;
};

/** Why a command on an object last failed, until one succeeds. `retryAt`: before then it is not tried again. */
export type FailureView = {
  readonly at: Instant;
  readonly retryAt: Instant;
  readonly count: number;
  /** The Status reason of the API server or the class of the provider's error; empty: no answer. */
  readonly reason: string;
  readonly message: string;
};

/** What the claims of a pool come to. */
export type PoolTotals = {
  readonly claims: number;
  /** Not being deleted. */
  readonly staying: number;
  /** Of those that stay, with an instance. */
  readonly launched: number;
  /** Of the launched: how often each amount of a resource is written in a claim's status.capacity. In no order. */
  readonly capacity: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** How the launches of all ended, as far as that is known, oldest first. */
  readonly launches: readonly LaunchResult[];
};

/** A kind whose watch has been silent for too long, or has not been listed whole. */
export type Staleness = { readonly resource: string; readonly message: string };

/** Another controller of the karpenter.sh kinds that is alive, by its Lease: beside it everything is only shown. */
export type Rival = { readonly holder: string; readonly namespace: string };

export type PodEventsView = {
  /** The last that was seen on a node. */
  on(nodeName: string): Instant | undefined;
  /** Since when they are seen: of pods that went before, nothing tells. */
  readonly since: Instant;
  /** Somebody of ours watched until then: what claims tell of before is all there was. */
  readonly isSeamless: boolean;
};

/** Whatever comes in numbers comes in the order of names or uids, never in that of arrival. */
export type Picture = {
  node(name: string): NodeView | undefined;
  nodeByUid(uid: string): NodeView | undefined;
  nodes(): Iterable<NodeView>;
  readonly nodeCount: number;
  /** The zone of a node: its claim's word before its own label. */
  zoneOf(node: NodeView): string | undefined;
  /** Those that have a node. */
  zones(): Iterable<string>;
  /** How many nodes a zone has. */
  nodeCountIn(zone: string): number;

  claim(name: string): ClaimView | undefined;
  claims(): Iterable<ClaimView>;
  readonly claimCount: number;
  /** Those that were registered and whose Node object has vanished, as their own Ready condition says. */
  nodelessClaims(): readonly ClaimView[];
  /** By providerID. Undefined when there is none or more than one: a doubtful node is nobody's. */
  claimOf(node: NodeView): ClaimView | undefined;
  /** Usually one; several mean that the providerID is not unique. */
  nodesOf(claim: ClaimView): readonly NodeView[];
  nodesWith(providerID: string): readonly NodeView[];
  claimsOfPool(pool: string): Iterable<ClaimView>;
  claimCountOfPool(pool: string): number;
  totalsOfPool(pool: string): PoolTotals;
  /** Nodes whose claim is of the pool. */
  nodesOfPool(pool: string): Iterable<NodeView>;

  podsOn(nodeName: string): Iterable<PodView>;
  pod(namespace: string, name: string): PodView | undefined;
  /** For those who count, not for rules. */
  readonly podCountByPhase?: ReadonlyMap<PodView["phase"], number>;
  budgetsOver(pod: PodView): readonly DisruptionBudgetView[];
  attachmentsOn(nodeName: string): Iterable<AttachmentView>;
  /** The PersistentVolume behind a pod's claim. */
  volumeOf(namespace: string, volumeClaim: string): string | undefined;

  /** When there is a reason to search a place for pods. */
  readonly pending: Pending;
  /** Pods that want a node: no node can take them, or theirs is going away. */
  wantingPods(): Iterable<PodView>;
  wantsNode(pod: PodView): boolean;
  /** What the last search said of a pod that wants a node; undefined: nothing yet that still holds. */
  placementOf(podUid: string): Placement | undefined;
  /** The node that was last named to the scheduler for a pod that waits, though it may have taken the name out since. */
  namedFor(podUid: string): string | undefined;
  /** Claims that pods need of a pool and that do not exist yet. */
  plannedClaims(pool: string): readonly PlannedClaim[];

  /** Pods that are to come to a claim, by its name, and are not bound yet. */
  expectedOn(claim: string): readonly PodView[];
  /** Pods that are to come to the node, or to its claim: what the last search said of them still stands. */
  podsExpectedOn(node: NodeView): readonly PodView[];
  /** When pods that could run elsewhere came to nodes or went from them. */
  readonly podEvents: PodEventsView;

  /** When there is a reason to search for moves again. */
  readonly moves: MoveSearch;
  /** Where the pods of a node would go; undefined: nobody has searched, or what was found stands no longer. */
  moveOf(nodeUid: string): Move | undefined;
  /** Why consolidation leaves the node; undefined: nobody has looked yet, or it would not. */
  stayOf(nodeUid: string): Stay | undefined;
  /** An open action whose pods are to go to this node, which is there already. */
  goingOnto(nodeName: string): ActionView | undefined;

  pool(name: string): PoolView | undefined;
  pools(): Iterable<PoolView>;

  action(name: string): ActionView | undefined;
  /** Every action, finished ones included. */
  actions(): Iterable<ActionView>;
  /** Not finished and carried out, also one that is only provisional yet; of dry runs see `dryRunsOn`. */
  openActionOn(nodeUid: string): ActionView | undefined;
  /** All of them, finished ones and dry runs included. */
  actionsOn(nodeUid: string): readonly ActionView[];
  openActions(): Iterable<ActionView>;
  /** Those that were decided as one command, finished ones and dry runs included. */
  actionsOfBatch(batch: string): readonly ActionView[];
  /** Those that take the claim away or wait for it to come up, finished ones included. */
  actionsOfClaim(claimName: string): readonly ActionView[];
  dryRunsOn(nodeUid: string): readonly ActionView[];
  /** Shown only, and not over. */
  dryRuns(): Iterable<ActionView>;
  /** Finished at or after the instant, newest last; dry runs are left out. */
  finishedSince(at: Instant): Iterable<ActionView>;
  readonly finishedCount: number;
  /** The ledger: what is unavailable now, whoever asked. */
  departures(): Iterable<Departure>;
  departuresOf(pool: string): readonly Departure[];
  readonly departureCount: number;

  /** Health checks, and what they work with. */
  readonly checks: CheckPicture;
  readonly safety: SafetyView;
  readonly provider: ProviderView;
  /** What holds where nobody says anything of repair, --repair-unset. Default on. */
  readonly repairUnset?: "on" | "off";
  instance(providerID: string): InstanceView | undefined;
  /** The last complete list of the provider's instances. */
  readonly instanceList: InstanceListView | undefined;
  /** Of that list, those that no claim knows, by providerID or by tag. */
  unclaimedInstances(): Iterable<ListedInstance>;
  /** Claims that had been launched well before that list was made, and whose instance is not in it. */
  unlistedClaims(): Iterable<ClaimView>;

  /** Of the last command on the object, by the key of its lane (decide/lane.ts `laneOf`). */
  failure(lane: string): FailureView | undefined;
  /** Something is older than it may be: nothing destructive is decided. */
  readonly staleness: Staleness | undefined;
  readonly rival?: Rival | undefined;
  /** How far our clock is ahead of the API server's, negative: behind. Absent: they agree, as far as anybody knows. */
  readonly clockAheadMs?: Millis | undefined;
};
