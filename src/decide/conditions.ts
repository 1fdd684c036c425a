// Conditions as a list that is written whole. A status that stays keeps its time; one that is new or has changed has
// none, and is stamped when it is written.

import type { ConditionView } from "../snapshot/views.ts";
import type { ConditionChange } from "./decision.ts";

type Condition = Omit<ConditionView, "since">;

/** What a condition is before anybody has looked. */
export const awaitingReconciliation = "AwaitingReconciliation";

/** The list with this condition in its place, or at the end. */
export function withCondition(list: readonly ConditionChange[], condition: Condition): readonly ConditionChange[] {
  const before = conditionOf(list, condition.type);
  // Nearly always it says what it said before.
  if (before !== undefined && isSame(before, condition)) return list;
  const since = before?.status === condition.status ? before.since : undefined;
  const { type, ...said } = condition;
  const next = since === undefined ? { type, ...said } : { type, ...said, since };
  return before === undefined ? [...list, next] : list.map(one => (one === before ? next : one));
}

export function conditionOf<C extends Condition>(list: readonly C[], type: string): C | undefined {
  // By index: rules ask this of whatever they look at, `find` would call a function and an iterator make an object for
  // each condition.
  for (let i = 0; i < list.length; i++) if (list[i]?.type === type) return list[i];
  return undefined;
}

export function isTrue(list: readonly Condition[], type: string): boolean {
  return conditionOf(list, type)?.status === "True";
}

/** Whether writing `next` over `list` would change anything but times. */
export function sameConditions(list: readonly Condition[], next: readonly Condition[]): boolean {
  return list.length === next.length && next.every(condition => isSame(conditionOf(list, condition.type), condition));
}

/** The code of a refusal as conditions write their reasons: `node-limit` is NodeLimit. */
export function reasonOf(code: string): string {
  return code.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
}

/** Those of the types that are missing, as not looked at yet. */
export function withAwaiting(list: readonly ConditionChange[], types: readonly string[]): readonly ConditionChange[] {
  return types
    .filter(type => conditionOf(list, type) === undefined)
    .reduce((all, type) => withCondition(all, awaiting(type)), list);
}

/** Why something is not ready, whatever its parts say. */
export type Doubt = { readonly reason: string; readonly message: string };

/** Ready sums up the others: False as soon as one of them is or there is a doubt, True when all are, else Unknown. */
export function withReady(
  list: readonly ConditionChange[],
  parts: readonly string[],
  doubt?: Doubt,
): readonly ConditionChange[] {
  if (doubt !== undefined) return withDoubt(list, doubt);
  const wanting = parts
    .map(type => conditionOf(list, type) ?? awaiting(type))
    .filter(({ status }) => status !== "True");
  const message = wanting.map(({ type, status }) => `${type}=${status}`).join(", ");
  if (wanting.length === 0) return withCondition(list, { type: "Ready", status: "True", reason: "Ready", message });
  const [status, reason] = wanting.some(part => part.status === "False")
    ? ["False", "UnhealthyDependents"]
    : ["Unknown", "ReconcilingDependents"];
  return withCondition(list, { type: "Ready", status, reason, message });
}

// Each doubt has its own time, since others count from it: one after another is not the first one going on.
function withDoubt(list: readonly ConditionChange[], { reason, message }: Doubt): readonly ConditionChange[] {
  const isSame = conditionOf(list, "Ready")?.reason === reason;
  const before = isSame ? list : list.map(one => (one.type === "Ready" ? withoutTime(one) : one));
  return withCondition(before, { type: "Ready", status: "False", reason, message });
}

function withoutTime(written: ConditionChange): ConditionChange {
  const { since: _, ...condition } = written;
  return condition;
}

export const claimParts = ["Launched", "Registered", "Initialized"] as const;
export const poolParts = ["ValidationSucceeded", "NodeClassReady"] as const;

function awaiting(type: string): Condition {
  return { type, status: "Unknown", reason: awaitingReconciliation, message: "" };
}

function isSame(before: Condition | undefined, { status, reason, message }: Condition): boolean {
  return before?.status === status && before.reason === reason && before.message === message;
}
