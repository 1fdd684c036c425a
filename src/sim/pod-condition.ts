// Conditions that the API server itself puts on pods: on binding and on eviction.

import type { KubeObject } from "../api/meta.ts";
import { timestamp } from "./object-meta.ts";

export type PodCondition = { type: string; status: string; reason?: string; message?: string };

type PodStatus = { conditions?: (PodCondition & { lastProbeTime?: null; lastTransitionTime?: string })[] };

/** Changes `pod`; the time of transition moves only when the status does. */
export function setPodCondition(pod: KubeObject, condition: PodCondition, now: number): void {
  const status = (pod.status ??= {}) as PodStatus;
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[at];
  const unchanged = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const written = { ...condition, lastProbeTime: null, lastTransitionTime: unchanged ?? timestamp(now) };
  if (at < 0) conditions.push(written);
  else conditions[at] = written;
}

export function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod.status ?? {}) as PodStatus;
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
