// Selectors, node terms and tolerations as their documentation words them, read anew for every question. Written for
// the verifier alone, so that a slip in the product's matching shows.

import type { NodeRequirement, NodeSelectorTerm } from "../../../src/api/node-selector.ts";
import type { Pod } from "../../../src/api/pod.ts";
import type { LabelSelector, Labels } from "../../../src/api/selector.ts";
import type { Taint, Toleration } from "../../../src/api/taint.ts";

/** An absent selector selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  const isPair = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return isPair && (selector.matchExpressions ?? []).every(one => allows(one, labels[one.key]));
}

export function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** Whether a label with this value, or its absence, is what a requirement asks for. */
export function allows({ operator, values = [] }: Omit<NodeRequirement, "key">, value: string | undefined): boolean {
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  if (operator === "NotIn") return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === "In") return values.includes(value);
  const [bound] = values;
  if (bound === undefined || !isInteger(value) || !isInteger(bound)) return false;
  const difference = BigInt(value) - BigInt(bound);
  if (operator === "Gt") return difference > 0n;
  if (operator === "Lt") return difference < 0n;
  return operator === "Gte" ? difference >= 0n : difference <= 0n;
}

function isInteger(text: string): boolean {
  return /^-?[0-9]+$/.test(text);
}

export type NamedLabels = { name: string; labels: Labels };

/** Expressions and fields must all hold; a term with neither matches nothing. */
export function matchesTerm(term: NodeSelectorTerm, { name, labels }: NamedLabels): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const holdsFields = matchFields.every(one => one.key === "metadata.name" && allows(one, name));
  return holdsFields && matchExpressions.every(one => allows(one, labels[one.key]));
}

/** Node selector and required node affinity together. */
export function isWanted({ spec }: Pod, node: NamedLabels): boolean {
  const isSelected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value);
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return isSelected && (required === undefined || required.nodeSelectorTerms.some(term => matchesTerm(term, node)));
}

/** The first taint that keeps the pod away; one that only prefers to does not. */
export function repellingTaint({ spec }: Pod, taints: readonly Taint[]): Taint | undefined {
  const tolerations = spec.tolerations ?? [];
  return taints.find(taint => taint.effect !== "PreferNoSchedule" && !tolerations.some(one => tolerates(one, taint)));
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === "Exists") return true;
  const isEqual = toleration.operator === undefined || toleration.operator === "Equal";
  return isEqual && (toleration.value ?? "") === (taint.value ?? "");
}
