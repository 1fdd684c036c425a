// Who must be looked at again when something changes: the one map from changes to subjects. It may name too many, never
// too few; simulations compare every decision that was left standing with one made from scratch.

import { isEqual } from "../api/schema/correlate.ts";
import { nodeOfLease } from "../api/node-health-check-contract.ts";
import { doNotRepairKey, launchRecordKey } from "../api/well-known.ts";
import { mayBeChosen, nodesUnder } from "./budget-reads.ts";
import { isOfEtcd } from "./etcd.ts";
import type { IndexedPicture } from "./indexed-picture.ts";
import type { Kind, View } from "./kind.ts";
import { launchResultOf } from "./launch-result.ts";
import { isNodeless } from "./nodeless.ts";
import type { Subject } from "./picture.ts";
import type { Change } from "./tables.ts";
import type {
  ActionView,
  AttachmentView,
  ClaimView,
  DisruptionBudgetView,
  NodeView,
  PodView,
  PoolView,
  SafetyView,
  VolumeClaimView,
} from "./views.ts";

type Subjects = Iterable<Subject>;

/** The picture already shows `after`; where it stood before is read from `before` itself. */
export function concernedByChange(picture: IndexedPicture, kind: Kind, change: Change<View>): Subjects {
  // The kind says which views the change is of; the compiler cannot see that the two go together.
  switch (kind) {
    case "node":
      return byNode(picture, change as Change<NodeView>);
    case "claim":
      return byClaim(picture, change as Change<ClaimView>);
    case "pod":
      return byPod(picture, change as Change<PodView>);
    case "pool":
      return byPool(picture, change as Change<PoolView>);
    case "action":
      return byAction(picture, change as Change<ActionView>);
    case "safety-policy":
      return bySafetyPolicy(picture, change as Change<SafetyView>);
    case "disruption-budget":
      return byBudget(picture, change as Change<DisruptionBudgetView>);
    case "attachment":
      return states(change as Change<AttachmentView>).flatMap(({ nodeName }) => claimsOn(picture, nodeName));
    case "volume-claim":
      return byVolumeClaim(picture, change as Change<VolumeClaimView>);
    // Read by searches alone, whose answers are looked after in pending-pods.ts.
    case "daemon-set":
    case "namespace":
    case "volume":
    case "storage-class":
    case "csi-node":
      return [];
  }
}

function* byNode(picture: IndexedPicture, change: Change<NodeView>): Subjects {
  for (const { name, uid, providerID } of states(change)) {
    yield `node/${name}`;
    for (const claim of picture.claimsWith(providerID)) yield* claimAndSurplus(picture, claim);
    // Whoever has its providerID too cannot be told from it any more, or can again.
    if (providerID !== undefined) yield* picture.nodesWith(providerID).map(other => `node/${other.name}` as const);
    yield* picture.actionsOn(uid).flatMap(action => ofPlan(picture, action));
  }
  if (!isEqual(seenByCluster(change.before), seenByCluster(change.after))) yield "cluster";
}

// What counts, caps, the arbiter and the garbage rule read of a node. Not its other conditions and taints, which
// change most often.
function seenByCluster(node: NodeView | undefined): unknown {
  if (node === undefined) return undefined;
  const { uid, labels, providerID, deletingSince } = node;
  const ready = node.conditions.find(({ type }) => type === "Ready")?.status;
  return { uid, labels, providerID, deletingSince, ready };
}

