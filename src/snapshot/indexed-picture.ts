// What the picture knows of objects, with a look-up for each question, all kept up to date with every view that is
// replaced. Knows nothing of what is in flight.

import { effectiveSafetyPolicy } from "../api/effective-safety-policy.ts";
import { zoneKey } from "../api/node.ts";
import type { Labels } from "../api/selector.ts";
import type { Instant } from "../api/time.ts";
import { ActionIndex } from "./action-index.ts";
import { Departures } from "./departures.ts";
import { CheckIndex } from "./check-index.ts";
import type { ListedInstance } from "./instance.ts";
import { InstanceMatches } from "./instance-matches.ts";
import type { Kind, View, ViewByKind } from "./kind.ts";
import { BudgetsByLabels, PodsByLabels } from "./labelled.ts";
import { isNodeless } from "./nodeless.ts";
import { Grouped, Ordered } from "./ordered.ts";
import type { Departure, PoolTotals } from "./picture.ts";
import { TotalsByPool } from "./pool-totals.ts";
import { type Change, Tables } from "./tables.ts";
import type {
  ActionView,
  AttachmentView,
  ClaimView,
  DisruptionBudgetView,
  InstanceListView,
  NodeView,
  PodView,
  PoolView,
  SafetyView,
} from "./views.ts";

const safetyPolicyName = "default";
const defaultSafety: SafetyView = { policy: effectiveSafetyPolicy(undefined) };

export class IndexedPicture {
  readonly checks = new CheckIndex();
  readonly #tables = new Tables();
  readonly #nodeByUid = new Map<string, NodeView>();
  readonly #nodesByProviderID = new Grouped<NodeView>();
  readonly #zoneByNode = new Map<string, string>();
  readonly #nodeCountByZone = new Ordered<{ readonly zone: string; readonly count: number }>();
  readonly #claimsByProviderID = new Grouped<ClaimView>();
  readonly #claimsByPool = new Grouped<ClaimView>();
  readonly #deletingClaims = new Ordered<ClaimView>();
  readonly #nodelessClaims = new Ordered<ClaimView>();
  readonly #totalsByPool = new TotalsByPool();
  readonly #instanceMatches = new InstanceMatches(this);
  readonly #podsByNode = new Grouped<PodView>();
  readonly #podsByLabels = new PodsByLabels();
  readonly #budgetsByLabels = new BudgetsByLabels();
  readonly #podCountByPhase = new Map<PodView["phase"], number>();
  readonly #attachmentsByNode = new Grouped<AttachmentView>();
  readonly #actions = new ActionIndex();
  readonly #departures = new Departures(this);
  /** By whose clock changes are seen. */
  readonly now: () => Instant;

  constructor(now: () => Instant) {
    this.now = now;
  }

  node(name: string): NodeView | undefined {
    return this.#tables.get("node", name);
  }
  nodeByUid(uid: string): NodeView | undefined {
    return this.#nodeByUid.get(uid);
  }
  nodes(): readonly NodeView[] {
    return this.#tables.all("node");
  }
  get nodeCount(): number {
    return this.#tables.count("node");
  }
  zoneOf(node: NodeView): string | undefined {
    return this.claimOf(node)?.zone ?? node.labels[zoneKey];
  }
  zones(): readonly string[] {
    return this.#nodeCountByZone.values().map(({ zone }) => zone);
  }
  nodeCountIn(zone: string): number {
    return this.#nodeCountByZone.get(zone)?.count ?? 0;
  }

  claim(name: string): ClaimView | undefined {
    return this.#tables.get("claim", name);
  }
  claims(): readonly ClaimView[] {
    return this.#tables.all("claim");
  }
  get claimCount(): number {
    return this.#tables.count("claim");
  }
  nodelessClaims(): readonly ClaimView[] {
    return this.#nodelessClaims.values();
  }
  claimOf(node: NodeView): ClaimView | undefined {
    const claims = this.claimsWith(node.providerID);
    return claims.length === 1 ? claims[0] : undefined;
  }
  nodesOf(claim: ClaimView): readonly NodeView[] {
    return this.nodesWith(claim.providerID);
  }
  claimsOfPool(pool: string): readonly ClaimView[] {
    return this.#claimsByPool.of(pool);
  }
  claimCountOfPool(pool: string): number {
    return this.#claimsByPool.count(pool);
  }
  totalsOfPool(pool: string): PoolTotals {
    return this.#totalsByPool.of(pool);
  }
  nodesOfPool(pool: string): readonly NodeView[] {
    return this.claimsOfPool(pool).flatMap(claim => this.nodesOf(claim).filter(node => this.claimOf(node) === claim));
  }

