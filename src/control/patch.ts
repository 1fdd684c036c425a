// Bodies of writes: what a change means for an object as it is now. Each is bound to the uid that it was decided for and,
// where the whole of a list is replaced, to the version it was computed from.

import type { KubeObject, OwnerReference, Resource } from "../api/meta.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { apiVersionOf } from "../api/meta.ts";
import type { Taint } from "../api/taint.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ConditionChange, MetadataChange, NodeChange, StatusChange, Target } from "../decide/decision.ts";
import type { GuardedApi } from "./guard.ts";

/** The object that a write is meant for; with a version only if nobody has written since. */
export type Bound = Target & { readonly resourceVersion?: string };

type Body = { readonly metadata?: object; readonly spec?: object; readonly status?: object };

export function keyOf({ name, namespace }: Target): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}

/** A merge patch that an object of the same name and another uid refuses. */
export function patchBound<T extends KubeObject>(
  api: GuardedApi,
  resource: Resource,
  { bound, body, subresource }: { bound: Bound; body: Body; subresource?: "status" },
): Promise<T> {
  const { uid, resourceVersion } = bound;
  const metadata = { ...body.metadata, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const options = subresource === undefined ? {} : { subresource };
  return api.patch<T>(resource, keyOf(bound), { type: "merge", body: { ...body, metadata } }, options);
}

/** Undefined: nothing would change. */
export function metadataBody(change: MetadataChange, finalizers: readonly string[]): object | undefined {
  const { labels = {}, annotations = {} } = change;
  const kept = finalizersAfter(finalizers, change);
  const body = {
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...(kept === undefined ? {} : { finalizers: kept }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

export function finalizersAfter(
  finalizers: readonly string[],
  { addFinalizers = [], removeFinalizers = [] }: MetadataChange,
): readonly string[] | undefined {
  const kept = finalizers.filter(finalizer => !removeFinalizers.includes(finalizer));
  const added = addFinalizers.filter(finalizer => !kept.includes(finalizer));
  return kept.length === finalizers.length && added.length === 0 ? undefined : [...kept, ...added];
}

/** Whether the change needs to know the object as it is: lists are replaced whole, and a cordon may be somebody else's. */
export function needsLive(change: NodeChange): boolean {
  const { addFinalizers = [], removeFinalizers = [], addTaints = [], removeTaints = [], owner, isCordoned } = change;
  const parts = [addFinalizers, removeFinalizers, addTaints, removeTaints];
  return owner !== undefined || isCordoned !== undefined || parts.some(part => part.length > 0);
}

export function taintsAfter(taints: readonly Taint[], change: NodeChange): readonly Taint[] | undefined {
  const { addTaints = [], removeTaints = [] } = change;
  const kept = taints.filter(taint => !removeTaints.some(removed => isSameTaint(removed, taint)));
  const added = addTaints.filter(taint => !kept.some(other => isSameTaint(other, taint)));
  return kept.length === taints.length && added.length === 0 ? undefined : [...kept, ...added];
}

function isSameTaint(a: Pick<Taint, "key" | "effect">, b: Pick<Taint, "key" | "effect">): boolean {
  return a.key === b.key && a.effect === b.effect;
}

export function ownersAfter(
  owners: readonly OwnerReference[],
  owner: Target | undefined,
): readonly OwnerReference[] | undefined {
  if (owner === undefined || owners.some(({ uid }) => uid === owner.uid)) return undefined;
  const apiVersion = apiVersionOf(nodeClaims.resource);
  return [...owners, { apiVersion, kind: "NodeClaim", name: owner.name, uid: owner.uid, blockOwnerDeletion: true }];
}

/** Fields that are given replace those that are there, keys of maps that are not given any more included. */
export function statusBody<S extends object>(current: object, change: StatusChange<S>, now: Instant): object {
  const { conditions, ...fields } = change;
  return {
    ...replacing(current, fields),
    ...(conditions === undefined ? {} : { conditions: conditions.map(condition => stamped(condition, now)) }),
  };
}

/** A merge patch that leaves of each map that is given only what is given. */
export function replacing(current: object, fields: object): object {
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const before = (current as Record<string, unknown>)[key];
    body[key] = isMap(value) && isMap(before) ? { ...nulls(before), ...replacing(before, value) } : value;
  }
  return body;
}

function nulls(map: object): Record<string, null> {
  return Object.fromEntries(Object.keys(map).map(key => [key, null]));
}

function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function stamped({ since, ...condition }: ConditionChange, now: Instant): object {
  return { lastTransitionTime: formatTime(since ?? now), ...condition };
}
