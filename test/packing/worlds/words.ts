// The few words that random worlds are made of: so few that rules meet each other.

import fc, { type Arbitrary } from "fast-check";
import { hostnameKey, zoneKey } from "../../../src/api/node.ts";
import type { NodeRequirement } from "../../../src/api/node-selector.ts";
import type { LabelSelector, Labels, LabelSelectorRequirement } from "../../../src/api/selector.ts";
import type { Taint, Toleration } from "../../../src/api/taint.ts";
import { sparse } from "./sparse.ts";

export const oneOf = <const T>(...values: readonly T[]): Arbitrary<T> => fc.constantFrom(...values);

export const zones = ["z1", "z2", "z3"] as const;
export const nodeNames = ["n0", "n1", "n2", "n3", "n4"] as const;
export const topologyKeys = [zoneKey, hostnameKey, "rack"] as const;

export const namespaces = [
  { metadata: { name: "default", labels: { team: "red" } } },
  { metadata: { name: "other", labels: { team: "blue", stage: "test" } } },
];
export const namespaceName = fc.oneof({ weight: 3, arbitrary: fc.constant("default") }, oneOf("other"));

export const podLabels: Arbitrary<Labels> = fc
  .tuple(oneOf("a", "b", "c"), sparse(2, { rev: oneOf("1", "2") }))
  .map(([app, rest]) => ({ app, ...rest }));

const labelRequirement: Arbitrary<LabelSelectorRequirement> = fc.oneof(
  fc.record({
    key: fc.constant("app"),
    operator: oneOf("In", "NotIn"),
    values: fc.subarray(["a", "b"], { minLength: 1 }),
  }),
  fc.record({ key: fc.constant("rev"), operator: oneOf("Exists", "DoesNotExist") }),
);

/** Empty now and then: it selects everything. */
export const selector: Arbitrary<LabelSelector> = fc.oneof(
  { weight: 6, arbitrary: oneOf("a", "b", "c").map(app => ({ matchLabels: { app } })) },
  {
    weight: 2,
    arbitrary: fc.array(labelRequirement, { minLength: 1, maxLength: 2 }).map(all => ({ matchExpressions: all })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** None that asks for absence: kube-scheduler 1.36 takes such a one for all namespaces (control-plane/packing.test.ts). */
export const namespaceSelector: Arbitrary<LabelSelector> = oneOf<LabelSelector>(
  {},
  { matchLabels: { team: "blue" } },
  { matchExpressions: [{ key: "stage", operator: "Exists" }] },
);

export const nodeRequirement: Arbitrary<NodeRequirement> = fc.oneof(
  fc.record({
    key: fc.constant(zoneKey),
    operator: oneOf("In", "NotIn"),
    values: fc.subarray([...zones], { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: oneOf("rack", "tier"), operator: oneOf("Exists", "DoesNotExist") }),
  fc.record({
    key: fc.constant("tier"),
    operator: oneOf("In", "NotIn"),
    values: fc.subarray(["gold", "tin"], { minLength: 1 }),
  }),
  fc.record({ key: fc.constant("size"), operator: oneOf("Gt", "Lt"), values: oneOf("4", "8", "0").map(one => [one]) }),
);

export const taint: Arbitrary<Taint> = fc
  .record({
    key: oneOf("dedicated", "spot"),
    effect: oneOf("NoSchedule", "NoExecute", "PreferNoSchedule"),
    value: oneOf("x", "y", ""),
  })
  .map(({ value, ...rest }) => (value === "" ? rest : { ...rest, value }));

export const toleration: Arbitrary<Toleration> = fc.oneof(
  {
    weight: 4,
    arbitrary: sparse(2, { effect: oneOf("NoSchedule", "NoExecute") }).chain(rest =>
      keyed.map(one => ({ ...one, ...rest })),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Toleration>({ operator: "Exists" }) },
  {
    weight: 1,
    arbitrary: fc.constant<Toleration>({
      key: "node.kubernetes.io/unschedulable",
      operator: "Exists",
      effect: "NoSchedule",
    }),
  },
);

const keyed: Arbitrary<Toleration> = fc.oneof(
  fc.record({ key: oneOf("dedicated", "spot"), operator: fc.constant("Exists" as const) }),
  fc.record({ key: oneOf("dedicated", "spot"), operator: fc.constant("Equal" as const), value: oneOf("x", "y") }),
);
