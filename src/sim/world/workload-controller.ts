// The frame of a workload controller: it is woken by its objects and by the pods they control, one object at a time.

import type { KubeObject } from "../../api/meta.ts";
import { deepEqual } from "../json-value.ts";
import type { Mirror } from "./mirror.ts";
import { type Condition, controllerOf, isDeleting, keyOf } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { type Failed, Worker } from "./worker.ts";

/** Changes of dependents are gathered for this long: else a thousand pods that start would be counted a thousand times. */
const settleMs = 50;
/** Where nobody is missing and there is only something to be told. */
const tellMs = 500;

export type ControllerOptions = { failed?: Failed };

export type Controlled<T extends KubeObject> = {
  kind: string;
  owners: Mirror<T>;
  /** The kinds of objects that an owner makes. */
  dependents: readonly Pick<Mirror<KubeObject>, "onChange">[];
  /** Returns the instant at which to look again, if nothing happens before. */
  sync: (owner: T) => Promise<number | undefined>;
  /** Its own word needs no second look: one says all there is to say. */
  isSaidAtOnce?: boolean;
};

export function controllerWorker<T extends KubeObject>(
  { clock, synced }: Picture,
  { kind, owners, dependents, sync, isSaidAtOnce = false }: Controlled<T>,
  { failed }: ControllerOptions,
): Worker {
  const worker = new Worker({
    clock,
    after: synced,
    sync: async key => {
      const owner = owners.get(key);
      const wakeAt = owner && (await sync(owner));
      if (wakeAt !== undefined) worker.addAt(key, wakeAt);
    },
    ...(failed && { failed }),
  });
  owners.onChange(({ key, object, previous, isGone }) => {
    if (isGone) worker.forget(key);
    else if (!isSaidAtOnce || !worker.isAt(key) || !isSameButStatus(object, previous)) worker.add(key);
  });
  for (const mirror of dependents) {
    mirror.onChange(({ object, previous, isGone }) => {
      const reference = controllerOf(object);
      const { namespace } = object.metadata;
      if (reference?.kind !== kind || namespace === undefined) return;
      if (previous !== undefined && !isGone && !isNews(object, previous)) return;
      const key = keyOf({ metadata: { name: reference.name, namespace } });
      if (owners.get(key)?.metadata.uid === reference.uid)
        worker.addAt(key, clock.now() + (isGone || isDeleting(object) ? settleMs : tellMs));
    });
  }
  return worker;
}

/** While it is worked on: its own word, come back to it. */
function isSameButStatus(object: KubeObject, previous: KubeObject | undefined): boolean {
  const rest = ({ metadata }: KubeObject) => ({ ...metadata, resourceVersion: "", managedFields: [] });
  return previous !== undefined && deepEqual(rest(object), rest(previous));
}

type Dependent = KubeObject & { status?: { phase?: string; conditions?: readonly Condition[] } };

/** Of pods only what an owner counts: where a pod runs is no concern of its. */
function isNews(object: Dependent, previous: Dependent): boolean {
  if (object.kind !== "Pod") return true;
  const [meta, metaBefore] = [object.metadata, previous.metadata];
  return (
    object.status?.phase !== previous.status?.phase ||
    meta.deletionTimestamp !== metaBefore.deletionTimestamp ||
    readiness(object) !== readiness(previous) ||
    !deepEqual(meta.labels, metaBefore.labels) ||
    !deepEqual(meta.finalizers, metaBefore.finalizers)
  );
}

function readiness({ status }: Dependent): string | undefined {
  for (const { type, status: said } of status?.conditions ?? []) if (type === "Ready") return said;
  return undefined;
}
