// Conditions as values: who is ready, since when, and a list with one of them replaced.

import { timestamp } from "../object-meta.ts";
import type { Condition, Pod } from "./objects.ts";

type Conditioned = { status: { conditions?: readonly Condition[] } };
export type Verdict = Pick<Condition, "type" | "status" | "reason" | "message">;

const none: readonly Condition[] = [];

export function conditionOf({ status }: Conditioned, type: string): Condition | undefined {
  // Asked of every pod of a set at every change of one: a loop by index, where `find` would make a function each time
  // and an iterator an object for each condition.
  const { conditions = none } = status;
  for (let i = 0; i < conditions.length; i++) if (conditions[i]?.type === type) return conditions[i];
  return undefined;
}

export function isTrue(object: Conditioned, type: string): boolean {
  return conditionOf(object, type)?.status === "True";
}

export function isReady(object: Conditioned): boolean {
  return isTrue(object, "Ready");
}

/** The instant from which a pod counts as available; undefined while it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = conditionOf(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  // Nothing to wait for: also not for the clock of whoever wrote the condition.
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  return Date.parse(ready.lastTransitionTime ?? "") + minReadySeconds * 1000;
}

/** The time of transition moves only when the status does. */
export function withTransition(before: Condition | undefined, verdict: Verdict, now: number): Condition {
  const since = before?.status === verdict.status ? before.lastTransitionTime : undefined;
  const { type, ...said } = verdict;
  return { type, ...said, lastTransitionTime: since ?? timestamp(now) };
}

/** The list with the condition of this type replaced where it stands, or added at the end. */
export function replaced(conditions: readonly Condition[], condition: Condition): Condition[] {
  const at = conditions.findIndex(({ type }) => type === condition.type);
  return at < 0 ? [...conditions, condition] : conditions.with(at, condition);
}
