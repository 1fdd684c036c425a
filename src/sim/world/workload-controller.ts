// The frame of a workload controller: it is woken by its objects and by the pods they control, one object at a time.

import type { KubeObject } from "../../api/meta.ts";
import type { Mirror } from "./mirror.ts";
import { controllerOf, keyOf } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { type Failed, Worker } from "./worker.ts";

export type ControllerOptions = { failed?: Failed };

export type Controlled<T extends KubeObject> = {
  kind: string;
  owners: Mirror<T>;
  /** The kinds of objects that an owner makes. */
  dependents: readonly Pick<Mirror<KubeObject>, "onChange">[];
  /** Returns the instant at which to look again, if nothing happens before. */
  sync(owner: T): Promise<number | undefined>;
};

export function controllerWorker<T extends KubeObject>(
  { clock, synced }: Picture,
  { kind, owners, dependents, sync }: Controlled<T>,
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
  owners.onChange(({ key, isGone }) => (isGone ? worker.forget(key) : worker.add(key)));
  for (const mirror of dependents) {
    mirror.onChange(({ object }) => {
      const reference = controllerOf(object);
      const { namespace } = object.metadata;
      if (reference?.kind !== kind || namespace === undefined) return;
      const key = keyOf({ metadata: { name: reference.name, namespace } });
      if (owners.get(key)?.metadata.uid === reference.uid) worker.add(key);
    });
  }
  return worker;
}
