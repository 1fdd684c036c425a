// Affinity: which nodes a pod may or would like to run on, and near or far from which pods.

import { labelErrors, labelValueErrors, subdomainErrors } from "../../api/name.ts";
import { forbidden, invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { LabelSelector } from "../../api/selector.ts";
import { labelSelector, qualifiedName } from "./field-rules.ts";

type Requirement = { key: string; operator: string; values?: string[] };
export type NodeSelectorTerm = { matchExpressions?: Requirement[]; matchFields?: Requirement[] };
type PodTerm = {
  topologyKey: string;
  labelSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  namespaces?: string[];
};
type PodAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution?: PodTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodTerm }[];
};

export type Affinity = {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] | null };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
};

const requiredField = "requiredDuringSchedulingIgnoredDuringExecution";
const preferredField = "preferredDuringSchedulingIgnoredDuringExecution";

export function affinityErrors(
  { nodeAffinity = {}, podAffinity, podAntiAffinity }: Affinity,
  path: string,
): FieldError[] {
  const must = nodeAffinity[requiredField];
  const nodePath = `${path}.nodeAffinity`;
  return [
    ...(must ? nodeSelectorErrors(must.nodeSelectorTerms ?? [], `${nodePath}.${requiredField}.nodeSelectorTerms`) : []),
    ...(nodeAffinity[preferredField] ?? []).flatMap(({ weight, preference }, i) => {
      const at = `${nodePath}.${preferredField}[${i}]`;
      // A preference with an impossible value prefers nothing; only what must hold has to make sense.
      return [...weightErrors(weight, at), ...nodeTermErrors(preference, `${at}.preference`, { checkValues: false })];
    }),
    ...podAffinityErrors(podAffinity ?? {}, `${path}.podAffinity`),
    ...podAffinityErrors(podAntiAffinity ?? {}, `${path}.podAntiAffinity`),
  ];
}

function nodeSelectorErrors(terms: readonly NodeSelectorTerm[], path: string): FieldError[] {
  if (terms.length === 0) return [required(path, "must have at least one node selector term")];
  return terms.flatMap((term, i) => nodeTermErrors(term, `${path}[${i}]`, { checkValues: true }));
}

function nodeTermErrors(term: NodeSelectorTerm, path: string, { checkValues }: { checkValues: boolean }): FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((requirement, i) => {
      const at = `${path}.matchExpressions[${i}]`;
      return [...requirementErrors(requirement, at), ...(checkValues ? valueErrors(requirement, at) : [])];
    }),
    ...(term.matchFields ?? []).flatMap((requirement, i) => fieldErrors(requirement, `${path}.matchFields[${i}]`)),
  ];
}

function requirementErrors({ key, operator, values = [] }: Requirement, path: string): FieldError[] {
  const found: FieldError[] = [];
  const at = `${path}.values`;
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) found.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) found.push(forbidden(at, rule));
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1) found.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else {
    found.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  }
  return [...found, ...qualifiedName(`${path}.key`, key)];
}

function valueErrors({ values = [] }: Requirement, path: string): FieldError[] {
  return values.flatMap((value, i) => {
    return labelValueErrors(value).map(error => invalid(`${path}.values[${i}]`, value, error));
  });
}

/** Nodes can be chosen by one field, their name. */
function fieldErrors({ key, operator, values = [] }: Requirement, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") {
    found.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  } else if (values.length !== 1) {
    const rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    found.push(required(`${path}.values`, rule));
  }
  if (key !== "metadata.name") return [...found, invalid(`${path}.key`, key, "not a valid field selector key")];
  const names = values.flatMap((value, i) => {
    return subdomainErrors(value).map(error => invalid(`${path}.values[${i}]`, value, error));
  });
  return [...found, ...names];
}

function weightErrors(weight: number, path: string): FieldError[] {
  return weight < 1 || weight > 100 ? [invalid(`${path}.weight`, weight, "must be in the range 1-100")] : [];
}

function podAffinityErrors(affinity: PodAffinity, path: string): FieldError[] {
  return [
    ...(affinity[requiredField] ?? []).flatMap((term, i) => podTermErrors(term, `${path}.${requiredField}[${i}]`)),
    ...(affinity[preferredField] ?? []).flatMap(({ weight, podAffinityTerm }, i) => {
      const at = `${path}.${preferredField}[${i}]`;
      return [...weightErrors(weight, at), ...podTermErrors(podAffinityTerm, `${at}.podAffinityTerm`)];
    }),
  ];
}

function podTermErrors(term: PodTerm, path: string): FieldError[] {
  const { topologyKey, namespaces = [] } = term;
  return [
    ...labelSelector(`${path}.labelSelector`, term.labelSelector),
    ...labelSelector(`${path}.namespaceSelector`, term.namespaceSelector),
    ...namespaces.flatMap(name => labelErrors(name).map(error => invalid(`${path}.namespace`, name, error))),
    ...(topologyKey === "" ? [required(`${path}.topologyKey`, "can not be empty")] : []),
    ...qualifiedName(`${path}.topologyKey`, topologyKey),
  ];
}
