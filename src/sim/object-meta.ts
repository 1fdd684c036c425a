// Metadata that the server itself writes or guards: uid, times, namespace, and what an update carries over.

import type { KubeObject, OwnerReference } from "../api/meta.ts";
import { deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { type Random, uuid } from "./random.ts";
import { badRequest } from "./refusal.ts";

/** The last one is remembered: within a second every write says the same. */
let latest = { second: Number.NaN, text: "" };

/** RFC 3339 in whole seconds. */
export function timestamp(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== latest.second) latest = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return latest.text;
}

/** What a client may not say of an object that it creates. By a PUT it may. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  dropField(metadata, "deletionTimestamp");
  dropField(metadata, "deletionGracePeriodSeconds");
}

/** Nearly always it is not there, and V8 leaves its compiled code for a delete all the same. */
function dropField<F extends string>(fields: { [K in F]?: unknown }, field: F): void {
  if (Object.hasOwn(fields, field)) delete fields[field];
}

/** On create these are the server's alone, whatever the client sent. */
export function fillSystemFields({ metadata }: KubeObject, now: number, random: Random): void {
  dropField(metadata, "selfLink");
  metadata.creationTimestamp = timestamp(now);
  metadata.uid = uuid(random);
}

/** An object without a namespace gets the path's; one with another is refused; cluster-scoped kinds have none. */
export function settleNamespace(
  { metadata }: KubeObject,
  kind: ServedKind,
  requestNamespace: string | undefined,
): void {
  const expected = kind.resource.namespaced ? (requestNamespace ?? "") : "";
  if (expected === "") {
    dropField(metadata, "namespace");
    return;
  }
  refuseOtherNamespace(metadata.namespace, expected);
  metadata.namespace = expected;
}

export function refuseOtherNamespace(namespace: string | undefined, expected: string): void {
  if (namespace === undefined || namespace === "" || namespace === expected) return;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** What an update carries over from the stored object before it is judged. */
export function keepSystemFields({ metadata }: KubeObject, old: KubeObject): void {
  metadata.uid ||= old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  if (old.metadata.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  }
  dropField(metadata, "selfLink");
}

/** Equal references are kept once; the caller is warned by the uids. */
export function dedupeOwners({ metadata }: KubeObject, { isPatch = false } = {}): string[] {
  const owners = metadata.ownerReferences ?? [];
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const owner of owners) {
    if (kept.some(other => other.uid === owner.uid && deepEqual(other, owner))) duplicates.push(owner.uid);
    else kept.push(owner);
  }
  if (duplicates.length === 0) return [];
  metadata.ownerReferences = kept;
  // A patch is looked at once, after the admission that could have changed it.
  const when = isPatch ? " after mutating admission happens" : "";
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, ` +
      `and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(", ")}`,
  ];
}
