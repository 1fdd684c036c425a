// Shapes that stand in several kinds, each at its boundaries: conditions, selectors, taints, requirements, quantities.

import { bad, type Case, good } from "./entry.ts";
import { absent, join } from "./field.ts";
import * as words from "./words.ts";

/** Cases for a field inside an object, as cases for the object. */
export function field(object: Record<string, unknown>, name: string, cases: readonly Case[]): Case[] {
  return cases.map(({ title, value, verdict }) => {
    const { [name]: _, ...rest } = object;
    return {
      title: `${name} ${title}`,
      value: value === absent ? rest : { ...object, [name]: value },
      verdict: verdict.kind === "accepted" ? verdict : { ...verdict, at: verdict.at.map(at => join(name, at)) },
    };
  });
}

/** Cases for an item, as cases for a list that holds it alone. */
export function item(cases: readonly Case[]): Case[] {
  return cases.map(({ title, value, verdict }) => ({
    title: `an item, ${title}`,
    value: [value],
    verdict: verdict.kind === "accepted" ? verdict : { ...verdict, at: verdict.at.map(at => join("[0]", at)) },
  }));
}

const missing =
  (...names: string[]) =>
  (object: Record<string, unknown>) =>
    names.flatMap(name => field(object, name, [bad("left out", absent)]));

const condition = {
  type: "Ready",
  status: "True",
  reason: "AllGood",
  message: "in order",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
};

export const conditions: Case[] = [
  ...words.list({ max: 100 }, index => ({ ...condition, type: `Type${index}` })),
  bad("a type twice", [condition, { ...condition, status: "False" }], "[1]"),
  ...item([
    ...missing("type", "status", "lastTransitionTime")(condition),
    ...field(condition, "type", words.conditionType),
    ...field(condition, "status", words.conditionStatus),
    ...field(condition, "reason", [
      good("empty, as Karpenter writes it", ""),
      good("with a colon", "Node:NotFound"),
      good("of 1024 characters", "a".repeat(1024)),
      bad("of 1025 characters", "a".repeat(1025)),
      bad("with a space", "not ready"),
      bad("with a digit in front", "3rdTry"),
    ]),
    ...field(condition, "message", words.text({ max: 32768 })),
    ...field(condition, "lastTransitionTime", words.time),
    ...field(condition, "observedGeneration", words.whole({ min: 0 })),
  ]),
];

const taint = {
  key: "example.com/dedicated",
  value: "payments",
  effect: "NoSchedule",
  timeAdded: "2026-01-01T00:00:00Z",
};

export const taints: Case[] = [
  ...words.list({ max: 1000 }, index => ({ ...taint, key: `key-${index}` })),
  ...item([
    ...missing("key", "effect")(taint),
    ...field(taint, "key", words.labelKey),
    ...field(taint, "value", words.labelValue),
    ...field(taint, "effect", words.oneOf("NoSchedule", "PreferNoSchedule", "NoExecute")),
    ...field(taint, "timeAdded", words.time),
  ]),
];

const expression = { key: "team", operator: "In", values: ["a"] };

export const labelSelector: Case[] = [
  ...field({}, "matchLabels", [
    ...words.map({ max: 1000 }, "v"),
    good("with a value of 63 characters", { team: "a".repeat(63) }),
    bad("with a value of 64 characters", { team: "a".repeat(64) }, "team"),
    bad("with a value that is none", { team: "a b" }, "team"),
    bad("with a boolean", { team: true }, "team"),
  ]),
  ...field({}, "matchExpressions", [
    ...words.list({ max: 1000 }, index => ({ ...expression, key: `key-${index}` })),
    ...item([
      ...missing("key", "operator")(expression),
      ...field(expression, "key", words.labelKey),
      good("In with a value", expression),
      good("NotIn with a value", { ...expression, operator: "NotIn" }),
      good("Exists", { key: "team", operator: "Exists" }),
      good("DoesNotExist with an empty list", { key: "team", operator: "DoesNotExist", values: [] }),
      bad("an operator of node selectors", { ...expression, operator: "Gt" }, "operator"),
      bad("In without values", { key: "team", operator: "In" }),
      bad("NotIn with an empty list", { key: "team", operator: "NotIn", values: [] }),
      bad("Exists with a value", { ...expression, operator: "Exists" }),
      bad("DoesNotExist with a value", { ...expression, operator: "DoesNotExist" }),
      ...field(expression, "values", [
        good(
          "of 10000",
          Array.from({ length: 10000 }, (_, i) => `v${i}`),
        ),
        bad(
          "of 10001",
          Array.from({ length: 10001 }, (_, i) => `v${i}`),
        ),
        bad("a word", "a"),
        ...item(words.labelValue),
      ]),
    ]),
  ]),
];

const requirement = { key: "example.com/size", operator: "In", values: ["4", "8"] };

const integers = ["Gt", "Lt", "Gte", "Lte"].flatMap(operator => [
  good(`${operator} with an integer`, { ...requirement, operator, values: ["4"] }),
  bad(`${operator} without a value`, { key: requirement.key, operator }),
  bad(`${operator} with two values`, { ...requirement, operator }),
  bad(`${operator} with a word`, { ...requirement, operator, values: ["four"] }),
]);