function* byClaim(picture: IndexedPicture, change: Change<ClaimView>): Subjects {
  const { before, after } = change;
  yield* bySurplus(picture, change);
  yield* byNodeless(picture, change);
  const isUnlisted = states(change).some(claim => picture.isUnlisted(claim));
  if (isUnlisted || !isEqual(claimSeenByCluster(before), claimSeenByCluster(after))) yield "cluster";
  if (poolWithUp(before) !== poolWithUp(after)) yield* checksThatWait(picture);
  const concernsPool = !isEqual(seenByPool(before), seenByPool(after));
  for (const claim of states(change)) {
    yield* claimAndSurplus(picture, claim);
    if (claim.pool !== undefined && concernsPool) yield `pool/${claim.pool}`;
    yield* picture.actionsOfClaim(claim.name).map(actionSubject);
    // A second claim with the same providerID makes the node nobody's.
    for (const other of picture.claimsWith(claim.providerID)) yield* claimAndSurplus(picture, other);
    for (const node of picture.nodesWith(claim.providerID)) {
      yield `node/${node.name}`;
      yield* picture.actionsOn(node.uid).flatMap(action => ofPlan(picture, action));
    }
  }
}

// What the arbiter, the ledger and the garbage rule read of a claim whose instance is listed; of one that is not, all.
function claimSeenByCluster(claim: ClaimView | undefined): unknown {
  if (claim === undefined) return undefined;
  const { uid, pool, zone, providerID, deletingSince, isProvisional, status, conditions } = claim;
  const launchedSince = conditions.find(({ type }) => type === "Launched")?.since;
  const { nodeName } = status;
  const is = isRegistered(claim);
  return { uid, pool, zone, providerID, deletingSince, isProvisional, nodeName, launchedSince, isRegistered: is };
}

// What goes into the pool's totals, and why one is not launched.
function seenByPool(claim: ClaimView | undefined): unknown {
  if (claim === undefined) return undefined;
  const { uid, pool, providerID, deletingSince, status } = claim;
  const launching = isLaunched(claim) ? undefined : claim.conditions.find(({ type }) => type === "Launched");
  return { uid, pool, providerID, deletingSince, capacity: status.capacity, launch: launchResultOf(claim), launching };
}

// Whether a pool has too many is told by those of its claims that are to stay.
function* bySurplus(picture: IndexedPicture, { before, after }: Change<ClaimView>): Subjects {
  const stays = (claim: ClaimView | undefined) => (claim?.deletingSince === undefined ? claim?.pool : undefined);
  if (stays(before) === stays(after)) return;
  for (const pool of [stays(before), stays(after)]) {
    yield* picture.openActionsOfPool(pool).filter(isHeldByNumbers).map(actionSubject);
  }
}

// Whether a claim is the only one whose node has vanished, in its pool and among all, is told by the others that say so.
function* byNodeless(picture: IndexedPicture, { before, after }: Change<ClaimView>): Subjects {
  const lost = (claim: ClaimView | undefined) => claim && isNodeless(claim) && { pool: claim.pool };
  const isSameCount = (before === undefined) === (after === undefined);
  if (isSameCount && isEqual(lost(before), lost(after))) return;
  yield* picture.nodelessClaims().map(claimSubject);
}

function* byPod(picture: IndexedPicture, change: Change<PodView>): Subjects {
  for (const nodeName of new Set(states(change).map(pod => pod.nodeName))) {
    if (nodeName === undefined) continue;
    const claims = claimsOnNode(picture, nodeName);
    const isOnItsWay = isActedOn(picture, nodeName);
    for (const claim of claims) {
      if (isOnItsWay || claim.deletingSince !== undefined || isSeenByClaim(change)) yield claimSubject(claim);
      yield* surplusOf(picture, claim);
    }
    if (mayBeChosen(picture, nodeName) && isSeenByDisruption(change)) yield `node/${nodeName}`;
  }
  // Whether a member of etcd serves may hold what is asked for its node, or free it.
  if (states(change).some(isOfEtcd) && isSeenByDisruption(change)) yield "cluster";
}

// A reboot may leave pods behind that nobody can stop, with or without a claim.
function isActedOn(picture: IndexedPicture, nodeName: string): boolean {
  const node = picture.node(nodeName);
  return node !== undefined && picture.actionsOn(node.uid).length > 0;
}

