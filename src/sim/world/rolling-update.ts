// How many replicas each ReplicaSet of a Deployment gets, as kube-controller-manager (1.36) computes it: while rolling,
// and when somebody changes the number in the middle of it. Pure.

import { parseAmount, roundedDown, roundedUp } from "../../api/amount.ts";
import type { Deployment, ReplicaSet } from "./objects.ts";

export type Scaling = { replicaSet: ReplicaSet; replicas: number };

export function replicasOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

/** How many more and how many fewer than asked for; never both 0, or nothing could move. */
export function fencePosts({ spec }: Deployment): { surge: number; unavailable: number } {
  const total = spec.replicas ?? 1;
  if (spec.strategy.type === "Recreate") return { surge: 0, unavailable: 0 };
  const { maxSurge = "25%", maxUnavailable = "25%" } = spec.strategy.rollingUpdate ?? {};
  const surge = parseAmount(maxSurge);
  const unavailable = parseAmount(maxUnavailable);
  const up = surge.ok ? roundedUp(surge.value, total) : 0;
  const down = unavailable.ok ? roundedDown(unavailable.value, total) : 0;
  return { surge: up, unavailable: up === 0 && down === 0 ? 1 : Math.min(down, total) };
}

export function newReplicas(deployment: Deployment, current: ReplicaSet, rest: readonly ReplicaSet[]): number {
  const wanted = deployment.spec.replicas ?? 1;
  const own = replicasOf(current);
  if (deployment.spec.strategy.type === "Recreate") return rest.some(one => replicasOf(one) > 0) ? 0 : wanted;
  if (own >= wanted) return wanted;
  const most = wanted + fencePosts(deployment).surge;
  const total = own + sum(rest, replicasOf);
  return total >= most ? own : own + Math.min(most - total, wanted - own);
}

/** Old replica sets made smaller: first what is not available anyway, then as far as enough stays available. */
export function shrunk(deployment: Deployment, current: ReplicaSet, rest: readonly ReplicaSet[]): Scaling[] {
  const oldestFirst = [...rest].sort(byCreation);
  const leastAvailable = (deployment.spec.replicas ?? 1) - fencePosts(deployment).unavailable;
  const sizes = new Map(oldestFirst.map(replicaSet => [replicaSet, replicasOf(replicaSet)]));
  const size = (replicaSet: ReplicaSet) => sizes.get(replicaSet) ?? 0;
  const total = sum(oldestFirst, size) + replicasOf(current);
  const newUnavailable = replicasOf(current) - available(current);
  let mayGo = total - leastAvailable - newUnavailable;
  if (sum(oldestFirst, size) === 0 || mayGo <= 0) return [];
  for (const replicaSet of oldestFirst) {
    const gone = Math.min(mayGo, Math.max(0, size(replicaSet) - available(replicaSet)));
    sizes.set(replicaSet, size(replicaSet) - gone);
    mayGo -= gone;
  }
  let spare = sum([...oldestFirst, current], available) - leastAvailable;
  for (const replicaSet of oldestFirst) {
    const gone = Math.min(size(replicaSet), Math.max(0, spare));
    sizes.set(replicaSet, size(replicaSet) - gone);
    spare -= gone;
  }
  return changed(sizes);
}

/** The number was changed in the middle: everyone grows or shrinks by its share. */
export function proportional(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  rest: readonly ReplicaSet[],
): Scaling[] {
  const wanted = deployment.spec.replicas ?? 1;
  const active = [...rest, ...(current ? [current] : [])].filter(one => replicasOf(one) > 0);
  const single = active.length === 0 ? (current ?? [...rest].sort(byCreation).at(-1)) : active[0];
  if (active.length <= 1) return single === undefined ? [] : [{ replicaSet: single, replicas: wanted }];
  if (current && isSaturated(current, wanted)) {
    return active.filter(one => one !== current).map(replicaSet => ({ replicaSet, replicas: 0 }));
  }
  if (deployment.spec.strategy.type === "Recreate") return [];
  const allowed = wanted > 0 ? wanted + fencePosts(deployment).surge : 0;
  return shared(active, { allowed, wanted, statusReplicas: deployment.status.replicas ?? 0 });
}

type Share = { allowed: number; wanted: number; statusReplicas: number };

function shared(active: readonly ReplicaSet[], { allowed, wanted, statusReplicas }: Share): Scaling[] {
  const toAdd = allowed - sum(active, replicasOf);
  const newerFirst = toAdd > 0 ? -1 : 1;
  const largestFirst = [...active].sort((a, b) => replicasOf(b) - replicasOf(a) || newerFirst * byCreation(a, b));
  let added = 0;
  const scalings = largestFirst.map(replicaSet => {
    const own = replicasOf(replicaSet);
    const before = Number(replicaSet.metadata.annotations?.["deployment.kubernetes.io/max-replicas"]) || statusReplicas;
    const fraction = wanted === 0 ? -own : before === 0 ? 0 : Math.round((own * allowed) / before) - own;
    const left = toAdd - added;
    const part = toAdd === 0 ? 0 : toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
    added += part;
    return { replicaSet, replicas: own + part };
  });
  const [largest] = scalings;
  if (largest) largest.replicas = Math.max(0, largest.replicas + toAdd - added);
  return scalings;
}

function isSaturated({ spec, status, metadata }: ReplicaSet, wanted: number): boolean {
  const told = Number(metadata.annotations?.["deployment.kubernetes.io/desired-replicas"]);
  return spec.replicas === wanted && told === wanted && status.availableReplicas === wanted;
}

function changed(sizes: ReadonlyMap<ReplicaSet, number>): Scaling[] {
  return [...sizes].flatMap(([replicaSet, replicas]) =>
    replicas === replicasOf(replicaSet) ? [] : [{ replicaSet, replicas }],
  );
}

function available({ status }: ReplicaSet): number {
  return status.availableReplicas ?? 0;
}

function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return replicaSets.reduce((total, replicaSet) => total + count(replicaSet), 0);
}

function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0;
}
