// The picture that the shell keeps and the rules read: what the watches show, with our own writes laid over it, and what
// the provider and our own calls have said. Tells who must be looked at again; decides nothing.

import type { KubeObject } from "../api/meta.ts";
import type { Instant, Millis } from "../api/time.ts";
import { CheckFeeds } from "./check-feeds.ts";
import {
  concernedByChange,
  concernedByFailure,
  concernedByInstance,
  concernedByProvider,
  concernedByRival,
  concernedByStaleness,
} from "./dependencies.ts";
import { type Effect, InFlight } from "./in-flight.ts";
import { IndexedPicture } from "./indexed-picture.ts";
import { type Identity, identityOf, type Kind, type View, type ViewByKind, versionOf } from "./kind.ts";
import type { Move, MoveSearch, MovesFound, Stay } from "./moves.ts";
import { PendingPods } from "./pending-pods.ts";
import { PodEvents } from "./pod-events.ts";
import type { FailureView, Picture, ProviderView, Rival, Staleness, Subject, SubjectKind } from "./picture.ts";
import { type Pending, type Placement, type Plan, type PlannedClaim, poolVersion } from "./placement.ts";
import { type Projection, type Projections, projections } from "./project.ts";
import type { PoolOptions } from "./project-policy.ts";
import { expectationOf, nameOf, type Sent } from "./sent.ts";
import { type Shortage, Shortages } from "./shortages.ts";
import { StandingMoves } from "./standing-moves.ts";
import type { Change } from "./tables.ts";
import type { ActionView, ClaimView, InstanceListView, InstanceView, NodeView, PodView } from "./views.ts";

/** `now`: for what is counted from when we saw it. */
type PictureOptions = PoolOptions & { readonly now?: () => Instant };
type Listener = (kind: Kind, change: Change<View>) => void;

/** What control/ports.ts `Feed` takes. */
type FeedOf<V> = {
  readonly project: (raw: KubeObject, previous: V | undefined) => V;
  readonly handlers: {
    readonly added: (view: V) => void;
    readonly updated: (view: V) => void;
    readonly deleted: (view: V) => void;
    readonly synced: () => void;
  };
};

