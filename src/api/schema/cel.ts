// The CEL rules of a schema against a value and its predecessor, in the API server's order. Rules are compiled once a
// schema. The server charges rules by an estimated cost; we count steps of evaluation instead, against the same
// numbers, so a rule that runs away is stopped here too, though not at the same point.

import { celTypeOf, celValueOf, withTypeAndObjectMeta } from "./cel-schema.ts";
import { isFields, type Pair, predecessors } from "./correlate.ts";
import { duplicate, forbidden, invalid, omitted, required } from "./field-error.ts";
import { type CompiledRule, compileRule, complaintOf, judge, type Subject as RuleSubject } from "./rule.ts";
import type { FieldError, Schema } from "./schema.ts";

/** The rules of one node of a schema and of what lies below; nodes without any rule are left out. */
type RuleNode = {
  schema: Schema;
  rules: readonly CompiledRule[];
  items: RuleNode | undefined;
  fields: ReadonlyMap<string, RuleNode>;
  additional: RuleNode | undefined;
  /** Some rule here or below compares with what was before. */
  hasTransitions: boolean;
};

/** A value, its predecessor, and how far it is known to be unchanged. */
type Subject = { value: unknown; old: unknown; path: string; pair: Pair | undefined; nearest: Pair | undefined };

const nodes = { root: new WeakMap<Schema, RuleNode | null>(), inner: new WeakMap<Schema, RuleNode | null>() };

/** By which rules a value was judged and found good, beside what was before. */
const goodBy = new WeakMap<object, RuleNode>();
/** The same where it was itself what was before: then it is good also by rules that compare the two. */
const steadyBy = new WeakMap<object, RuleNode>();

/** The API server's budget for all rules of one object. */
const stepsPerObject = 10_000_000;

export function ruleErrors(
  schema: Schema,
  subject: { value: unknown; old?: unknown; pair?: Pair | undefined; path?: string },
  root = true,
): FieldError[] {
  const node = nodeOf(schema, root);
  if (node === undefined) return [];
  const { value, old, pair, path = "" } = subject;
  return new Evaluation().findings(node, { value, old, path, pair, nearest: undefined });
}

/** Whether a schema has any rule at all: without one, the server does not even say that it skipped them. */
export function hasRules(schema: Schema): boolean {
  return nodeOf(schema, true) !== undefined;
}

function nodeOf(schema: Schema, root: boolean): RuleNode | undefined {
  const cache = root ? nodes.root : nodes.inner;
  let node = cache.get(schema);
  if (node === undefined) {
    node = buildNode(schema, root) ?? null;
    cache.set(schema, node);
  }
  return node ?? undefined;
}

function buildNode(schema: Schema, root: boolean): RuleNode | undefined {
  const inner = (below: Schema | undefined): RuleNode | undefined =>
    below && nodeOf(below, below["x-kubernetes-embedded-resource"] === true);
  const items = inner(schema.items);
  const { additionalProperties } = schema;
  const additional = typeof additionalProperties === "object" ? inner(additionalProperties) : undefined;
  const fields = new Map<string, RuleNode>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const node = inner(property);
    if (node !== undefined) fields.set(key, node);
  }
  const rules = compiledRules(schema, root);
  const below = [items, additional, ...fields.values()].filter(node => node !== undefined);
  if (rules.length === 0 && below.length === 0) return undefined;
  const hasTransitions = rules.some(rule => rule.usesOldSelf) || below.some(node => node.hasTransitions);
  const known = root ? withTypeAndObjectMeta(schema) : schema;
  return { schema: known, rules, items, fields, additional, hasTransitions };
}

export function compiledRules(schema: Schema, root: boolean): CompiledRule[] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  const type = rules.length === 0 ? undefined : celTypeOf(schema, root, "selfType");
  return type === undefined ? [] : rules.map(rule => compileRule(rule, schema, type));
}

class Evaluation {
  #stepsLeft = stepsPerObject;