// Of one that stays: whether pods come and go, and whether one is left. That they start and get ready, only drains see.
function isSeenByClaim({ before, after }: Change<PodView>): boolean {
  const hasEnded = (pod: PodView | undefined) => pod?.phase === "Succeeded" || pod?.phase === "Failed";
  const isSamePlace = before?.uid === after?.uid && before?.nodeName === after?.nodeName;
  return !isSamePlace || before?.deletionAt !== after?.deletionAt || hasEnded(before) !== hasEnded(after);
}

// What holds a node, or may be moved from it. Not its phase while it runs, nor what it asks for.
function isSeenByDisruption({ before, after }: Change<PodView>): boolean {
  const seen = (pod: PodView | undefined) => {
    if (pod === undefined) return undefined;
    const { uid, nodeName, labels, doNotDisrupt, startedAt, isReady, deletionAt, phase } = pod;
    return { uid, nodeName, labels, doNotDisrupt, startedAt, isReady, deletionAt, phase };
  };
  return !isEqual(seen(before), seen(after));
}

// Which of too many replicas goes first is told by all of each claim, its node and the pods that run there.
function* claimAndSurplus(picture: IndexedPicture, claim: ClaimView): Subjects {
  yield claimSubject(claim);
  yield* surplusOf(picture, claim);
}

function* surplusOf(picture: IndexedPicture, claim: ClaimView): Subjects {
  if (claim.pool === undefined) return;
  const replicas = picture.pool(claim.pool)?.effective.replicas;
  if (replicas !== undefined && picture.totalsOfPool(claim.pool).staying > replicas) yield `pool/${claim.pool}`;
}

function* byPool(picture: IndexedPicture, change: Change<PoolView>): Subjects {
  const { before, after } = change;
  const name = (after ?? before)?.name ?? "";
  yield `pool/${name}`;
  if (!isEqual(policyOf(before), policyOf(after))) {
    yield "cluster";
    yield* checksThatWait(picture);
    yield* picture.claimsOfPool(name).map(claimSubject);
    for (const node of picture.nodesOfPool(name)) yield `node/${node.name}`;
    yield* picture.openActionsOfPool(name).map(actionSubject);
  } else if (!isEqual(launchStateOf(before), launchStateOf(after))) {
    // How its latest launch ended may hold its repairs, or free them.
    if (before?.annotations[launchRecordKey] !== after?.annotations[launchRecordKey]) yield "cluster";
    yield* picture.claimsOfPool(name).flatMap(claim => (isLaunched(claim) ? [] : [claimSubject(claim)]));
  }
}

// For successors of what they took away: how many a pool lacks is told by those of its claims that are up.
function* checksThatWait({ checks }: IndexedPicture): Subjects {
  for (const check of checks.all()) {
    if (checks.ended(check).length === 0) continue;
    yield `check/${check.name}`;
    yield "cluster";
  }
}

function poolWithUp(claim: ClaimView | undefined): string | undefined {
  if (claim === undefined || claim.deletingSince !== undefined) return undefined;
  const isUp = claim.conditions.some(({ type, status }) => type === "Initialized" && status === "True");
  return isUp ? claim.pool : undefined;
}

function policyOf(pool: PoolView | undefined): unknown {
  if (pool === undefined) return undefined;
  const { uid, generation, effective, invalid, deletingSince, annotations } = pool;
  return { uid, generation, effective, invalid, deletingSince, doNotRepair: annotations[doNotRepairKey] };
}

// How its launches went and when the next may be: of the rest of the status our own counts change too often.
function launchStateOf(pool: PoolView | undefined): unknown {
  return pool && { annotations: pool.annotations, backoff: pool.status.launchBackoff, conditions: pool.conditions };
}

function bySafetyPolicy(picture: IndexedPicture, { before, after }: Change<SafetyView>): Subject[] {
  const isSame = isEqual(before?.policy, after?.policy) && before?.invalid === after?.invalid;
  return isSame ? ["cluster"] : whoStarts(picture);
}