export class ClusterPicture extends IndexedPicture implements Picture {
  /** Where what is fed of health checks goes in. */
  readonly checkFeeds = new CheckFeeds(this.checks);
  readonly repairUnset: "on" | "off";
  readonly #project: Projections;
  #provider: ProviderView;
  #instanceList: InstanceListView | undefined;
  #staleness: Staleness | undefined;
  #rival: Rival | undefined;
  #clockAheadMs: Millis | undefined;
  readonly #instances = new Map<string, InstanceView>();
  readonly #failures = new Map<string, FailureView>();
  readonly #inFlight: { readonly [K in Kind]: InFlight<ViewByKind[K]> } = {
    node: new InFlight(),
    claim: new InFlight({ isEachVersionNews: true }),
    pod: new InFlight(),
    pool: new InFlight(),
    action: new InFlight({ isEachVersionNews: true }),
    "safety-policy": new InFlight(),
    "disruption-budget": new InFlight(),
    attachment: new InFlight(),
    "volume-claim": new InFlight(),
    "daemon-set": new InFlight(),
    namespace: new InFlight(),
    volume: new InFlight(),
    "storage-class": new InFlight(),
    "csi-node": new InFlight(),
  };
  readonly #pending: PendingPods;
  readonly #moves: StandingMoves;
  readonly podEvents: PodEvents;
  readonly #shortages = new Shortages();
  readonly #listeners: Listener[] = [];
  #dirty = new Set<Subject>();
  /** Of a picture that is only compared with: nobody is asked by its changes. */
  #asksNobody = false;

  constructor(provider: ProviderView, { now = () => 0, ...options }: PictureOptions = {}) {
    super(now);
    this.#provider = provider;
    this.#project = projections(options);
    this.repairUnset = options.repairUnset ?? "on";
    this.#pending = new PendingPods(this, {
      now,
      mark: subject => this.#dirty.add(subject),
      moved: pod => this.#expectedElsewhere(pod),
      promisedTo: pod => this.#moves.promisedTo(pod),
    });
    this.#moves = new StandingMoves(this, subject => this.#dirty.add(subject));
    this.podEvents = new PodEvents(now);
  }

  /** The same views in a fresh picture: every look-up has to agree, however this one came to be. */
  static rebuilt(picture: ClusterPicture): ClusterPicture {
    const fresh = new ClusterPicture(picture.#provider, { repairUnset: picture.repairUnset });
    fresh.#asksNobody = true;
    fresh.checks.adopt(picture.checks);
    for (const { kind, view } of picture.everything()) fresh.put(kind, view);
    if (picture.#instanceList !== undefined) fresh.setInstanceList(picture.#instanceList);
    for (const instance of picture.#instances.values()) fresh.setInstance(instance);
    for (const [lane, failure] of picture.#failures) fresh.setFailure(lane, failure);
    fresh.setStaleness(picture.#staleness);
    fresh.setRival(picture.#rival);
    fresh.setClockAhead(picture.#clockAheadMs);
    fresh.#pending.adopt(picture.#pending);
    fresh.#moves.adopt(picture.#moves);
    fresh.podEvents.adopt(picture.podEvents);
    return fresh;
  }
  get provider(): ProviderView {
    return this.#provider;
  }
  get instanceList(): InstanceListView | undefined {
    return this.#instanceList;
  }
  get staleness(): Staleness | undefined {
    return this.#staleness;
  }
  get clockAheadMs(): Millis | undefined {
    return this.#clockAheadMs;
  }
  get rival(): Rival | undefined {
    return this.#rival;
  }
  instance(providerID: string): InstanceView | undefined {
    return this.#instances.get(providerID);
  }
  get pending(): Pending {
    return this.#pending.summary;
  }
  wantingPods(): readonly PodView[] {
    return this.#pending.wanting();
  }
  wantsNode(pod: PodView): boolean {
    return this.#pending.wants(pod);
  }
  placementOf(podUid: string): Placement | undefined {
    return this.#pending.placementOf(podUid);
  }
  namedFor(podUid: string): string | undefined {
    return this.#pending.namedFor(podUid);
  }
  named(podUid: string, nodeName: string): void {
    this.#pending.named(podUid, nodeName);
  }
  plannedClaims(pool: string): readonly PlannedClaim[] {
    return this.#pending.plannedOf(pool);
  }
  podsExpectedOn(node: NodeView): readonly PodView[] {
    const claim = this.claimOf(node);
    return [...this.#pending.expectedOnNode(node.name), ...(claim ? this.#pending.expectedOn(claim.name) : [])];
  }
  get moves(): MoveSearch {
    return this.#moves.summary;
  }
  moveOf(nodeUid: string): Move | undefined {
    return this.#moves.of(nodeUid);
  }
  stayOf(nodeUid: string): Stay | undefined {
    return this.#moves.stayOf(nodeUid);
  }
  goingOnto(nodeName: string): ActionView | undefined {
    return this.#moves.goingOnto(nodeName);
  }
  /** A search for moves begins, comes to nothing, or has found some. */
  beginMoves(): void {
    this.#moves.begin();
  }
  abandonMoves(): void {
    this.#moves.abandon();
  }
  settleMoves(found: MovesFound): void {
    const versionOf = (name: string) => {
      const pool = this.pool(name);
      return pool && poolVersion(pool);
    };
    this.#moves.settle(found, versionOf);
  }
  /** Those that stand: the room that they need is promised. */
  standingMoves(): Pick<StandingMoves, "all" | "plannedPlaceOf"> {
    return this.#moves;
  }
  /** Beside what rules read: what a search asks. Pods that are expected on a claim; nodes that are not to be used. */
  expectedOn(claim: string): readonly PodView[] {
    return this.#pending.expectedOn(claim);
  }
  isGoing(nodeName: string): boolean {
    return this.#pending.isGoing(nodeName);
  }
  shortages(now: Instant): readonly Shortage[] {
    return this.#shortages.at(now);
  }
  /** A search begins: who was expected somewhere for long enough is asked about again. */
  beginSearch(now: Instant): void {
    this.#pending.begin(now);
  }
  abandonSearch(): void {
    this.#pending.abandon();
  }
  unplacedPods(): readonly PodView[] {
    return this.#pending.unplaced();
  }
  /** Its answer, a piece at a time. What no longer stands of it is searched again. */
  settlingSearch(plan: Plan): Generator<void, void> {
    return this.#pending.settling(plan);
  }
  settleSearch(plan: Plan): void {
    for (const _ of this.settlingSearch(plan)) continue;
  }
  /** Told of every change; whoever keeps something beside the picture needs no more. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  failure(lane: string): FailureView | undefined {
    return this.#failures.get(lane);
  }

  /** What a feed of the kind needs. Every event passes here, also those in which nothing visible changed. */
  feed<K extends Kind>(kind: K): FeedOf<ViewByKind[K]> {
    return {
      project: (raw, previous) => {
        const view = this.#inFlight[kind].read(raw, () => this.#project[kind](raw, previous));
        const identity = identityOf(view);
        this.#inFlight[kind].saw(identity, raw.metadata.resourceVersion);
        // No handler will be called, and yet the watch may have caught up with a write of ours.
        if (view === previous) this.put(kind, view);
        return this.#inFlight[kind].asShown(view, this.get(kind, identity.name, identity.namespace));
      },
      handlers: {
        added: view => this.put(kind, view),
        updated: view => this.put(kind, view),
        deleted: view => this.remove(kind, view),
        synced: () => this.#relisted(kind),
      },
    };
  }

  /** As the watch shows it. */
  put<K extends Kind>(kind: K, view: ViewByKind[K]): void {
    this.#change(kind, identityOf(view), shown => this.#inFlight[kind].watched(view, shown));
  }

  /** The watch says that it is gone. */
  remove<K extends Kind>(kind: K, view: ViewByKind[K]): void {
    this.#change(kind, identityOf(view), shown => this.#inFlight[kind].removed(view, shown));
    this.#forgetFailure(kind, identityOf(view));
  }

  /** An object as the server has just answered it to us. It stands until the watch has caught up. */
  answered(kind: Kind, raw: KubeObject): void {
    // What a pool or a claim means is made of its spec with some work, and most of our writes are to the status.
    const shown = kind === "pool" || kind === "claim" ? this.get(kind, raw.metadata.name) : undefined;
    const previous = shown?.uid === raw.metadata.uid ? shown : undefined;
    // The kind says which view it is of; the compiler cannot see that the two go together.
    const project = this.#project[kind] as Projection<View>;
    this.wrote(kind, project(raw, previous), raw.metadata.resourceVersion);
  }

  /** The same for a view; the version is that of the answer, where the view does not keep it. */
  wrote<K extends Kind>(kind: K, view: ViewByKind[K], version = versionOf(view)): void {
    this.#change(kind, identityOf(view), shown => this.#inFlight[kind].wrote(view, version, shown));
  }

  /** The server says that it is gone, by an answer to us. A uid never comes back. */
  wroteGone(kind: Kind, name: string, uid: string, namespace = ""): void {
    this.#inFlight[kind].bury(uid);
    const shown = this.get(kind, name, namespace);
    if (shown !== undefined && identityOf(shown).uid === uid) this.#goneByAnswer(kind, shown);
    this.#forgetFailure(kind, { namespace, name });
  }

  /** A command is sent: whoever counts, counts it from now on. */
  expect(command: Sent, now: Instant): void {
    const expectation = expectationOf(command, now, name => this.action(name));
    if (expectation?.kind === "claim") this.#expect("claim", expectation);
    if (expectation?.kind === "action") this.#expect("action", expectation);
  }

  /** The command has come to nothing, and that is sure. One with an unknown end stays expected. */
  unexpect(command: Sent): void {
    const by = nameOf(command);
    if (by === undefined) return;
    this.#unexpect("claim", this.#inFlight.claim, by);
    this.#unexpect("action", this.#inFlight.action, by);
  }

  setProvider(provider: ProviderView): void {
    this.#provider = provider;
    for (const kind of ["claim", "node", "pool", "action", "cluster"] as const) this.#mark(this.subjects(kind));
  }

  /** Something in the provider's view is not as it was. */
  providerChanged(): void {
    this.#pending.supplyChanged();
    this.#moves.allChanged();
    this.#mark(concernedByProvider(this));
  }

  setInstance(view: InstanceView): void {
    this.#instances.set(view.providerID, view);
    this.#mark(concernedByInstance(this, view.providerID));
  }
  setInstanceList(view: InstanceListView): void {
    this.#instanceList = view;
    this.listInstances(view);
    this.#forgetInstances(view.at);
    this.#mark(["cluster"]);
  }
  setFailure(lane: string, failure: FailureView | undefined): void {
    if (failure === undefined && !this.#failures.has(lane)) return;
    if (failure === undefined) this.#failures.delete(lane);
    else this.#failures.set(lane, failure);
    this.#mark(concernedByFailure(this, lane));
    const [, namespace = "", name = ""] = /^pod\/(.*)\/(.*)$/.exec(lane) ?? [];
    const pod = this.pod(namespace, name);
    // Whoever cannot be told where to go is not waited for.
    if (pod !== undefined && pod.nodeName === undefined) this.#pending.toldOtherwise(pod);
  }

  setStaleness(staleness: Staleness | undefined): void {
    const { resource, message } = staleness ?? {};
    if (resource === this.#staleness?.resource && message === this.#staleness?.message) return;
    this.#staleness = staleness;
    this.#mark(concernedByStaleness(this));
  }
  setClockAhead(aheadMs: Millis | undefined): void {
    if (aheadMs === this.#clockAheadMs) return;
    this.#clockAheadMs = aheadMs;
    this.#mark(concernedByRival(this));
  }

  setRival(rival: Rival | undefined): void {
    if (rival?.holder === this.#rival?.holder && rival?.namespace === this.#rival?.namespace) return;
    this.#rival = rival;
    this.#mark(concernedByRival(this));
  }

  /** Somebody must be looked at again. */
  get isDirty(): boolean {
    return this.#dirty.size > 0 || this.checks.isDirty;
  }

  /** Who must be looked at again since the last call. */
  takeDirty(): Set<Subject> {
    const dirty = this.#dirty;
    this.#dirty = new Set();
    for (const subject of this.checks.takeDirty()) dirty.add(subject);
    return dirty;
  }

  subjects(kind: SubjectKind): Subject[] {
    switch (kind) {
      case "node":
        // Remediations of ours outlive their node, and are ended by its rule.
        return [...new Set([...this.nodes().map(({ name }) => name), ...this.checks.nodesOfOwn()])].map(
          (name): Subject => `node/${name}`,
        );
      case "claim":
        return this.claims().map(({ name }): Subject => `claim/${name}`);
      case "pool":
        return this.pools().map(({ name }): Subject => `pool/${name}`);
      case "action":
        return this.actions().map(({ name }): Subject => `action/${name}`);
      case "pod":
        return this.wantingPods().map(({ namespace, name }): Subject => `pod/${namespace}/${name}`);
      case "check":
        return this.checks.all().map(({ name }): Subject => `check/${name}`);
      case "cluster":
        return ["cluster"];
    }
  }

  #change<K extends Kind>(
    kind: K,
    { name, namespace }: Identity,
    next: (shown: ViewByKind[K] | undefined) => ViewByKind[K] | undefined,
  ): void {
    const before = this.get(kind, name, namespace);
    const after = next(before);
    if (after === before) return;
    this.replace(kind, { before, after });
    // The kind says which views these are.
    if (kind === "pod") this.podEvents.changed({ before, after } as Change<PodView>);
    if (kind === "node" && after === undefined) this.podEvents.forget(name);
    this.#pending.changed(kind, { before, after });
    this.#moves.changed(kind, { before, after });
    this.#tell(kind, { before, after });
    if (!this.#asksNobody) this.#mark(concernedByChange(this, kind, { before, after }));
  }

  #expectedElsewhere(pod: PodView): void {
    const placement = this.placementOf(pod.uid);
    const isNews = placement?.on === "node" && placement.isPromised !== true;
    if (isNews) this.#moves.nominated(placement.name);
    this.#tell("pod", { before: pod, after: pod });
  }

  #tell(kind: Kind, change: Change<View>): void {
    // The kind says which views these are.
    if (kind === "claim" && change.after !== undefined) this.#shortages.note(change.after as ClaimView);
    for (const listener of this.#listeners) listener(kind, change);
  }

  #goneByAnswer<K extends Kind>(kind: K, view: ViewByKind[K]): void {
    this.#change(kind, identityOf(view), shown => this.#inFlight[kind].gone(view, shown));
  }
  // What last failed on an object is of no interest once it is gone.
  #forgetFailure(kind: Kind, { namespace, name }: Pick<Identity, "namespace" | "name">): void {
    if (this.get(kind, name, namespace) !== undefined) return;
    if (kind === "action") this.#failures.delete(`join/${name}`);
    this.#failures.delete(namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`);
  }

  #expect<K extends Kind>(kind: K, expectation: { by: string; name: string; effect: Effect<ViewByKind[K]> }): void {
    const { by, name, effect } = expectation;
    const identity = { namespace: "", name, uid: "" };
    this.#change(kind, identity, shown => this.#inFlight[kind].expect(identity, { by, effect, shown }));
  }

  #unexpect<K extends Kind>(kind: K, inFlight: InFlight<ViewByKind[K]>, by: string): void {
    const identity = inFlight.expectedBy(by);
    if (identity !== undefined) this.#change(kind, identity, shown => inFlight.unexpect(identity, by, shown));
  }

  #mark(subjects: Iterable<Subject>): void {
    for (const subject of subjects) this.#dirty.add(subject);
  }

  #relisted(kind: Kind): void {
    if (kind === "pod") this.podEvents.listed();
    for (const view of this.#inFlight[kind].relisted()) this.put(kind, view);
  }

  // Of instances that nobody has a claim for, only the list still speaks; and one that it has is not gone.
  #forgetInstances(listedAt: Instant): void {
    for (const { providerID, seenAt, state } of this.#instances.values()) {
      const isOver = this.isListed(providerID) ? state === "gone" : this.claimCountWith(providerID) === 0;
      if (seenAt >= listedAt || !isOver) continue;
      this.#instances.delete(providerID);
      this.#mark(concernedByInstance(this, providerID));
    }
  }
}
