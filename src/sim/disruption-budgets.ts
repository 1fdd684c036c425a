// The status of PodDisruptionBudgets, computed as kube-controller-manager's disruption controller (1.36) does. It
// keeps, for each budget, what matters of its pods, so that a pod's change costs one budget's count and no scan.

import type { KubeObject } from "../api/meta.ts";
import { type LabelSelector, matches, type Selector, selectorOf } from "../api/selector.ts";
import { type Backend, save } from "./backend.ts";
import { type ControllerRef, Controllers, controllerOf, expectedScale } from "./controller-scale.ts";
import type { Change } from "./history.ts";
import { deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { timestamp } from "./object-meta.ts";
import { isReady } from "./pod-condition.ts";
import type { Collection } from "./store.ts";
import type { Texts } from "./stored.ts";
import { WorkQueue } from "./work-queue.ts";

type Condition = {
  type: string;
  status: string;
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
};

export type BudgetStatus = {
  observedGeneration?: number;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  expectedPods?: number;
  disruptedPods?: Record<string, string>;
  conditions?: Condition[];
};

export type Budget = KubeObject & {
  spec?: {
    selector?: LabelSelector;
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: BudgetStatus;
};

/** How many different sets of labels are remembered. */
const labelsMax = 4096;

/**
 * How long it waits to tell of pods that got ready or are gone: many do, one after the other, and nobody is harmed by a word
 * that allows too little. That fewer are healthy, or more are expected, is told at once.
 */
const gatherMs = 2_000;

/** How long an evicted pod may take to be deleted before it counts as healthy again. */
const deletionTimeoutMs = 2 * 60_000;

type PodView = { isHealthy: boolean; isDeleting: boolean; controller: ControllerRef | undefined };
type Tracked = { selector: LabelSelector | undefined; parsed: Selector | undefined; pods: TrackedPods };

/** The pods of one budget, with what is counted of them: budgets of thousands are settled with every change. */
class TrackedPods {
  /** Ready and not being deleted. */
  healthyCount = 0;
  readonly controllers = new Controllers();
  readonly #byName = new Map<string, PodView>();

  get size(): number {
    return this.#byName.size;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  get(name: string): PodView | undefined {
    return this.#byName.get(name);
  }

  set(name: string, pod: PodView | undefined): void {
    const before = this.#byName.get(name);
    if (before !== undefined && isHealthy(before)) this.healthyCount--;
    if (pod !== undefined && isHealthy(pod)) this.healthyCount++;
    this.controllers.move(name, before?.controller, pod?.controller);
    if (pod === undefined) this.#byName.delete(name);
    else this.#byName.set(name, pod);
  }
}

function isHealthy(pod: PodView): boolean {
  return pod.isHealthy && !pod.isDeleting;
}

export function budgetKind({ kinds }: Backend): ServedKind | undefined {
  return kinds.find({ group: "policy", version: "v1", plural: "poddisruptionbudgets" });
}

export class DisruptionBudgets {
  readonly #backend: Backend;
  readonly #queue: WorkQueue;
  readonly #trackedByKey = new Map<string, Tracked>();
  /** Which budgets a pod counts in, as long as its labels are the same. */
  readonly #budgetKeysByPod = new Map<string, Set<string>>();
  /** Which budgets select pods with these labels, until some budget selects others: a workload's pods are alike. */
  readonly #budgetKeysByLabels = new Map<string, readonly string[]>();
  /** Those that are counted again in a moment. */
  readonly #gathering = new Set<string>();
  #isSaving = false;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#queue = new WorkQueue(backend.clock, key => this.#sync(key));
  }

  start(): void {
    this.#backend.store.onChange((collection, change) => this.#onChange(collection, change));
  }

  #onChange({ name }: Collection, change: Change): void {
    // What it writes itself says what it has just counted.
    if (name === "poddisruptionbudgets.policy" && !this.#isSaving) this.#budgetChanged(change);
    else if (name === "pods" && this.#trackedByKey.size > 0) this.#podChanged(change);
  }

  #budgetChanged({ type, key, stored }: Change): void {
    if (type === "DELETED") {
      this.#untrack(key);
      return;
    }
    const { spec } = stored.object as Budget;
    const tracked = this.#trackedByKey.get(key);
    if (tracked === undefined || !deepEqual(tracked.selector, spec?.selector)) this.#track(key, spec?.selector);
    this.#queue.add(key);
  }

  /** Reads the namespace's pods once; from then on their changes are followed. */
  #track(key: string, selector: LabelSelector | undefined): void {
    this.#untrack(key);
    const parsed = selector && selectorOf(selector);
    const tracked: Tracked = { selector, parsed: parsed?.ok ? parsed.value : undefined, pods: new TrackedPods() };
    this.#trackedByKey.set(key, tracked);
    this.#budgetKeysByLabels.clear();
    const pods = this.#backend.store.collection("pods");
    for (const podKey of pods.keys.range(namespacePrefix(key))) {
      const pod = pods.get(podKey)?.object;
      if (pod !== undefined) this.#follow(key, podKey, pod);
    }
  }

  #untrack(key: string): void {
    const prefix = namespacePrefix(key);
    for (const name of this.#trackedByKey.get(key)?.pods.names() ?? []) this.#belong(prefix + name, key, false);
    this.#trackedByKey.delete(key);
    this.#budgetKeysByLabels.clear();
  }

  #podChanged({ type, key, stored, previous }: Change): void {
    const pod = type === "DELETED" ? undefined : stored.object;
    const isRelabelled = pod !== undefined && !deepEqual(previous?.labels, stored.labels);
    if (pod !== undefined && previous !== undefined && !isRelabelled && isSameView(previous.object, pod)) return;
    const known = new Set(this.#budgetKeysByPod.get(key));
    // Of a namespace's budgets nearly all have nothing to do with the pod, before or after.
    const asked = isRelabelled ? this.#budgetKeysOver(key, stored.labels) : [];
    for (const budgetKey of new Set([...known, ...asked])) {
      const { healthyCount = 0, size = 0 } = this.#trackedByKey.get(budgetKey)?.pods ?? {};
      this.#follow(budgetKey, key, pod);
      const after = this.#trackedByKey.get(budgetKey)?.pods;
      const mayAllowLess = after !== undefined && (after.healthyCount < healthyCount || after.size > size);
      if (mayAllowLess) this.#queue.add(budgetKey);
      else this.#gather(budgetKey);
    }
  }

  #gather(budgetKey: string): void {
    if (this.#gathering.has(budgetKey)) return;
    this.#gathering.add(budgetKey);
    this.#backend.clock.after(gatherMs, () => {
      this.#gathering.delete(budgetKey);
      this.#queue.add(budgetKey);
    });
  }

  #budgetKeysOver(podKey: string, labels: Texts | undefined): readonly string[] {
    const prefix = namespacePrefix(podKey);
    const asked = prefix + JSON.stringify(labels ?? {});
    let keys = this.#budgetKeysByLabels.get(asked);
    if (keys === undefined) {
      const budgets = this.#backend.store.collection("poddisruptionbudgets.policy");
      keys = [...budgets.keys.range(prefix)].filter(key => {
        const parsed = this.#trackedByKey.get(key)?.parsed;
        return parsed !== undefined && matches(parsed, labels);
      });
      // All at once: pods with labels of their own each are not asked for again.
      if (this.#budgetKeysByLabels.size >= labelsMax) this.#budgetKeysByLabels.clear();
      this.#budgetKeysByLabels.set(asked, keys);
    }
    return keys;
  }

  #follow(budgetKey: string, podKey: string, pod: KubeObject | undefined): void {
    const tracked = this.#trackedByKey.get(budgetKey);
    if (tracked === undefined) return;
    const { parsed, pods } = tracked;
    const isIn = pod !== undefined && parsed !== undefined && matches(parsed, pod.metadata.labels);
    pods.set(podKey.slice(podKey.indexOf("/") + 1), isIn ? podView(pod) : undefined);
    this.#belong(podKey, budgetKey, isIn);
  }

  #belong(podKey: string, budgetKey: string, isIn: boolean): void {
    const keys = this.#budgetKeysByPod.get(podKey) ?? new Set();
    if (isIn) keys.add(budgetKey);
    else keys.delete(budgetKey);
    if (keys.size === 0) this.#budgetKeysByPod.delete(podKey);
    else this.#budgetKeysByPod.set(podKey, keys);
  }

  #sync(key: string): void {
    const { store, clock } = this.#backend;
    const budget: Budget | undefined = store.collection("poddisruptionbudgets.policy").get(key)?.object;
    const tracked = this.#trackedByKey.get(key);
    if (budget === undefined || tracked === undefined) return;
    const now = clock.now();
    const disrupted = stillDisrupted(budget, tracked.pods, now);
    const counted = countsOf(this.#backend, budget, tracked.pods);
    // Both ways of settling make a new status; the rest is shared.
    const next: Budget = { ...budget, metadata: { ...budget.metadata } };
    if (typeof counted === "string") failSafe(next, counted, now);
    else settle(next, { ...counted, disrupted, healthy: healthyCount(tracked.pods, disrupted) }, now);
    if (!deepEqual(next.status, budget.status)) this.#save(next);
    const recheckAt = Math.min(...Object.values(disrupted).map(at => Date.parse(at) + deletionTimeoutMs));
    if (Number.isFinite(recheckAt)) this.#queue.addAfter(key, recheckAt - now + 1);
  }

  #save(budget: Budget): void {
    const kind = budgetKind(this.#backend);
    if (kind === undefined) return;
    const { namespace, name } = budget.metadata;
    this.#isSaving = true;
    try {
      save(this.#backend, { kind, namespace, name }, budget, false);
    } finally {
      this.#isSaving = false;
    }
  }
}

