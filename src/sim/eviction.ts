// Eviction: a deletion that a PodDisruptionBudget may refuse. The arithmetic is in the budget's status, which
// disruption-budgets.ts computes; here it is only spent.

import type { KubeObject } from "../api/meta.ts";
import { type LabelSelector, matches, selectorOf } from "../api/selector.ts";
import type { ApiError } from "../api/status.ts";
import { type Backend, get, save, type Target } from "./backend.ts";
import { remove } from "./delete.ts";
import { type DeleteOptions, deleteOptionsOf } from "./delete-options.ts";
import { allowedCondition, type Budget, budgetKind, setCondition } from "./disruption-budgets.ts";
import { deepCopy, deepEqual, isObject } from "./json-value.ts";
import { admitToNamespace } from "./namespaces.ts";
import { timestamp } from "./object-meta.ts";
import { isReady, setPodCondition } from "./pod-condition.ts";
import { badRequest, conflict, failure, forbidden, tooManyRequests } from "./refusal.ts";
import type { ApiRequest } from "./request.ts";
import { collectionOf } from "./served-kinds.ts";

const disruptedPodMax = 2000;
const cannotEvict = "Cannot evict pod as it would violate the pod's disruption budget.";

export function evict(backend: Backend, target: Target, request: ApiRequest): void {
  const options = evictionOptions(target, request);
  admitToNamespace(backend, target, target.name);
  const pod = get(backend, target).object;
  if (!isOutsideBudgets(pod)) spend(backend, target, { pod, dryRun: options.dryRun });
  if (options.dryRun) {
    remove(backend, target, options);
    return;
  }
  const evicted = deepCopy(pod);
  const reason = "EvictionByEvictionAPI";
  const condition = { type: "DisruptionTarget", status: "True", reason, message: "Eviction API: evicting" };
  refuseOther(pod, options);
  setPodCondition(evicted, condition, backend.clock.now());
  // A second eviction finds it marked already.
  const marked = deepEqual(evicted, pod) ? pod : save(backend, target, evicted, false).object;
  const { resourceVersion } = marked.metadata;
  remove(backend, target, options.resourceVersion === undefined ? options : { ...options, resourceVersion });
}

function evictionOptions(target: Target, { body, options }: ApiRequest): DeleteOptions {
  if (!isObject(body) || (body.kind !== undefined && body.kind !== "Eviction")) {
    throw badRequest("the object provided is unrecognized (must be of type Eviction)");
  }
  const name = isObject(body.metadata) ? body.metadata.name : undefined;
  if (name !== target.name) throw badRequest("name in URL does not match name in Eviction object");
  const asked = deleteOptionsOf({ options: {}, body: body.deleteOptions ?? {} });
  return { ...asked, dryRun: asked.dryRun || options.dryRun === true };
}

/** The same preconditions as the deletion's, but checked before the pod is marked. */
function refuseOther(pod: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const isOther = (uid ?? pod.metadata.uid) !== pod.metadata.uid;
  const isChanged = (resourceVersion ?? pod.metadata.resourceVersion) !== pod.metadata.resourceVersion;
  if (isOther) throw preconditionFailed(pod, "UID", [uid, pod.metadata.uid], "deleted and then recreated");
  if (isChanged) {
    throw preconditionFailed(pod, "ResourceVersion", [resourceVersion, pod.metadata.resourceVersion], "modified");
  }
}

