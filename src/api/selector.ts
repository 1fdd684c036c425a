// Label selectors: what they require of an object's labels, from the object form or from the string form
// (selector-text.ts), how they match, and how they read as text. An empty selector matches everything;
// whether an absent one means everything or nothing is the field's own rule, so the caller decides it.

import { int64 } from "./int64.ts";
import { qualifiedNameErrors, labelValueErrors } from "./name.ts";
import { accepted, type Parsed, quoted, refused } from "./parsed.ts";

export type Labels = Readonly<Record<string, string>>;

export type LabelSelector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
};

export type LabelSelectorRequirement = {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
};

/** The string form's operators, and two more (`gte`, `lte`) that only node requirements can say. */
export type Operator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt" | "gte" | "lte";

export type Requirement = { key: string; operator: Operator; values: readonly string[] };

/** All of them must hold. Sorted by key. */
export type Selector = readonly Requirement[];

const operatorOf = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!" } as const;

export function selectorOf(selector: LabelSelector): Parsed<Selector> {
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: "=", values: [value] });
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (!Object.hasOwn(operatorOf, operator)) {
      return refused(`${quoted(operator)} is not a valid label selector operator`);
    }
    requirements.push({ key, operator: operatorOf[operator], values: values ?? [] });
  }
  const errors = requirements.map(requirement => requirementErrors(requirement)).find(found => found.length > 0);
  return errors ? refused(aggregate(errors)) : accepted(sortedByKey(requirements));
}

export function matches(selector: Selector, labels: Labels | undefined): boolean {
  for (const requirement of selector) {
    if (!holds(requirement, labels)) return false;
  }
  return true;
}

/** The text form that parseSelector reads back; `gte` and `lte` have none and are written `>=` and `<=`. */
export function formatSelector(selector: Selector): string {
  return selector.map(formatRequirement).join(",");
}

/** The one value that a key must have, if the selector says so: what an index can be asked for. */
export function requiredValue(selector: Selector, key: string): string | undefined {
  const first = selector.find(requirement => requirement.key === key);
  const exact = first && ["=", "==", "in"].includes(first.operator) && first.values.length === 1;
  return exact ? first.values[0] : undefined;
}

/** What is wrong with a requirement, in the API server's words; `path` is the field it stands in. */
export function requirementErrors({ key, operator, values }: Requirement, path = ""): string[] {
  const at = path === "" ? "" : `${path}.`;
  const errors = keyErrors(key, `${at}key`);
  const complain = (message: string) => errors.push(`${at}values: Invalid value: ${shown}: ${message}`);
  const shown = values.length === 0 ? "null" : JSON.stringify(values);
  const order = orderNames.get(operator);
  if ((operator === "in" || operator === "notin") && values.length === 0) {
    complain("for 'in', 'notin' operators, values set can't be empty");
  } else if (["=", "==", "!="].includes(operator) && values.length !== 1) {
    complain("exact-match compatibility requires one single value");
  } else if ((operator === "exists" || operator === "!") && values.length > 0) {
    complain("values set must be empty for exists and does not exist");
  } else if (order !== undefined && values.length !== 1) {
    complain(`for ${order} operators, exactly one value is required`);
  }
  for (const [index, value] of values.entries()) {
    if (order === undefined || int64(value) !== undefined) continue;
    errors.push(
      `${at}values[${index}]: Invalid value: ${quoted(value)}: for ${order} operators, the value must be an integer`,
    );
  }
  for (const [index, value] of values.entries()) {
    const found = labelValueErrors(value);
    if (found.length === 0) continue;
    errors.push(`${at}values[${index}][${key}]: Invalid value: ${quoted(value)}: ${found.join("; ")}`);
  }
  return errors;
}

const orderNames = new Map<Operator, string>([
  ["gt", "'Gt', 'Lt'"],
  ["lt", "'Gt', 'Lt'"],
  ["gte", "'Gte', 'Lte'"],
  ["lte", "'Gte', 'Lte'"],
]);

export function keyErrors(key: string, path: string): string[] {
  const errors = qualifiedNameErrors(key);
  return errors.length === 0 ? [] : [`${path}: Invalid value: ${quoted(key)}: ${errors.join("; ")}`];
}

/** Several complaints as one, the way Go joins them: each once. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

// Keys that passed the check are ASCII, so that this is the order of their bytes.
export function sortedByKey(requirements: Requirement[]): Selector {
  return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function holds({ key, operator, values }: Requirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === "exists") return value !== undefined;
  if (operator === "!") return value === undefined;
  if (operator === "=" || operator === "==" || operator === "in") return value !== undefined && values.includes(value);
  if (operator === "!=" || operator === "notin") return value === undefined || !values.includes(value);
  return value !== undefined && values.length === 1 && inOrder(operator, value, values[0] ?? "");
}

function inOrder(operator: "gt" | "lt" | "gte" | "lte", value: string, bound: string): boolean {
  const left = int64(value);
  const right = int64(bound);
  if (left === undefined || right === undefined) return false;
  if (operator === "gt") return left > right;
  if (operator === "lt") return left < right;
  return operator === "gte" ? left >= right : left <= right;
}

const signs = { "=": "=", "==": "==", "!=": "!=", gt: ">", lt: "<", gte: ">=", lte: "<=" } as const;

function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === "exists") return key;
  if (operator === "!") return `!${key}`;
  const list = [...values].sort().join(",");
  return operator === "in" || operator === "notin" ? `${key} ${operator} (${list})` : `${key}${signs[operator]}${list}`;
}
