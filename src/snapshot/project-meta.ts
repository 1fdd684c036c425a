// What every kind keeps of its metadata, and conditions, which most kinds have in the same form.

import type { KubeObject, OwnerReference } from "../api/meta.ts";
import { fields, items, text, texts, time, timeIfPresent, unreadableTime } from "./raw.ts";
import type { ConditionView, MetaView } from "./views.ts";

export function metaOf({ metadata }: KubeObject): MetaView {
  const { name, uid, resourceVersion } = metadata;
  const deletingSince = timeIfPresent(metadata.deletionTimestamp);
  return {
    name,
    uid,
    resourceVersion,
    // Of an age that cannot be read nothing is old enough to go.
    createdAt: time(metadata.creationTimestamp) ?? unreadableTime,
    ...(deletingSince === undefined ? {} : { deletingSince }),
    labels: texts(metadata.labels),
    annotations: texts(metadata.annotations),
    finalizers: items(metadata.finalizers).filter(finalizer => typeof finalizer === "string"),
  };
}

export function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  return items(metadata.ownerReferences).filter(isOwner);
}

/** Without heartbeats. One without a type or a status that can be read says nothing and is left out. */
export function conditionsOf(list: unknown): readonly ConditionView[] {
  const conditions: ConditionView[] = [];
  for (const item of items(list)) {
    const { type, status, reason, message, lastTransitionTime } = fields(item);
    if (typeof type !== "string" || typeof status !== "string") continue;
    const since = time(lastTransitionTime);
    const said = { reason: text(reason) ?? "", message: text(message) ?? "" };
    conditions.push(since === undefined ? { type, status, ...said } : { type, status, ...said, since });
  }
  return conditions;
}

function isOwner(value: unknown): value is OwnerReference {
  const { apiVersion, kind, name, uid } = fields(value);
  return [apiVersion, kind, name, uid].every(part => typeof part === "string");
}
