// Pods that want a node, what the last search said of each, and the claims that it wants made for them. Kept with every
// change: an answer about a pod goes when what it rests on does, and then the pod waits for the next search.

import type { Instant } from "../api/time.ts";
import { bindingMs, claimExpiry, earliest, Expectations, type Place } from "./expectations.ts";
import type { Kind, View } from "./kind.ts";
import { Nominations } from "./nominations.ts";
import type { Handlers, LookUps } from "./pending-parts.ts";
import { type Pending, type Placement, type Plan, type PlannedClaim, poolVersion } from "./placement.ts";
import type { Change } from "./tables.ts";
import type { ActionView, ClaimView, NodeView, PodView, PoolView } from "./views.ts";
import { byName, isComing, isInitialized, isPlaced, takesPods, turnedDownBy, wantsNode } from "./wanting.ts";

/** So many pods of an answer are settled at a time: what a turn then says of them is no long turn. */
const pieceMax = 100;

export class PendingPods {
  readonly #look: LookUps;
  readonly #handlers: Handlers;
  readonly #wanting = new Map<string, PodView>();
  /** Nodes that are going away: what runs there wants another. */
  readonly #going = new Set<string>();
  /** Since when, in the order in which they came. */
  readonly #waiting = new Map<string, Instant>();
  readonly #placements = new Map<string, Placement>();
  readonly #expected = new Expectations();
  readonly #nominations = new Nominations((pod, node) => this.#roomChanged(pod, node));
  readonly #planned = new Map<string, PlannedClaim>();
  #lastAt: Instant = 0;
  #stuckCount = 0;
  #isSupplyChanged = false;
  #searchedAt: Instant = Number.NEGATIVE_INFINITY;
  #lookAgainAt: Instant | undefined;

  constructor(look: LookUps, handlers: Handlers) {
    this.#look = look;
    this.#handlers = handlers;
  }

