// What a pod's node affinity and a pool's requirements ask of a node: the operators of NodeSelectorRequirement,
// and Karpenter's Gte and Lte. Numbers are compared as 64-bit integers; a label that is none matches nothing.

import { type FieldRequirement, type FieldSelector, matchesFields } from "./field-selector.ts";
import { accepted, type Parsed, quoted, refused } from "./parsed.ts";
import {
  aggregate,
  type Labels,
  matches,
  type Operator,
  type Requirement,
  requirementErrors,
  type Selector,
  sortedByKey,
} from "./selector.ts";

export type NodeOperator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" | "Gte" | "Lte";

export type NodeRequirement = { key: string; operator: NodeOperator; values?: string[] };

export type NodeSelectorTerm = { matchExpressions?: NodeRequirement[]; matchFields?: NodeRequirement[] };

/** Of several terms one must match; in a term all expressions and fields must. */
export type NodeSelector = { nodeSelectorTerms: NodeSelectorTerm[] };

/** A term made ready for matching, or why it can match nothing. */
export type ReadyTerm = { expressions: Selector; fields: FieldSelector } | { error: string };

export type NamedLabels = { name: string; labels?: Labels };

const operatorOf: Record<NodeOperator, Operator> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
  Gte: "gte",
  Lte: "lte",
};
const poolOperators = Object.keys(operatorOf);
const podOperators = poolOperators.filter(operator => operator !== "Gte" && operator !== "Lte");

/** A pool's requirements as a selector over labels: all eight operators. */
export function nodeRequirements(requirements: readonly NodeRequirement[]): Parsed<Selector> {
  return labelRequirements(requirements, "", poolOperators);
}

/**
 * Node affinity as kube-scheduler 1.36 reads it (six operators). A term that cannot be read matches nothing
 * and the others still count; so does it here.
 */
export function readyTerms(selector: NodeSelector): ReadyTerm[] {
  return selector.nodeSelectorTerms.flatMap((term, index): ReadyTerm[] => {
    const expressions = term.matchExpressions ?? [];
    const fields = term.matchFields ?? [];
    if (expressions.length + fields.length === 0) return []; // matches nothing, by definition
    const path = `nodeSelectorTerms[${index}]`;
    const byLabel = labelRequirements(expressions, `${path}.matchExpressions`, podOperators);
    const byField = fieldRequirements(fields, `${path}.matchFields`);
    if (byLabel.ok && byField.ok) return [{ expressions: byLabel.value, fields: byField.value }];
    return [{ error: aggregate([byLabel, byField].flatMap(parsed => (parsed.ok ? [] : [parsed.error]))) }];
  });
}

export function matchesTerms(terms: readonly ReadyTerm[], node: NamedLabels): boolean {
  return terms.some(
    term =>
      !("error" in term) &&
      matches(term.expressions, node.labels) &&
      matchesFields(term.fields, { "metadata.name": node.name }),
  );
}

function labelRequirements(
  requirements: readonly NodeRequirement[],
  path: string,
  allowed: readonly string[],
): Parsed<Selector> {
  const errors: string[] = [];
  const selector: Requirement[] = [];
  for (const [index, { key, operator, values }] of requirements.entries()) {
    const at = `${path}[${index}]`;
    if (!allowed.includes(operator)) {
      errors.push(unsupported(`${at}.operator`, operator, allowed));
      continue;
    }
    const requirement = { key, operator: operatorOf[operator], values: values ?? [] };
    errors.push(...requirementErrors(requirement, at));
    selector.push(requirement);
  }
  return errors.length > 0 ? refused(aggregate(errors)) : accepted(sortedByKey(selector));
}

// The value of a field is exactly one, and any text: it is no label value.
function fieldRequirements(requirements: readonly NodeRequirement[], path: string): Parsed<FieldSelector> {
  const errors: string[] = [];
  const selector: FieldRequirement[] = [];
  for (const [index, { key, operator, values = [] }] of requirements.entries()) {
    const [value] = values;
    if (operator !== "In" && operator !== "NotIn") {
      errors.push(unsupported(`${path}[${index}].operator`, operator, ["In", "NotIn"]));
    } else if (value === undefined || values.length > 1) {
      errors.push(`${path}[${index}].values: Invalid value: ${JSON.stringify(values)}: must have one element`);
    } else {
      selector.push({ field: key, operator: operator === "In" ? "=" : "!=", value });
    }
  }
  return errors.length > 0 ? refused(aggregate(errors)) : accepted(selector);
}

function unsupported(path: string, value: string, allowed: readonly string[]): string {
  return `${path}: Unsupported value: ${quoted(value)}: supported values: ${allowed.map(quoted).join(", ")}`;
}