  podsOn(nodeName: string): readonly PodView[] {
    return this.#podsByNode.of(nodeName);
  }
  pod(namespace: string, name: string): PodView | undefined {
    return this.#tables.get("pod", name, namespace);
  }
  /** Those of the namespace whose labels are selected, in no order. */
  *podsLabelled(namespace: string, isSelected: (labels: Labels) => boolean): IterableIterator<PodView> {
    for (const name of this.#podsByLabels.names(namespace, isSelected)) {
      const pod = this.pod(namespace, name);
      if (pod !== undefined) yield pod;
    }
  }
  get podCountByPhase(): ReadonlyMap<PodView["phase"], number> {
    return this.#podCountByPhase;
  }
  budgetsOver(pod: PodView): readonly DisruptionBudgetView[] {
    const { namespace } = pod;
    const names = this.#budgetsByLabels.names(pod, () => this.#tables.all("disruption-budget", namespace));
    return names.flatMap(name => this.#tables.get("disruption-budget", name, namespace) ?? []);
  }
  attachmentsOn(nodeName: string): readonly AttachmentView[] {
    return this.#attachmentsByNode.of(nodeName);
  }
  volumeOf(namespace: string, volumeClaim: string): string | undefined {
    return this.#tables.get("volume-claim", volumeClaim, namespace)?.volume;
  }

  pool(name: string): PoolView | undefined {
    return this.#tables.get("pool", name);
  }
  pools(): readonly PoolView[] {
    return this.#tables.all("pool");
  }

  action(name: string): ActionView | undefined {
    return this.#tables.get("action", name);
  }
  actions(): readonly ActionView[] {
    return this.#tables.all("action");
  }
  openActionOn(nodeUid: string): ActionView | undefined {
    return this.#actions.openOn(nodeUid);
  }
  openActions(): readonly ActionView[] {
    return this.#actions.open();
  }
  actionsOfBatch(batch: string): readonly ActionView[] {
    return this.#actions.ofBatch(batch);
  }
  dryRunsOn(nodeUid: string): readonly ActionView[] {
    return this.#actions.dryRunsOn(nodeUid);
  }
  dryRuns(): readonly ActionView[] {
    return this.#actions.dryRuns();
  }
  finishedSince(at: Instant): readonly ActionView[] {
    return this.#actions.finishedSince(at);
  }
  get finishedCount(): number {
    return this.#actions.finishedCount;
  }
  departures(): readonly Departure[] {
    return this.#departures.values();
  }
  departuresOf(pool: string): readonly Departure[] {
    return this.#departures.ofPool(pool);
  }
  get departureCount(): number {
    return this.#departures.size;
  }

  unclaimedInstances(): readonly ListedInstance[] {
    return this.#instanceMatches.unclaimed;
  }
  unlistedClaims(): readonly ClaimView[] {
    return this.#instanceMatches.unlisted;
  }

  get safety(): SafetyView {
    return this.#tables.get("safety-policy", safetyPolicyName) ?? defaultSafety;
  }

  /** Beside what rules read: what tells whom a change concerns. */
  claimsWith(providerID: string | undefined): readonly ClaimView[] {
    return this.#claimsByProviderID.of(providerID);
  }
  claimCountWith(providerID: string | undefined): number {
    return this.#claimsByProviderID.count(providerID);
  }
  nodesWith(providerID: string | undefined): readonly NodeView[] {
    return this.#nodesByProviderID.of(providerID);
  }
  isListed(providerID: string): boolean {
    return this.#instanceMatches.isListed(providerID);
  }
  isUnlisted(claim: ClaimView): boolean {
    return this.#instanceMatches.isUnlisted(claim);
  }
  deletingClaims(): readonly ClaimView[] {
    return this.#deletingClaims.values();
  }
  actionsOn(nodeUid: string): readonly ActionView[] {
    return this.#actions.on(nodeUid);
  }
  actionsOfClaim(claimName: string): readonly ActionView[] {
    return this.#actions.ofClaim(claimName);
  }
  openActionsOfPool(pool: string | undefined): readonly ActionView[] {
    return this.#actions.openOfPool(pool);
  }
  openActionOfClaim(claimUid: string): ActionView | undefined {
    return this.#actions.openOfClaim(claimUid);
  }

  protected listInstances(list: InstanceListView): void {
    this.#instanceMatches.list(list);
  }

  get<K extends Kind>(kind: K, name: string, namespace?: string): ViewByKind[K] | undefined {
    return this.#tables.get(kind, name, namespace);
  }

  /** Of all namespaces, in no order. */
  every<K extends Kind>(kind: K): Iterable<ViewByKind[K]> {
    return this.#tables.every(kind);
  }

  protected everything(): Iterable<{ kind: Kind; view: View }> {
    return this.#tables.everything();
  }

  protected replace<K extends Kind>(kind: K, change: Change<ViewByKind[K]>): void {
    this.#tables.replace(kind, change);
    this.#reindex(kind, change);
  }

  // The kind says which views the change is of; the compiler cannot see that the two go together.
  #reindex(kind: Kind, change: Change<View>): void {
    switch (kind) {
      case "node":
        return this.#reindexNode(change as Change<NodeView>);
      case "claim":
        return this.#reindexClaim(change as Change<ClaimView>);
      case "pod":
        return this.#reindexPod(change as Change<PodView>);
      case "action":
        return this.#reindexAction(change as Change<ActionView>);
      case "attachment":
        return this.#reindexAttachment(change as Change<AttachmentView>);
      case "disruption-budget":
        return this.#budgetsByLabels.replace(change as Change<DisruptionBudgetView>);
      case "pool":
      case "safety-policy":
      case "volume-claim":
      case "daemon-set":
      case "namespace":
      case "volume":
      case "storage-class":
      case "csi-node":
        return;
    }
  }

