// What a ReplicaSet counts of its pods. With every change of one of them all are counted, so what is read of each is
// kept for as long as the pod stays as it is.

import { availableAt } from "./conditions.ts";
import { isActive, isDeleting, type Pod, type ReplicaSet } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { type Counts, count, noCounts } from "./pod-template.ts";

export type Tally = Counts & { activeCount: number; fullyLabelledCount: number; terminatingCount: number };

/** All that is counted, in one look. */
export function tallyOf({ podsByController, clock }: Picture, { metadata, spec }: ReplicaSet): Tally {
  const now = clock.now();
  const tally = { ...noCounts, activeCount: 0, fullyLabelledCount: 0, terminatingCount: 0 };
  for (const pod of podsByController.of(metadata.uid)) {
    const look = lookAt(pod, spec);
    if (look.isTerminating) tally.terminatingCount++;
    if (!look.isActive) continue;
    tally.activeCount++;
    if (look.isFullyLabelled) tally.fullyLabelledCount++;
    count(tally, look.availableAt, now);
  }
  return tally;
}

/** What is counted of a pod, for an owner of this spec. */
type Look = {
  readonly spec: ReplicaSet["spec"];
  readonly isTerminating: boolean;
  readonly isActive: boolean;
  readonly isFullyLabelled: boolean;
  readonly availableAt: number | undefined;
};

const looks = new WeakMap<Pod, Look>();

function lookAt(pod: Pod, spec: ReplicaSet["spec"]): Look {
  const known = looks.get(pod);
  if (known?.spec === spec) return known;
  const look = {
    spec,
    isTerminating: isDeleting(pod),
    isActive: isActive(pod),
    isFullyLabelled: isFullyLabelled(pod, spec.template.metadata?.labels ?? {}),
    availableAt: availableAt(pod, spec.minReadySeconds ?? 0),
  };
  looks.set(pod, look);
  return look;
}

function isFullyLabelled({ metadata }: Pod, labels: Readonly<Record<string, string>>): boolean {
  for (const key in labels) if (metadata.labels?.[key] !== labels[key]) return false;
  return true;
}
