// What a term of pod affinity asks of another pod, read once; and the keys whose values it takes from its own pod.

import type { PodAffinityTerm } from "../../api/pod.ts";
import { type Labels, type LabelSelector, matches, type Selector, selectorOf } from "../../api/selector.ts";
import type { Pod } from "./objects.ts";

/** The labels of a namespace as they are when it is asked. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

export type PodTerm = { topologyKey: string; matchesPod: (pod: Pod, labelsOf: NamespaceLabels) => boolean };

export function podTerms(terms: readonly PodAffinityTerm[] | undefined, owner: Pod): PodTerm[] {
  return (terms ?? []).map(term => podTerm(term, owner));
}

function podTerm(term: PodAffinityTerm, owner: Pod): PodTerm {
  const { topologyKey, namespaces = [], namespaceSelector } = term;
  const selector = parsed(withKeys(term, owner));
  const selected = parsed(namespaceSelector);
  const own = owner.metadata.namespace ?? "";
  const isIn = (namespace: string, labelsOf: NamespaceLabels) => {
    if (namespaces.length === 0 && namespaceSelector === undefined) return namespace === own;
    if (namespaces.includes(namespace)) return true;
    return selected !== undefined && matches(selected, labelsOf(namespace));
  };
  return {
    topologyKey,
    matchesPod: ({ metadata }, labelsOf) =>
      selector !== undefined && isIn(metadata.namespace ?? "", labelsOf) && matches(selector, metadata.labels),
  };
}

/** Keys whose value is taken from the pod itself: its own revision, or every other one. */
export function withKeys(
  term: { labelSelector?: LabelSelector; matchLabelKeys?: readonly string[]; mismatchLabelKeys?: readonly string[] },
  { metadata }: Pod,
): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return undefined;
  const extra = (keys: readonly string[], operator: "In" | "NotIn") =>
    keys.flatMap(key => {
      const value = metadata.labels?.[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const expressions = [...extra(matchLabelKeys, "In"), ...extra(mismatchLabelKeys, "NotIn")];
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] };
}

function parsed(selector: LabelSelector | undefined): Selector | undefined {
  const found = selector && selectorOf(selector);
  return found?.ok ? found.value : undefined;
}
