// Which pods a pod's rules about other pods look at: selectors with their namespaces and the keys taken from the pod's
// own labels, made ready for matching. Never where those pods are.

import type { PodAffinityTerm, TopologySpreadConstraint } from "../../api/pod.ts";
import {
  formatSelector,
  type LabelSelector,
  type Labels,
  matches,
  type Selector,
  selectorOf,
} from "../../api/selector.ts";
import type { Namespace } from "./problem.ts";

/** Pods with the same labels in the same namespace: no rule tells them apart. */
export type PodLabels = { namespace: string; labels: Labels };

/** `namespaces` undefined: all. `selector` undefined: it selects no pod. */
export type PodSet = { namespaces: readonly string[] | undefined; selector: Selector | undefined; signature: string };

export type AffinityTerm = { key: string; pods: PodSet };

export function affinityTerm(term: PodAffinityTerm, own: PodLabels, namespaces: Iterable<Namespace>): AffinityTerm {
  const selector = merged(term.labelSelector, own.labels, [
    ...(term.matchLabelKeys ?? []).map(key => ({ key, operator: "In" as const })),
    ...(term.mismatchLabelKeys ?? []).map(key => ({ key, operator: "NotIn" as const })),
  ]);
  return { key: term.topologyKey, pods: podSet(selector, namespacesOf(term, own, namespaces)) };
}

export function spreadPods({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, own: PodLabels): PodSet {
  const keys = matchLabelKeys.map(key => ({ key, operator: "In" as const }));
  return podSet(merged(labelSelector, own.labels, keys), [own.namespace]);
}

export function selects({ namespaces, selector }: PodSet, pod: PodLabels): boolean {
  if (selector === undefined || (namespaces !== undefined && !namespaces.includes(pod.namespace))) return false;
  return matches(selector, pod.labels);
}

function podSet(selector: Selector | undefined, namespaces: readonly string[] | undefined): PodSet {
  const where = namespaces === undefined ? "*" : [...namespaces].sort().join(",");
  return { namespaces, selector, signature: `${where} ${selector === undefined ? "!" : formatSelector(selector)}` };
}

// The API server writes these keys into the selector of pods it stores; of templates it does not. Twice is once.
function merged(
  selector: LabelSelector | undefined,
  own: Labels,
  keys: readonly { key: string; operator: "In" | "NotIn" }[],
): Selector | undefined {
  if (selector === undefined) return undefined;
  const expressions = keys.flatMap(({ key, operator }) => {
    const value = own[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  const parsed = selectorOf({ ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...expressions] });
  return parsed.ok ? parsed.value : undefined;
}

function namespacesOf(
  { namespaces = [], namespaceSelector }: PodAffinityTerm,
  own: PodLabels,
  known: Iterable<Namespace>,
): readonly string[] | undefined {
  if (namespaceSelector === undefined) return namespaces.length > 0 ? namespaces : [own.namespace];
  const parsed = selectorOf(namespaceSelector);
  if (!parsed.ok) return namespaces;
  if (parsed.value.length === 0) return undefined;
  const chosen = [...known].filter(({ metadata }) => matches(parsed.value, metadata.labels));
  return [...new Set([...namespaces, ...chosen.map(({ metadata }) => metadata.name)])];
}