  /** What was found so far, for a picture of the same views. */
  adopt(other: PendingPods): void {
    this.#nominations.adopt(other.#nominations);
    for (const pod of this.#nominations.named()) this.#judgePod(pod);
    this.#waiting.clear();
    for (const [uid, since] of other.#waiting) this.#waiting.set(uid, since);
    for (const [uid, placement] of other.#placements) this.#placements.set(uid, placement);
    for (const [name, claim] of other.#planned) this.#planned.set(name, claim);
    this.#expected.adopt(other.#expected);
    this.#lastAt = other.#lastAt;
    this.#stuckCount = other.#stuckCount;
    this.#isSupplyChanged = other.#isSupplyChanged;
    this.#searchedAt = other.#searchedAt;
    this.#lookAgainAt = other.#lookAgainAt;
  }

  get summary(): Pending {
    const [openedAt] = this.#waiting.values();
    return {
      batch: openedAt === undefined ? undefined : { openedAt, lastAt: this.#lastAt },
      batchCount: this.#waiting.size,
      expectedCount: this.#placements.size - this.#stuckCount,
      expiresAt: earliest([this.#expected.nextAt, this.#nominations.nextAt]),
      stuckCount: this.#stuckCount,
      isSupplyChanged: this.#isSupplyChanged,
      searchedAt: this.#searchedAt,
      lookAgainAt: this.#lookAgainAt,
    };
  }

  wanting(): readonly PodView[] {
    return [...this.#wanting.values()].sort(byName);
  }

  wants({ uid }: PodView): boolean {
    return this.#wanting.has(uid);
  }

  isGoing(nodeName: string): boolean {
    return this.#going.has(nodeName);
  }

  placementOf(podUid: string): Placement | undefined {
    return this.#placements.get(podUid) ?? this.#nominations.placementOf(podUid);
  }

  /** The node that was last named for it by our word, though its name may have been taken out since. */
  namedFor(podUid: string): string | undefined {
    return this.#nominations.ownOf(podUid);
  }

  /** Those that are to be on a claim, and are not bound yet. */
  expectedOn(claim: string): readonly PodView[] {
    return this.#expected.on("claim", claim).flatMap(uid => this.#wanting.get(uid) ?? []);
  }

  /** Also those for whom somebody else has room kept there. */
  expectedOnNode(name: string): readonly PodView[] {
    const expected = this.#expected.on("node", name).flatMap(uid => this.#wanting.get(uid) ?? []);
    return [...expected, ...this.#nominations.believedOn(name)];
  }

  plannedOf(pool: string): readonly PlannedClaim[] {
    return [...this.#planned.values()].filter(planned => planned.pool === pool);
  }

  changed(kind: Kind, { before, after }: Change<View>): void {
    // The kind says which views these are.
    if (kind === "pod") this.#podChanged({ before, after } as Change<PodView>);
    if (kind === "node") this.#nodeChanged({ before, after } as Change<NodeView>);
    if (kind === "claim") this.#claimChanged({ before, after } as Change<ClaimView>);
    if (kind === "action") {
      for (const action of [before, after] as (ActionView | undefined)[]) {
        this.#judgeNode(this.#look.nodeByUid(action?.spec.node.uid ?? "")?.name);
      }
    }
    if (kind === "pool") this.#poolChanged({ before, after } as Change<PoolView>);
    const isSupply = kind !== "pod" || [before, after].some(pod => pod !== undefined && "nodeName" in pod);
    if (isSupply) this.supplyChanged();
  }

  /** Something that pods without a place may be glad of: those too of which a search is just about to say so. */
  supplyChanged(): void {
    if (this.#isSupplyChanged) return;
    this.#isSupplyChanged = true;
    if (this.#stuckCount > 0) this.#handlers.mark("cluster");
  }

  /** A search begins: answers that have been waited for long enough are no longer counted on. */
  begin(now: Instant): void {
    for (const { kind, name } of this.#expected.due(now)) this.#release(kind, name);
    for (const pod of this.#nominations.due(now)) {
      this.#nominations.own(pod);
      this.#judgePod(pod);
    }
    this.#isSupplyChanged = false;
    this.#handlers.mark("cluster");
  }

  /** A search has come to nothing: what it would have answered is still to be asked. */
  abandon(): void {
    this.supplyChanged();
  }

  /** Those that want a node and are expected nowhere. */
  unplaced(): readonly PodView[] {
    return this.wanting().filter(({ uid }) => !isPlaced(this.#placements.get(uid)));
  }

  /**
   * A search has ended. Of its answer only that is kept of which everything it rests on still stands. A piece at a time,
   * for turns may come between: each claim with its pods, then everybody else.
   */
  *settling({ at, placements, claims, lookAgainAt }: Plan): Generator<void, void> {
    let count = 0;
    for (const claim of claims) {
      if (!this.#stands(claim)) continue;
      this.#planned.set(claim.name, claim);
      for (const uid of claim.pods) this.#settlePod(uid, placements.get(uid));
      this.#expect("claim", claim.name);
      this.#markPool(claim.pool);
      const before = count;
      count += claim.pods.length;
      if (Math.floor(before / pieceMax) < Math.floor(count / pieceMax)) yield;
    }
    const places = new Set<Place | undefined>();
    for (const [uid, placement] of placements) {
      places.add(this.#settlePod(uid, placement));
      if (++count % pieceMax === 0) yield;
    }
    for (const place of places) if (place !== undefined) this.#expect(place.kind, place.name);
    this.#searchedAt = at;
    this.#lookAgainAt = lookAgainAt;
    this.#handlers.mark("cluster");
  }

  #settlePod(uid: string, placement: Placement | undefined): Place | undefined {
    const pod = this.#wanting.get(uid);
    if (pod === undefined || placement === undefined || isPlaced(this.#placements.get(uid))) return undefined;
    const isThere = placement.on === "nothing" || this.#isThere(placement.on, placement.name);
    if (isThere) return this.#place(pod, placement);
    this.#wait(pod);
    return undefined;
  }

  #podChanged({ before, after }: Change<PodView>): void {
    if (before !== undefined && before.uid !== after?.uid) {
      this.#nominations.forget(before);
      this.#leave(before);
    }
    if (after === undefined) return;
    if (after.nodeName !== undefined && before?.nodeName === undefined) this.#bound(after, after.nodeName);
    this.#judgePod(after);
    if (before === undefined || before.nominatedNode === after.nominatedNode) return;
    return this.#isTurnedAway(before, after) ? this.#askAnew(after) : this.toldOtherwise(after);
  }

  /** Twice on an open node: somebody else has the room that we count on. Told again, it would wait as long as we do. */
  #isTurnedAway(before: PodView, after: PodView): boolean {
    const node = turnedDownBy(before, after) ?? "";
    const claims = this.#look.claimsWith(this.#look.node(node)?.providerID);
    return this.#isPlacedOn(after.uid, node) && claims.every(isInitialized) && this.#nominations.failed(after, node);
  }

  /** By our own word, which is sent now: the watch may be quicker than the answer, and its place may change meanwhile. */
  named(podUid: string, nodeName: string): void {
    const pod = this.#wanting.get(podUid);
    if (pod === undefined) return;
    this.#nominations.own({ uid: podUid, nominatedNode: nodeName });
    this.toldOtherwise(pod);
  }

  /** It may have to be told anew, and its node may wait for it to be told. */
  toldOtherwise(pod: PodView): void {
    if (!this.#wanting.has(pod.uid)) return;
    this.#markPod(pod);
    const placement = this.#placements.get(pod.uid);
    if (isPlaced(placement)) this.#markPlace(placement);
  }

  #nodeChanged({ before, after }: Change<NodeView>): void {
    for (const node of [before, after]) this.#judgeNode(node?.name);
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      for (const claim of this.#look.claimsWith(providerID)) this.#markExpected(claim);
    }
  }

  /**
   * Where it was not expected, it may have taken the room of those who are: they are asked about again. Not those for whom
   * the scheduler keeps their room, nor those who still run where a move takes them from: in the end there is room for all.
   */
  #bound({ uid, ownerKind, isStatic }: PodView, nodeName: string): void {
    // Room for what belongs to its node is set aside.
    if (ownerKind === "DaemonSet" || isStatic) return;
    const claims = this.#look.claimsWith(this.#look.node(nodeName)?.providerID);
    const places: Place[] = [
      { kind: "node", name: nodeName },
      ...claims.map(({ name }) => ({ kind: "claim", name }) as const),
    ];
    const placement = this.#placements.get(uid);
    const isExpected = places.some(({ kind, name }) => placement?.on === kind && placement.name === name);
    if (isExpected) return;
    const isMeant = (pod: PodView) => pod.nominatedNode !== nodeName && !this.#isPromised(pod);
    for (const { kind, name } of places) this.#release(kind, name, isMeant);
  }

  #judgePod(pod: PodView): void {
    const isPending = wantsNode(pod, this.#going);
    if (!isPending) this.#nominations.forget(pod);
    if (!isPending || this.#isLeftToOthers(pod)) return this.#leave(pod);
    const before = this.#wanting.get(pod.uid);
    this.#wanting.set(pod.uid, pod);
    // Bound to a node that is going, it still wants one; what is said of it is said of its successor now.
    if (before !== undefined && before.nodeName !== pod.nodeName) this.toldOtherwise(pod);
    if (!this.#placements.has(pod.uid) && !this.#waiting.has(pod.uid)) this.#promiseOrWait(pod);
  }

  /** Of whom a search has said where it goes when its node was chosen to, no other search need. */
  #promiseOrWait(pod: PodView): void {
    const name = pod.nodeName === undefined ? undefined : this.#handlers.promisedTo(pod);
    if (name === undefined || !this.#isThere("node", name)) return this.#wait(pod);
    this.#place(pod, { on: "node", name, at: this.#handlers.now(), isPromised: true });
    this.#expect("node", name);
  }

  #isPromised({ uid }: PodView): boolean {
    const placement = this.#placements.get(uid);
    return isPlaced(placement) && placement.isPromised === true;
  }

  /** It wants no node any more. */
  #leave(pod: PodView): void {
    if (!this.#wanting.delete(pod.uid)) return;
    const placement = this.#forget(pod);
    const [first] = this.#waiting.keys();
    this.#waiting.delete(pod.uid);
    if (first === pod.uid) this.#handlers.mark("cluster");
    this.#markPod(pod);
    const planned = placement?.on === "claim" ? this.#planned.get(placement.name) : undefined;
    if (planned !== undefined && !this.#isStillWanted(planned)) this.#release("claim", planned.name);
  }

  /** Somebody else has said where it goes, and that can still be. */
  #isLeftToOthers(pod: PodView): boolean {
    const { uid, nominatedNode: node = "" } = pod;
    const isOurs = this.#isPlacedOn(uid, node);
    this.#nominations.heard(pod, { isOurs, isThere: this.#isThere("node", node), now: this.#handlers.now() });
    return this.#nominations.placementOf(uid) !== undefined;
  }

  #roomChanged(pod: PodView, node: string): void {
    this.#handlers.moved(pod);
    this.#handlers.mark(`node/${node}`);
    this.#handlers.mark("cluster");
  }

  #isPlacedOn(podUid: string, nodeName: string): boolean {
    const placement = this.#placements.get(podUid);
    if (placement?.on !== "claim") return placement?.on === "node" && placement.name === nodeName;
    return this.#look.nodesWith(this.#look.claim(placement.name)?.providerID).some(({ name }) => name === nodeName);
  }

  #judgeNode(name: string | undefined): void {
    if (name === undefined) return;
    const node = this.#look.node(name);
    const isGoing = node !== undefined && this.#isGoing(node);
    if (node === undefined || isGoing) this.#release("node", name);
    const isOtherwise = isGoing !== this.#going.has(name);
    if (isGoing) this.#going.add(name);
    else this.#going.delete(name);
    for (const pod of this.#nominations.named(name)) this.#judgePod(pod);
    if (isOtherwise) for (const pod of this.#look.podsOn(name)) this.#judgePod(pod);
  }

  #isGoing({ uid, deletingSince, providerID }: NodeView): boolean {
    const action = this.#look.openActionOn(uid);
    if (deletingSince !== undefined || (action !== undefined && takesPods(action))) return true;
    return this.#look.claimsWith(providerID).some(claim => claim.deletingSince !== undefined);
  }

  #claimChanged({ before, after }: Change<ClaimView>): void {
    const name = (after ?? before)?.name ?? "";
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      for (const node of this.#look.nodesWith(providerID)) this.#judgeNode(node.name);
    }
    if (after !== undefined && before?.providerID !== after.providerID) this.#markExpected(after);
    if (after !== undefined && after.isProvisional !== true && this.#planned.delete(name)) this.#markPool(after.pool);
    const wasMade = before !== undefined && before.isProvisional !== true;
    if (after === undefined ? wasMade : !isComing(after)) this.#release("claim", name);
    else this.#expect("claim", name);
  }

  #poolChanged({ before, after }: Change<PoolView>): void {
    const name = (after ?? before)?.name ?? "";
    if (before?.effective.podPlacement !== after?.effective.podPlacement) {
      for (const pod of this.#wanting.values()) this.toldOtherwise(pod);
    }
    for (const claim of this.plannedOf(name)) if (!this.#stands(claim)) this.#release("claim", claim.name);
  }

  #stands(claim: PlannedClaim): boolean {
    const view = this.#look.pool(claim.pool);
    return view !== undefined && poolVersion(view) === claim.poolVersion && this.#isStillWanted(claim);
  }

  /**
   * By most of its pods, if not by all: where pods come and go all the time, a claim for many of them would else never be
   * made. Its room is there for others.
   */
  #isStillWanted({ pods }: PlannedClaim): boolean {
    const count = pods.reduce((sum, uid) => sum + (this.#wanting.has(uid) ? 1 : 0), 0);
    return count * 10 > pods.length * 9 || count === pods.length;
  }

  #isThere(on: "claim" | "node", name: string): boolean {
    if (on === "node") return this.#look.node(name) !== undefined && !this.#going.has(name);
    const claim = this.#look.claim(name);
    return this.#planned.has(name) || (claim !== undefined && isComing(claim));
  }

  /** Where it is expected from now on. */
  #place(pod: PodView, placement: Placement): Place | undefined {
    this.#forget(pod);
    this.#waiting.delete(pod.uid);
    this.#placements.set(pod.uid, placement);
    this.#markPod(pod);
    if (placement.on === "nothing") {
      this.#stuckCount++;
      return undefined;
    }
    this.#handlers.moved(pod);
    this.#markPlace(placement);
    return this.#expected.add({ kind: placement.on, name: placement.name }, pod.uid, placement.at);
  }

  /** Until when pods are expected there. */
  #expect(on: "claim" | "node", name: string): void {
    const at = this.#expected.lastAt(on, name);
    if (at === undefined) return;
    // One that still runs elsewhere keeps the room for its successor.
    const isAwaited = this.#expected.on(on, name).some(uid => this.#wanting.get(uid)?.nodeName === undefined);
    const until = on === "node" ? at + bindingMs : claimExpiry(this.#look.claim(name), at);
    this.#expected.until(on, name, isAwaited ? until : undefined);
    this.#handlers.mark("cluster");
  }

  /** Nobody is expected there any more: the pods wait for the next search. */
  #release(on: "claim" | "node", name: string, isMeant: (pod: PodView) => boolean = () => true): void {
    const planned = on === "claim" ? this.#planned.get(name) : undefined;
    if (planned !== undefined && this.#planned.delete(name)) this.#markPool(planned.pool);
    for (const uid of this.#expected.on(on, name)) {
      const pod = this.#wanting.get(uid);
      if (pod !== undefined && isMeant(pod)) this.#askAnew(pod);
    }
  }

  #askAnew(pod: PodView): void {
    this.#forget(pod);
    this.#wait(pod);
    this.#markPod(pod);
  }

  #forget(pod: PodView): Placement | undefined {
    const placement = this.#placements.get(pod.uid);
    this.#placements.delete(pod.uid);
    if (placement === undefined) return undefined;
    if (placement.on === "nothing") this.#stuckCount--;
    else {
      this.#expected.remove(placement.on, placement.name, pod.uid);
      this.#handlers.moved(pod);
      this.#markPlace(placement);
    }
    this.#handlers.mark("cluster");
    return placement;
  }

  #wait(pod: PodView): void {
    const now = this.#handlers.now();
    this.#waiting.delete(pod.uid);
    this.#waiting.set(pod.uid, now);
    this.#lastAt = now;
    // Not the pod: as long as no search has spoken of it, nothing is said of it, however many come at once.
    this.#handlers.mark("cluster");
  }

  /** Who is expected on a node keeps it. */
  #markPlace({ on, name }: Placement & { readonly on: "claim" | "node" }): void {
    const nodes = on === "node" ? [{ name }] : this.#look.nodesWith(this.#look.claim(name)?.providerID);
    for (const node of nodes) this.#handlers.mark(`node/${node.name}`);
    if (on === "claim") this.#handlers.mark(`claim/${name}`);
  }

  #markPod({ namespace, name }: PodView): void {
    this.#handlers.mark(`pod/${namespace}/${name}`);
  }

  /** Those who are to come may learn the name of their node, or that it is up. */
  #markExpected({ name, pool = "", providerID }: ClaimView): void {
    if (this.#look.pool(pool)?.effective.podPlacement !== "Planned") return;
    const onNodes = this.#look.nodesWith(providerID).flatMap(node => this.#expected.on("node", node.name));
    for (const uid of [...this.#expected.on("claim", name), ...onNodes]) {
      const pod = this.#wanting.get(uid);
      if (pod !== undefined) this.#markPod(pod);
    }
  }

  #markPool(pool: string | undefined): void {
    if (pool !== undefined) this.#handlers.mark(`pool/${pool}`);
  }
}
