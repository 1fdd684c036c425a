// Whether a pod may be asked to leave now, and who says no: its own annotation, its budgets, or the API server's last
// answer. What a budget allows is spent once among the pods of one decision; the server has the last word in any case.

import type { Instant, Millis } from "../api/time.ts";
import type { FailureView, Picture } from "../snapshot/picture.ts";
import type { DisruptionBudgetView, PodTier, PodView } from "../snapshot/views.ts";
import type { Context } from "./decision.ts";
import { type Hold, podHold, podHoldSentence } from "./do-not-disrupt.ts";
import { saidOf, type Wait } from "./termination-step.ts";

/** What one decision has used up. */
export type Spent = {
  /** Whose turn it is. */
  readonly tier: PodTier | undefined;
  /** Evictions by uid of the budget. */
  readonly byBudget: Map<string, number>;
  readonly maxHoldMs: Millis;
};

export type EvictionHold = {
  readonly hold?: Wait;
  /** It may be asked again; until the answer comes, the last refusal is what is known. */
  readonly isAskedAgain?: true;
  /** What is wrong with the annotation. */
  readonly invalid?: string | undefined;
  readonly lookAt?: Instant;
};

export function evictionHold(pod: PodView, spent: Spent, { picture, now }: Context): EvictionHold {
  const own = podHold(pod, spent.maxHoldMs);
  const { invalid } = own;
  if (own.until > now) return { hold: annotated(pod, own), invalid, lookAt: own.until };
  const failure = picture.failure(`pod/${keyOf(pod)}`);
  if (failure !== undefined && failure.retryAt > now) {
    const budgets = picture.budgetsOver(pod);
    return { hold: refusedByServer(pod, budgets, failure), invalid, lookAt: failure.retryAt };
  }
  const hold = budgeted(pod, spent, picture);
  if (hold !== undefined) return { hold, invalid };
  if (failure === undefined) return { invalid };
  const { retryAt: _come, ...last } = refusedByServer(pod, picture.budgetsOver(pod), failure);
  return { hold: last, isAskedAgain: true, invalid };
}

function budgeted(pod: PodView, { byBudget }: Spent, picture: Picture): Wait | undefined {
  // The server asks no budget about a pod that has not begun to run.
  if (pod.phase === "Pending") return undefined;
  const [budget, ...others] = picture.budgetsOver(pod);
  if (budget === undefined) return undefined;
  if (others.length > 0) return several(pod, [budget, ...others]);
  // Whether one that is not ready may go beside the budget (unhealthyPodEvictionPolicy) the server knows best: it is asked.
  if (!pod.isReady) return undefined;
  if (!budget.isObserved) return unobserved(pod, budget);
  const used = byBudget.get(budget.uid) ?? 0;
  if (used >= budget.disruptionsAllowed) return exhausted(pod, budget);
  byBudget.set(budget.uid, used + 1);
  return undefined;
}

function annotated(pod: PodView, hold: Hold): Wait {
  return {
    code: "do-not-disrupt",
    message: podHoldSentence(pod, hold),
    ...(Number.isFinite(hold.until) ? { until: hold.until } : {}),
    liftedBy: "Taking the annotation away, or deleting the pod.",
  };
}

function refusedByServer(pod: PodView, budgets: readonly DisruptionBudgetView[], failure: FailureView): Wait {
  const under = budgets.length === 0 ? "" : ` (under PodDisruptionBudget ${namesOf(budgets)})`;
  return {
    code: "eviction-refused",
    message: `The eviction of pod ${keyOf(pod)}${under} failed: ${saidOf(failure)}`,
    retryAt: failure.retryAt,
    liftedBy: "What the API server asks for; it is tried again.",
  };
}

function several(pod: PodView, budgets: readonly DisruptionBudgetView[]): Wait {
  return {
    code: "several-budgets",
    message: `Pod ${keyOf(pod)} is under more than one PodDisruptionBudget (${namesOf(budgets)}): it cannot be evicted.`,
    liftedBy: "Leaving it under one of them, or deleting the pod.",
  };
}

function unobserved(pod: PodView, { name }: DisruptionBudgetView): Wait {
  return {
    code: "budget-not-observed",
    message: `PodDisruptionBudget ${name} over pod ${keyOf(pod)} has been changed and not been worked out since.`,
    liftedBy: "Its status; look at kube-controller-manager.",
  };
}

function exhausted(pod: PodView, { name }: DisruptionBudgetView): Wait {
  return {
    code: "budget-allows-none",
    message: `PodDisruptionBudget ${name} does not let pod ${keyOf(pod)} go now.`,
    liftedBy: `Another pod of ${name} becoming ready, or a looser budget.`,
  };
}

function namesOf(budgets: readonly DisruptionBudgetView[]): string {
  const names = budgets.slice(0, 3).map(({ name }) => name);
  return names.length < budgets.length ? `${names.join(", ")} …` : names.join(", ");
}

function keyOf({ namespace, name }: PodView): string {
  return `${namespace}/${name}`;
}