/** `karpenter.sh/nodepool` is for claims alone. */
export const requirements = ({ mayNameItsPool }: { mayNameItsPool: boolean }): Case[] => [
  ...words.list({ max: 100 }, index => ({ ...requirement, key: `key-${index}` })),
  ...item([
    ...missing("key", "operator")(requirement),
    ...field({ ...requirement, values: ["spot"] }, "key", [
      ...words.labelKey,
      ...reservedKeys,
      nodePoolKey(mayNameItsPool),
    ]),
    good("In with values", requirement),
    good("NotIn with values", { ...requirement, operator: "NotIn" }),
    good("Exists", { key: "example.com/size", operator: "Exists" }),
    good("DoesNotExist", { key: "example.com/size", operator: "DoesNotExist" }),
    bad("an operator that there is not", { ...requirement, operator: "Ge" }, "operator"),
    bad("In without values", { key: "example.com/size", operator: "In" }),
    bad("In with an empty list", { ...requirement, values: [] }),
    ...integers,
    good("Gt with 0", { ...requirement, operator: "Gt", values: ["0"] }),
    bad("Gt with less than 0", { ...requirement, operator: "Gt", values: ["-1"] }, "", "values[0]"),
    good("Gt with 18 digits", { ...requirement, operator: "Gt", values: ["9".repeat(18)] }),
    bad("Gt with 19 digits", { ...requirement, operator: "Gt", values: ["9".repeat(19)] }),
    good("In with as many values as minValues", { ...requirement, minValues: 2 }),
    bad("In with fewer values than minValues", { ...requirement, minValues: 3 }),
    good("Exists with minValues", { key: "example.com/size", operator: "Exists", minValues: 50 }),
    ...field(
      { key: "example.com/size", operator: "Exists" },
      "minValues",
      words.whole({ min: 1, max: 50, format: "int32" }),
    ),
    ...field(requirement, "values", [
      good(
        "of 10000",
        Array.from({ length: 10000 }, (_, i) => `v${i}`),
      ),
      bad(
        "of 10001",
        Array.from({ length: 10001 }, (_, i) => `v${i}`),
      ),
      ...item(words.labelValue),
    ]),
  ]),
];

/** Keys that only Karpenter or the node itself sets. */
export const reservedKeys: Case[] = [
  good("the capacity type", "karpenter.sh/capacity-type"),
  bad("another key of karpenter.sh", "karpenter.sh/initialized"),
  bad("a key of a subdomain of karpenter.sh", "compatibility.karpenter.sh/provider"),
  bad("a domain that ends in karpenter.sh", "notkarpenter.sh/a"),
  good("a name that ends in karpenter.sh", "example.com/karpenter.sh"),
  bad("karpenter.sh without a domain", "karpenter.sh"),
  bad("the host name", "kubernetes.io/hostname"),
  good("another key of kubernetes.io", "kubernetes.io/arch"),
];

const nodePoolKey = (allowed: boolean) => (allowed ? good : bad)("the pool's own", "karpenter.sh/nodepool");

export const nodeClassRef: Case[] = [
  good("with a group", { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" }),
  good("with an apiVersion", { apiVersion: "fettle.dev/v1alpha1", kind: "SimulatedNodeClass", name: "default" }),
  bad("with both", { group: "fettle.dev", apiVersion: "fettle.dev/v1alpha1", kind: "A", name: "default" }),
  bad("with neither", { kind: "SimulatedNodeClass", name: "default" }),
  ...missing("kind", "name")({ group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" }),
  ...field({ kind: "A", name: "default" }, "group", [...words.name, bad("with a version", "fettle.dev/v1alpha1")]),
  ...field({ kind: "A", name: "default" }, "apiVersion", [
    bad("empty", ""),
    good("of 253 characters", `${"a".repeat(250)}/v1`),
    bad("of 254 characters", `${"a".repeat(251)}/v1`),
    bad("without a version", "fettle.dev"),
    bad("of the core group", "v1"),
    bad("with two slashes", "fettle.dev/v1/beta"),
  ]),
  ...field({ group: "fettle.dev", name: "default" }, "kind", words.kind),
  ...field({ group: "fettle.dev", kind: "A" }, "name", words.name),
];

/** Quantities by resource. */
export const resources: Case[] = [
  ...words.map({ max: 1000 }, "1"),
  good("whole numbers, quoted or not", { cpu: 4, memory: "17179869184" }),
  good("milli, binary and decimal suffixes", { cpu: "3500m", memory: "16Gi", "example.com/gpu": "2k" }),
  good("exponents and fractions", { cpu: "1e3", memory: "1.5Gi", pods: ".5" }),
  good("of 64 characters", { cpu: "1".repeat(64) }),
  bad("of 65 characters", { cpu: "1".repeat(65) }, "cpu"),
  bad("a suffix that there is not", { memory: "16GB" }, "memory"),
  bad("a space before the suffix", { memory: "16 Gi" }, "memory"),
  bad("a word", { cpu: "many" }, "cpu"),
  bad("a fraction without quotes", { cpu: 0.5 }, "cpu"),
  bad("an empty text", { cpu: "" }, "cpu"),
  bad("a boolean", { cpu: true }, "cpu"),
];