  findings(node: RuleNode, subject: Subject): FieldError[] {
    const { value } = subject;
    if (value === null || value === undefined || this.#stepsLeft < 0) return [];
    if (isSame(node.hasTransitions ? steadyBy : goodBy, node, subject)) return [];
    const own = this.#own(node, subject);
    const findings = this.#stepsLeft < 0 ? own : [...own, ...this.#below(node, subject)];
    if (typeof value === "object" && findings.length === 0 && this.#stepsLeft >= 0) {
      goodBy.set(value, node);
      if (node.hasTransitions && value === subject.old) steadyBy.set(value, node);
    }
    return findings;
  }

  #own(node: RuleNode, subject: Subject): FieldError[] {
    const { schema, rules } = node;
    if (rules.length === 0) return [];
    const { path } = subject;
    const type = schema.type ?? "";
    const self = lazily(() => celValueOf(subject.value, schema));
    const hasOld = subject.old !== null && subject.old !== undefined;
    const old = lazily(() => (hasOld ? celValueOf(subject.old, schema) : undefined));
    const findings: FieldError[] = [];
    for (const rule of rules) {
      if (rule.error !== undefined) findings.push(invalid(path, type, `rule compile error: ${rule.error}`));
      if (rule.program === undefined) continue;
      // A transition rule is asked only where there is something to compare with.
      if (rule.usesOldSelf && !hasOld && rule.rule.optionalOldSelf !== true) continue;
      // Of all rules the one that looks at the most: with every write of a status it would compare the spec with itself.
      if (rule.rule.rule === "self == oldSelf" && isSame(goodBy, node, subject)) continue;
      findings.push(...this.#judged(rule, { self, old: rule.usesOldSelf ? old : () => undefined }, subject, type));
      if (this.#stepsLeft < 0) break;
    }
    return findings;
  }

  #judged(rule: CompiledRule, values: RuleSubject, subject: Subject, type: string): FieldError[] {
    const { path, value } = subject;
    const verdict = judge(rule, values);
    this.#stepsLeft = verdict.exhausted === true ? -1 : this.#stepsLeft - verdict.steps;
    if (this.#stepsLeft < 0 && verdict.exhausted !== true) {
      const text = "validation failed due to running out of cost budget, no further validation rules will be run";
      return [invalid(path, type, text)];
    }
    if (verdict.error !== undefined) return [invalid(path, type, verdict.error)];
    if (verdict.holds || (!rule.usesOldSelf && isTolerated(subject))) return [];
    const at = rule.fieldPath === "" ? path : path === "" ? rule.fieldPath : `${path}.${rule.fieldPath}`;
    const shown = type === "object" || type === "array" ? omitted : value;
    return [refusal(rule, at, shown, complaintOf(rule, values))];
  }

  #below(node: RuleNode, subject: Subject): FieldError[] {
    const { value, old } = subject;
    if (Array.isArray(value)) return this.#items(node, value, subject);
    if (!isFields(value)) return [];
    const oldFields = isFields(old) ? old : {};
    return Object.keys(value).flatMap(key => {
      const field = node.fields.get(key);
      const below = field ?? node.additional;
      if (below === undefined) return [];
      const at = field === undefined ? `${subject.path}[${key}]` : subject.path === "" ? key : `${subject.path}.${key}`;
      const oldValue = Object.hasOwn(oldFields, key) ? oldFields[key] : undefined;
      return this.findings(below, { value: value[key], old: oldValue, path: at, ...pairedField(subject, key) });
    });
  }

  #items({ items, schema }: RuleNode, list: readonly unknown[], subject: Subject): FieldError[] {
    if (items === undefined) return [];
    const predecessorOf = predecessors(Array.isArray(subject.old) ? subject.old : [], schema);
    const { pair, nearest } = subject;
    return list.flatMap((value, i) =>
      this.findings(items, {
        value,
        old: predecessorOf(value),
        path: `${subject.path}[${i}]`,
        pair: pair?.index(i),
        nearest: pair ?? nearest,
      }),
    );
  }
}

/** The very object that is stored, and found good by these rules: it has not changed since. */
function isSame(known: WeakMap<object, RuleNode>, node: RuleNode, { value, old }: Subject): boolean {
  return typeof value === "object" && value !== null && value === old && known.get(value) === node;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function pairedField({ pair, nearest, path }: Subject, key: string): Pick<Subject, "pair" | "nearest"> {
  if (pair === undefined) return { pair, nearest };
  // A change of apiVersion or kind cannot be seen: both objects were converted to the same one.
  if (path === "" && (key === "apiVersion" || key === "kind")) return { pair: undefined, nearest: undefined };
  return { pair: pair.key(key), nearest: pair };
}

/** What was wrong before and has not changed is let through. */
function isTolerated({ pair, nearest }: Subject): boolean {
  return (pair ?? nearest)?.unchanged() ?? false;
}

function refusal({ rule }: CompiledRule, path: string, value: unknown, detail: string): FieldError {
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(path, detail);
    case "FieldValueRequired":
      return required(path, detail);
    case "FieldValueDuplicate":
      return duplicate(path, value);
    default:
      return invalid(path, value, detail);
  }
}
