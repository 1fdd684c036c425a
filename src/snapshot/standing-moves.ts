// Moves that searches have found, each for as long as it stands: it goes with any change of a node that would go or would
// take pods, of the pods there, of a pool that it reckoned with, or of the provider's word. Whoever read it is told.

import { isEqual } from "../api/schema/correlate.ts";
import type { Instant } from "../api/time.ts";
import type { Kind, View } from "./kind.ts";
import { isOpen, MoveTargets } from "./move-targets.ts";
import type { FoundMove, Move, MoveSearch, MovesFound, Stay } from "./moves.ts";
import type { Subject } from "./picture.ts";
import { poolVersion } from "./placement.ts";
import type { Change } from "./tables.ts";
import type { ActionView, ClaimView, NodeView, PodView, PoolView } from "./views.ts";
import { isInitialized } from "./wanting.ts";

type LookUps = {
  node(name: string): NodeView | undefined;
  nodeByUid(uid: string): NodeView | undefined;
  claim(name: string): ClaimView | undefined;
  nodesWith(providerID: string | undefined): readonly NodeView[];
  openActionOn(nodeUid: string): ActionView | undefined;
  actionsOfBatch(batch: string): readonly ActionView[];
};

/** Read by every search at its root: with a change in one of them nothing stands. */
const foundations: ReadonlySet<Kind> = new Set<Kind>(["daemon-set", "namespace", "storage-class"]);

export class StandingMoves {
  readonly #look: LookUps;
  readonly #mark: (subject: Subject) => void;
  readonly #foundByUid = new Map<string, FoundMove>();
  /** By name: nodes that would go. */
  readonly #foundByGoing = new Map<string, FoundMove>();
  /** By name: nodes that would take pods, the claims to be made, and the pools. */
  readonly #foundByTarget = new Map<string, Set<FoundMove>>();
  readonly #foundByClaim = new Map<string, FoundMove>();
  readonly #targets: MoveTargets;
  #stays: ReadonlyMap<string, Stay> = new Map();
  /** Nodes whose move leaves pods without a place. */
  #stuckCount = 0;
  #isSupplyChanged = false;
  #searchedAt: Instant = Number.NEGATIVE_INFINITY;
  #lookAgainAt: Instant | undefined;
  /** What has changed since the search that is under way began; undefined: none is. */
  #changed: { readonly hosts: Set<string>; readonly going: Set<string>; isAll: boolean } | undefined;

  constructor(look: LookUps, mark: (subject: Subject) => void) {
    this.#look = look;
    this.#mark = mark;
    this.#targets = new MoveTargets(look, mark);
  }

  adopt(other: StandingMoves): void {
    for (const found of other.all()) {
      this.#put(found);
      for (const { name } of found.move.nodes) if (other.#foundByGoing.get(name) !== found) this.#forget(found, name);
    }
    this.#targets.adopt(other.#targets);
    this.#stays = other.#stays;
    this.#isSupplyChanged = other.#isSupplyChanged;
    this.#searchedAt = other.#searchedAt;
    this.#lookAgainAt = other.#lookAgainAt;
  }

  get summary(): MoveSearch {
    const heldCount = this.#stays.size + this.#stuckCount;
    return {
      heldCount,
      isSupplyChanged: this.#isSupplyChanged,
      searchedAt: this.#searchedAt,
      lookAgainAt: this.#lookAgainAt,
    };
  }

  of(nodeUid: string): Move | undefined {
    return this.#foundByUid.get(nodeUid)?.move;
  }

  stayOf(nodeUid: string): Stay | undefined {
    return this.#stays.get(nodeUid);
  }

  goingOnto(nodeName: string): ActionView | undefined {
    return this.#targets.actionFor(nodeName);
  }

  /** The node that was found for a pod when its own was chosen to go. */
  promisedTo(pod: PodView): string | undefined {
    const batch = this.#batchOf(pod);
    return batch === undefined ? undefined : this.#targets.placeOf(batch, `${pod.namespace}/${pod.name}`);
  }

  /** The same, or the node of the claim that was made for it. */
  plannedPlaceOf(pod: PodView): string | undefined {
    const claim = this.#look.claim(this.#targets.claimFor(this.#batchOf(pod) ?? "", pod.uid) ?? "");
    const [node] = claim === undefined ? [] : this.#look.nodesWith(claim.providerID);
    return node?.name ?? this.promisedTo(pod);
  }

  #batchOf({ nodeName = "" }: PodView): string | undefined {
    return this.#look.openActionOn(this.#look.node(nodeName)?.uid ?? "")?.spec.batch;
  }