/** Those that something over all of them may hold back. */
function whoStarts(picture: IndexedPicture): Subject[] {
  const pools = picture.pools().map(({ name }): Subject => `pool/${name}`);
  return ["cluster", ...pools, ...picture.openActions().map(actionSubject), ...withoutNode(picture)];
}

function* byAction(picture: IndexedPicture, change: Change<ActionView>): Subjects {
  yield "cluster";
  for (const action of states(change)) {
    const { node, claim, nodePool, replacements = [] } = action.spec;
    yield* ofPlan(picture, action);
    yield `node/${node.name}`;
    if (nodePool !== undefined) yield `pool/${nodePool}`;
    // What another is to end is no surplus any more for those that have not begun.
    yield* picture.openActionsOfPool(nodePool).filter(isPendingScaleDown).map(actionSubject);
    yield* picture.actionsOn(node.uid).map(actionSubject);
    const named = claim && picture.claim(claim.name);
    if (named !== undefined) yield* claimAndPool(named);
    for (const replacement of replacements) {
      for (const awaited of picture.nodesWith(picture.claim(replacement.name)?.providerID))
        yield `node/${awaited.name}`;
    }
    const found = picture.nodeByUid(node.uid);
    for (const other of picture.claimsWith(found?.providerID)) yield* claimAndPool(other);
  }
}

function isPendingScaleDown({ spec, status }: ActionView): boolean {
  return spec.action === "ScaleDown" && status.startedAt === undefined;
}

// Whoever is sick or deleted goes whatever the numbers of its pool are, and what has begun goes on.
function isHeldByNumbers({ spec, status }: ActionView): boolean {
  const reasons = [spec, ...(spec.joined ?? [])].map(({ action }) => action);
  return status.startedAt === undefined && !reasons.every(action => byNeed.has(action));
}

const byNeed: ReadonlySet<string> = new Set(["Repair", "Remediation", "Deletion"]);

// Budgets hold up drains, and keep from going what has not begun to.
function byBudget(picture: IndexedPicture, change: Change<DisruptionBudgetView>): Subjects {
  const namespaces = new Set(states(change).map(({ namespace }) => namespace));
  return [...draining(picture, pod => namespaces.has(pod.namespace)), ...nodesUnder(picture, change)];
}

function byVolumeClaim(picture: IndexedPicture, change: Change<VolumeClaimView>): Subjects {
  const { namespace, name } = change.after ?? change.before ?? { namespace: "", name: "" };
  return draining(picture, pod => pod.namespace === namespace && pod.volumeClaims.includes(name));
}

function draining(picture: IndexedPicture, concerns: (pod: PodView) => boolean): Subject[] {
  const claims = picture
    .deletingClaims()
    .filter(claim => picture.nodesOf(claim).some(node => picture.podsOn(node.name).some(concerns)));
  return claims.map(claimSubject);
}

/** Before a launch the provider's word on classes and types decides; after it, whether the claim has drifted. */
export function concernedByProvider(picture: IndexedPicture): Subject[] {
  const pools = picture.pools().map(({ name }): Subject => `pool/${name}`);
  return ["cluster", ...pools, ...picture.claims().map(claimSubject)];
}

export function concernedByInstance(picture: IndexedPicture, providerID: string): Subject[] {
  const claims = picture.claimsWith(providerID);
  // A reboot, also of a node without a claim, reads what its machine is said to be.
  const nodes = picture.nodesWith(providerID);
  const actions = [
    ...claims.flatMap(({ name }) => picture.actionsOfClaim(name)),
    ...nodes.flatMap(({ uid }) => picture.actionsOn(uid)),
  ];
  const nodeSubjects = nodes.map(({ name }) => `node/${name}` as const);
  return [
    ...new Set<Subject>(["cluster", ...claims.map(claimSubject), ...nodeSubjects, ...actions.map(actionSubject)]),
  ];
}

/** What is destructive stops while the picture is stale, and goes on after. */
export function concernedByStaleness(picture: IndexedPicture): Subject[] {
  const actions = picture.openActions().map(actionSubject);
  return ["cluster", ...actions, ...picture.deletingClaims().map(claimSubject), ...withoutNode(picture)];
}