function namespacePrefix(key: string): string {
  return key.slice(0, key.indexOf("/") + 1);
}

function podView(pod: KubeObject): PodView {
  const isDeleting = pod.metadata.deletionTimestamp !== undefined;
  return { isHealthy: isReady(pod), isDeleting, controller: controllerOf(pod) };
}

/** Whether it counts as it did: most writes to a pod change nothing that a budget reads. */
function isSameView(before: KubeObject, after: KubeObject): boolean {
  const isGoing = (pod: KubeObject) => pod.metadata.deletionTimestamp !== undefined;
  if (isReady(before) !== isReady(after) || isGoing(before) !== isGoing(after)) return false;
  return deepEqual(before.metadata.ownerReferences, after.metadata.ownerReferences);
}

type Counts = { expectedPods: number; desiredHealthy: number };

/** A sentence instead of counts when a pod's controller cannot be asked for its scale. */
function countsOf(backend: Backend, { metadata, spec = {} }: Budget, pods: TrackedPods): Counts | string {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable !== "string") {
    // Neither field: nothing is expected, so nothing may go.
    return { expectedPods: minAvailable === undefined ? 0 : pods.size, desiredHealthy: minAvailable ?? 0 };
  }
  const expectedPods = expectedScale(backend, metadata.namespace ?? "", pods.controllers);
  if (typeof expectedPods === "string") return expectedPods;
  const asked = maxUnavailable ?? minAvailable;
  const count = roundedUp(asked, expectedPods);
  if (count === undefined) return `invalid value for IntOrString: invalid type: string is not a percentage`;
  if (maxUnavailable === undefined) return { expectedPods, desiredHealthy: count };
  return { expectedPods, desiredHealthy: Math.max(0, expectedPods - count) };
}