  /** Each once. */
  all(): readonly FoundMove[] {
    return [...new Set(this.#foundByUid.values())];
  }

  /** A search begins: from here on all that changes is remembered, for its answer will not know. */
  begin(): void {
    this.#changed = { hosts: new Set(), going: new Set(), isAll: false };
    this.#isSupplyChanged = false;
    this.#mark("cluster");
  }

  /** It has come to nothing. */
  abandon(): void {
    this.#changed = undefined;
    this.#supplyChanged();
  }

  /** It has ended. Of its answer only that is kept of which everything it rests on still stands. */
  settle(
    { at, moves, stays, unanswered, lookAgainAt }: MovesFound,
    versionOf: (pool: string) => string | undefined,
  ): void {
    const changed = this.#changed;
    this.#changed = undefined;
    const stands = ({ move, places, poolVersions }: FoundMove) =>
      changed?.isAll === false &&
      !move.nodes.some(({ name }) => changed.going.has(name)) &&
      ![...places.values()].some(name => changed.hosts.has(name)) &&
      [...poolVersions].every(([pool, version]) => versionOf(pool) === version);
    const standing = moves.filter(stands);
    // What changed before the search came to its end is asked about again.
    for (const found of moves) if (!standing.includes(found)) this.#tell(found);
    for (const name of unanswered) this.#mark(`node/${name}`);
    for (const found of standing) {
      for (const { uid } of found.move.nodes) this.#dropOf(this.#foundByUid.get(uid));
      this.#put(found);
    }
    const before = this.#stays;
    this.#stays = stays;
    for (const uid of new Set([...before.keys(), ...stays.keys()])) {
      const node = this.#look.nodeByUid(uid);
      if (node !== undefined && !isEqual(before.get(uid), stays.get(uid))) this.#mark(`node/${node.name}`);
    }
    this.#searchedAt = at;
    this.#lookAgainAt = lookAgainAt;
    this.#mark("cluster");
  }

  changed(kind: Kind, change: Change<View>): void {
    // The kind says which views the change is of.
    if (kind === "node") this.#nodeChanged(change as Change<NodeView>);
    else if (kind === "pod") this.#podChanged(change as Change<PodView>);
    else if (kind === "claim") this.#claimChanged(change as Change<ClaimView>);
    else if (kind === "pool") this.#poolChanged(change as Change<PoolView>);
    else if (kind === "action") this.#actionChanged(change as Change<ActionView>);
    else if (foundations.has(kind)) this.allChanged();
  }

  /** What the provider has to offer, or something at the root of all. */
  allChanged(): void {
    if (this.#changed !== undefined) this.#changed.isAll = true;
    for (const found of this.all()) this.#dropOf(found);
    this.#supplyChanged();
  }

  /** Somebody is expected on the node who was not before. */
  nominated(nodeName: string): void {
    this.#hostChanged(nodeName);
  }

  #nodeChanged({ before, after }: Change<NodeView>): void {
    const name = (after ?? before)?.name ?? "";
    if (isEqual(roomOf(before), roomOf(after))) return;
    this.#hostChanged(name);
    // What we put on it ourselves before it goes changes nothing for its pods.
    if (before?.uid !== after?.uid || after?.deletingSince !== undefined) this.#leaves(name);
    this.#supplyChanged();
  }

  #podChanged({ before, after }: Change<PodView>): void {
    if (isEqual(demandOf(before), demandOf(after))) return;
    for (const pod of [before, after]) {
      if (pod?.nodeName === undefined) continue;
      this.#hostChanged(pod.nodeName);
      const staysBehind = pod.isStatic || pod.ownerKind === "DaemonSet";
      if (!staysBehind) this.#goingChanged(pod.nodeName);
      this.#supplyChanged();
    }
  }

  #claimChanged({ before, after }: Change<ClaimView>): void {
    const made = after && isInitialized(after) ? this.#foundByClaim.get(after.name) : undefined;
    this.#dropOf(made);
    if (isEqual(lifeOf(before), lifeOf(after))) return;
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      for (const { name } of this.#look.nodesWith(providerID)) {
        this.#hostChanged(name);
        this.#leaves(name);
      }
    }
    this.#supplyChanged();
  }

  #poolChanged({ before, after }: Change<PoolView>): void {
    const version = after && poolVersion(after);
    if (before && poolVersion(before) === version) return;
    const { name } = after ?? before ?? { name: "" };
    for (const found of this.all()) {
      const known = found.poolVersions.get(name);
      if (known !== undefined && known !== version) this.#dropOf(found);
    }
    this.#supplyChanged();
  }

  // A node that is to go takes no pods. Of those that go by the move itself nothing changes.
  #actionChanged({ before, after }: Change<ActionView>): void {
    for (const action of [before, after]) if (action !== undefined) this.#hostChanged(action.spec.node.name);
    // First, while it is still known where their pods were to go.
    this.#targets.actionChanged({ before, after });
    if (before !== undefined && isOpen(before) && !(after && isOpen(after))) this.#actionOver(before);
    this.#supplyChanged();
  }

  /** What was given up is not tried again as the same: with the next search it is another move. */
  #actionOver({ spec, isProvisional }: ActionView): void {
    const found = this.#foundByUid.get(spec.node.uid);
    if (!isProvisional && found?.move.batch === spec.batch) this.#dropOf(found);
  }

  #hostChanged(name: string): void {
    this.#changed?.hosts.add(name);
    for (const found of this.#foundByTarget.get(name) ?? []) this.#dropOf(found);
  }

  /** It goes, by the move or otherwise: for those that were to go with it nothing else has changed. */
  #leaves(name: string): void {
    this.#changed?.going.add(name);
    const found = this.#foundByGoing.get(name);
    if (found === undefined) return;
    this.#forget(found, name);
    this.#tell(found);
    if (!found.move.nodes.some(node => this.#foundByGoing.get(node.name) === found)) this.#dropOf(found);
  }

  #goingChanged(name: string): void {
    this.#changed?.going.add(name);
    this.#dropOf(this.#foundByGoing.get(name));
  }

  #supplyChanged(): void {
    if (this.#isSupplyChanged) return;
    this.#isSupplyChanged = true;
    if (this.summary.heldCount > 0) this.#mark("cluster");
  }

  #put(found: FoundMove): void {
    for (const node of found.move.nodes) {
      if (found.move.stuck.length > 0) this.#stuckCount++;
      this.#foundByUid.set(node.uid, found);
      this.#foundByGoing.set(node.name, found);
    }
    for (const name of found.places.values()) {
      const users = this.#foundByTarget.get(name);
      if (users === undefined) this.#foundByTarget.set(name, new Set([found]));
      else users.add(found);
    }
    for (const { name } of found.move.claims) this.#foundByClaim.set(name, found);
    this.#targets.put(found);
    this.#tell(found);
  }

  #dropOf(found: FoundMove | undefined): void {
    if (found === undefined) return;
    for (const { name } of found.move.nodes) this.#forget(found, name);
    for (const name of found.places.values()) {
      const users = this.#foundByTarget.get(name);
      if (users?.delete(found) && users.size === 0) this.#foundByTarget.delete(name);
    }
    for (const { name } of found.move.claims) this.#foundByClaim.delete(name);
    this.#targets.dropped(found.move.batch);
    this.#tell(found);
  }

  #forget(found: FoundMove, nodeName: string): void {
    const node = found.move.nodes.find(({ name }) => name === nodeName);
    if (node === undefined || this.#foundByGoing.get(nodeName) !== found) return;
    if (found.move.stuck.length > 0) this.#stuckCount--;
    this.#foundByUid.delete(node.uid);
    this.#foundByGoing.delete(nodeName);
  }

  #tell({ move }: FoundMove): void {
    for (const { name, uid } of move.nodes) {
      this.#mark(`node/${name}`);
      const action = this.#look.openActionOn(uid);
      if (action !== undefined) this.#mark(`action/${action.name}`);
    }
    this.#mark("cluster");
  }
}

// What of a node decides who may run there.
function roomOf(node: NodeView | undefined): unknown {
  if (node === undefined) return undefined;
  const { uid, labels, taints, isCordoned, allocatable, deletingSince } = node;
  return { uid, labels, taints, isCordoned, allocatable, isGoing: deletingSince !== undefined };
}

// What of a pod decides where it may run, and who beside it.
function demandOf(pod: PodView | undefined): unknown {
  if (pod === undefined) return undefined;
  const { uid, nodeName, labels, needs, volumeClaims, deletionAt, phase } = pod;
  const hasEnded = phase === "Succeeded" || phase === "Failed";
  return { uid, nodeName, labels, needs, volumeClaims, isEnding: deletionAt !== undefined, hasEnded };
}

function lifeOf(claim: ClaimView | undefined): unknown {
  if (claim === undefined) return undefined;
  const { uid, pool, labels, providerID, deletingSince } = claim;
  return { uid, pool, labels, providerID, isGoing: deletingSince !== undefined, isInitialized: isInitialized(claim) };
}