/** Beside a rival everything is only shown, as by the SafetyPolicy's own word; nothing starts by a clock that is off. */
export function concernedByRival(picture: IndexedPicture): Subject[] {
  return whoStarts(picture);
}

/** By the key of the lane (decide/lane.ts `laneOf`). */
export function concernedByFailure(picture: IndexedPicture, lane: string): Subject[] {
  const [kind = "", ...rest] = lane.split("/");
  const name = rest.join("/");
  switch (kind) {
    case "claim": {
      const claim = picture.claim(name);
      return claim === undefined ? [`claim/${name}`] : [...claimAndPool(claim)];
    }
    case "node": {
      const { uid } = picture.node(name) ?? {};
      const actions = uid === undefined ? [] : picture.actionsOn(uid).map(actionSubject);
      return [`node/${name}`, ...claimsOn(picture, name), ...actions];
    }
    case "pod": {
      const [namespace = "", podName = ""] = rest;
      return claimsOn(picture, picture.pod(namespace, podName)?.nodeName);
    }
    case "instance":
      return concernedByInstance(picture, name);
    case "action":
    case "join": {
      const action = picture.action(name);
      return [`action/${name}`, ...(action ? byAction(picture, { before: undefined, after: action }) : [])];
    }
    case "pool":
      return [`pool/${name}`];
    case "check":
      return [`check/${name}`];
    case "node-lease":
      return [`node/${nodeOfLease(name) ?? name}`];
    case "remediation":
      return nodesOfRemediation(rest.at(-1) ?? "");
    default:
      return ["cluster"];
  }
}

/** It has its node's name, or that name and a mark of its template behind it. */
function nodesOfRemediation(name: string): Subject[] {
  const [, marked] = /^(.+)-[0-9a-f]{8}$/.exec(name) ?? [];
  return [`node/${name}`, ...(marked === undefined ? [] : [`node/${marked}` as const])];
}

/** Claims that may go without an action, since no node runs for them. */
function withoutNode(picture: IndexedPicture): Subject[] {
  const hasNode = (claim: ClaimView) => isRegistered(claim) && !isNodeless(claim);
  return picture.claims().flatMap(claim => (hasNode(claim) ? [] : claimSubject(claim)));
}

function claimsOnNode(picture: IndexedPicture, nodeName: string | undefined): readonly ClaimView[] {
  return nodeName === undefined ? [] : picture.claimsWith(picture.node(nodeName)?.providerID);
}

function claimsOn(picture: IndexedPicture, nodeName: string | undefined): Subject[] {
  return claimsOnNode(picture, nodeName).map(claimSubject);
}

function* claimAndPool(claim: ClaimView): Iterable<Subject> {
  yield claimSubject(claim);
  if (claim.pool !== undefined) yield `pool/${claim.pool}`;
}

function isRegistered({ conditions }: ClaimView): boolean {
  return conditions.some(({ type, status }) => type === "Registered" && status === "True");
}

function isLaunched({ providerID }: ClaimView): boolean {
  return providerID !== undefined;
}

function claimSubject({ name }: ClaimView): Subject {
  return `claim/${name}`;
}

function actionSubject({ name }: ActionView): Subject {
  return `action/${name}`;
}

/** What one of a batch and its node come to tells the others, and all their replacements, whether they are still wanted. */
function ofPlan(picture: IndexedPicture, action: ActionView): Subject[] {
  const { batch } = action.spec;
  const actions = batch === undefined ? [action] : [action, ...picture.actionsOfBatch(batch)];
  return actions.flatMap(one => [
    actionSubject(one),
    ...(one.spec.replacements ?? []).map(({ name }): Subject => `claim/${name}`),
  ]);
}

function states<V>({ before, after }: Change<V>): V[] {
  return [before, after].filter(view => view !== undefined);
}