  #reindexNode({ before, after }: Change<NodeView>): void {
    const name = (after ?? before)?.name ?? "";
    if (before !== undefined && before.uid !== after?.uid) this.#nodeByUid.delete(before.uid);
    if (after !== undefined) this.#nodeByUid.set(after.uid, after);
    this.checks.replaceNode({ before, after });
    this.#nodesByProviderID.move(name, { from: before?.providerID, to: after?.providerID, value: after });
    this.#countZone(name);
    this.#departures.judgeNode(before?.uid);
    this.#departures.judgeNode(after?.uid);
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      for (const claim of this.claimsWith(providerID)) this.#departures.judgeClaim(claim.uid, claim);
    }
  }

  #reindexClaim({ before, after }: Change<ClaimView>): void {
    const name = (after ?? before)?.name ?? "";
    this.#claimsByProviderID.move(name, { from: before?.providerID, to: after?.providerID, value: after });
    this.#claimsByPool.move(name, { from: before?.pool, to: after?.pool, value: after });
    this.#totalsByPool.replace({ before, after });
    this.#instanceMatches.replace({ before, after });
    if (after?.deletingSince === undefined) this.#deletingClaims.delete(name);
    else this.#deletingClaims.set(name, after);
    if (after !== undefined && isNodeless(after)) this.#nodelessClaims.set(name, after);
    else this.#nodelessClaims.delete(name);
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      for (const node of this.nodesWith(providerID)) {
        this.#countZone(node.name);
        this.#departures.judgeNode(node.uid);
      }
    }
    for (const action of this.#actions.ofClaim(name)) this.#departures.judgeNode(action.spec.node.uid);
    this.#departures.judgeClaim(before?.uid, after);
    this.#departures.judgeClaim(after?.uid, after);
  }

  #reindexPod({ before, after }: Change<PodView>): void {
    const uid = (after ?? before)?.uid ?? "";
    this.#podsByLabels.replace({ before, after });
    this.#countPhase(before?.phase, -1);
    this.#countPhase(after?.phase, 1);
    if (before !== undefined && before.uid !== uid) {
      this.#podsByNode.move(before.uid, { from: before.nodeName, to: undefined, value: undefined });
    }
    const from = before?.uid === uid ? before.nodeName : undefined;
    this.#podsByNode.move(uid, { from, to: after?.nodeName, value: after });
  }

  #countPhase(phase: PodView["phase"] | undefined, more: 1 | -1): void {
    if (phase !== undefined) this.#podCountByPhase.set(phase, (this.#podCountByPhase.get(phase) ?? 0) + more);
  }

  #reindexAction(change: Change<ActionView>): void {
    this.#actions.replace(change);
    this.checks.replaceAction(change);
    for (const action of [change.before, change.after]) {
      if (action === undefined) continue;
      this.#departures.judgeNode(action.spec.node.uid);
      const claim = action.spec.claim && this.claim(action.spec.claim.name);
      this.#departures.judgeClaim(action.spec.claim?.uid, claim);
    }
  }

  #reindexAttachment({ before, after }: Change<AttachmentView>): void {
    const name = (after ?? before)?.name ?? "";
    this.#attachmentsByNode.move(name, { from: before?.nodeName, to: after?.nodeName, value: after });
  }

  #countZone(nodeName: string): void {
    const node = this.node(nodeName);
    const before = this.#zoneByNode.get(nodeName);
    const after = node && this.zoneOf(node);
    if (before === after) return;
    if (after === undefined) this.#zoneByNode.delete(nodeName);
    else this.#zoneByNode.set(nodeName, after);
    this.#addToZone(before, -1);
    this.#addToZone(after, 1);
  }

  #addToZone(zone: string | undefined, more: 1 | -1): void {
    if (zone === undefined) return;
    const count = this.nodeCountIn(zone) + more;
    if (count === 0) this.#nodeCountByZone.delete(zone);
    else this.#nodeCountByZone.set(zone, { zone, count });
  }
}