function roundedUp(asked: number | string | undefined, total: number): number | undefined {
  if (typeof asked === "number") return asked;
  const percent = /^(\d+)%$/.exec(asked ?? "")?.[1];
  return percent === undefined ? undefined : Math.ceil((Number(percent) * total) / 100);
}

/** Evictions that are granted and not yet carried out; those that took too long are taken back. */
function stillDisrupted({ status }: Budget, pods: TrackedPods, now: number): Record<string, string> {
  const waiting: Record<string, string> = {};
  for (const [name, at] of Object.entries(status?.disruptedPods ?? {})) {
    const pod = pods.get(name);
    if (pod !== undefined && !pod.isDeleting && Date.parse(at) + deletionTimeoutMs >= now) waiting[name] = at;
  }
  return waiting;
}

function healthyCount(pods: TrackedPods, disrupted: Readonly<Record<string, string>>): number {
  const leaving = Object.keys(disrupted).flatMap(name => pods.get(name) ?? []);
  return pods.healthyCount - leaving.filter(isHealthy).length;
}

type Settled = Counts & { healthy: number; disrupted: Record<string, string> };

function settle(budget: Budget, { expectedPods, desiredHealthy, healthy, disrupted }: Settled, now: number): void {
  const { generation } = budget.metadata;
  budget.status = {
    disruptionsAllowed: expectedPods > 0 ? Math.max(0, healthy - desiredHealthy) : 0,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    currentHealthy: healthy,
    desiredHealthy,
    expectedPods,
    ...(budget.status?.conditions && { conditions: budget.status.conditions }),
  };
  setCondition(budget, allowedCondition(budget), now);
}

/** What cannot be counted may not be disrupted. */
function failSafe(budget: Budget, why: string, now: number): void {
  budget.status = { ...budget.status, disruptionsAllowed: 0 };
  setCondition(budget, { status: "False", reason: "SyncFailed", message: why }, now);
}

type Verdict = Pick<Condition, "status" | "reason" | "message">;

export function allowedCondition({ status }: Budget): Verdict {
  return (status?.disruptionsAllowed ?? 0) > 0
    ? { status: "True", reason: "SufficientPods", message: "" }
    : { status: "False", reason: "InsufficientPods", message: "" };
}

/** Changes `budget`. */
export function setCondition(budget: Budget, verdict: Verdict, now: number): void {
  const status = (budget.status ??= {});
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === "DisruptionAllowed");
  const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : timestamp(now);
  const condition: Condition = {
    type: "DisruptionAllowed",
    lastTransitionTime,
    ...(status.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    ...verdict,
  };
  status.conditions = [...conditions.filter(other => other !== before), condition];
}