function preconditionFailed(
  pod: KubeObject,
  what: string,
  [asked, actual]: (string | undefined)[],
  fate: string,
): ApiError {
  const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${actual}). The object might have been ${fate}`;
  return conflict({ group: "", name: "Pod" }, pod.metadata.name, why);
}

/** Pods that run nothing, or are going already, hold no budget. */
function isOutsideBudgets(pod: KubeObject): boolean {
  const { phase = "" } = (pod.status ?? {}) as { phase?: string };
  return ["Succeeded", "Failed", "Pending"].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function spend(backend: Backend, target: Target, { pod, dryRun }: { pod: KubeObject; dryRun: boolean }): void {
  const budgets = budgetsOf(backend, pod);
  const budget = budgets[0];
  if (budgets.length > 1) {
    throw failure("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  if (budget === undefined || isFreeToGo(pod, budget)) return;
  const refused = refusalOf(budget);
  if (refused !== undefined) throw refused;
  const status = budget.status ?? {};
  const disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  const disruptedPods = { ...status.disruptedPods, [target.name]: timestamp(backend.clock.now()) };
  // What lies deeper is shared, and not changed in place.
  const next = { ...status, disruptionsAllowed, disruptedPods };
  const spent: Budget = { ...budget, metadata: { ...budget.metadata }, status: next };
  if (disruptionsAllowed === 0) setCondition(spent, allowedCondition(spent), backend.clock.now());
  const kind = budgetKind(backend);
  const { namespace, name } = budget.metadata;
  if (kind !== undefined) save(backend, { kind, namespace, name }, spent, dryRun);
}

function budgetsOf(backend: Backend, pod: KubeObject): Budget[] {
  const kind = budgetKind(backend);
  if (kind === undefined) return [];
  const budgets = collectionOf(backend.store, kind);
  const found: Budget[] = [];
  for (const key of budgets.keys.range(`${pod.metadata.namespace}/`)) {
    const budget = budgets.get(key)?.object as Budget;
    if (selects(budget.spec?.selector, pod)) found.push(budget);
  }
  return found;
}

/** An absent selector selects nothing, an empty one everything. */
function selects(selector: LabelSelector | undefined, pod: KubeObject): boolean {
  const parsed = selector && parsedOnce(selector);
  return parsed?.ok === true && matches(parsed.value, pod.metadata.labels);
}

const parsedBySelector = new WeakMap<LabelSelector, ReturnType<typeof selectorOf>>();

/** Each eviction asks all budgets of its namespace, whose specs hardly ever change. */
function parsedOnce(selector: LabelSelector): ReturnType<typeof selectorOf> {
  const parsed = parsedBySelector.get(selector) ?? selectorOf(selector);
  parsedBySelector.set(selector, parsed);
  return parsed;
}

/** A pod that is not ready costs the budget nothing, as far as its policy allows that. */
function isFreeToGo(pod: KubeObject, { spec, status }: Budget): boolean {
  if (isReady(pod)) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function refusalOf({ metadata, status = {} }: Budget): ApiError | undefined {
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = status;
  const budgets = { group: "policy", name: "poddisruptionbudget" };
  if (observedGeneration < (metadata.generation ?? 0)) {
    const message = `The disruption budget ${metadata.name} is still being processed by the server.`;
    return tooManyRequests(cannotEvict, { causes: [{ reason: "DisruptionBudget", message }], retryAfterSeconds: 10 });
  }
  if (disruptionsAllowed < 0) return forbidden(budgets, metadata.name, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > disruptedPodMax) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    return forbidden(budgets, metadata.name, why);
  }
  if (disruptionsAllowed > 0) return undefined;
  const message = `The disruption budget ${metadata.name} ${whyNone(status)}`;
  return tooManyRequests(cannotEvict, { causes: [{ reason: "DisruptionBudget", message }] });
}

function whyNone({ conditions = [], currentHealthy = 0, desiredHealthy = 0 }: NonNullable<Budget["status"]>): string {
  const condition = conditions.find(({ type }) => type === "DisruptionAllowed");
  const said = condition?.status === "False" ? condition.message : "";
  if (said && condition?.reason === "SyncFailed") {
    return `does not allow evicting pods currently because it failed sync: ${said}`;
  }
  if (currentHealthy <= desiredHealthy)
    return `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  if (said) return `does not allow evicting pods currently (${condition?.reason}): ${said}`;
  return "does not allow evicting pods currently";
}
