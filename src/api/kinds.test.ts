import { describe, expect, expectTypeOf, test } from "vitest";
import { kindOf, kinds } from "./kinds.ts";
import type { KubeObject } from "./meta.ts";
import type { NodeAction } from "./node-action.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodeHealthCheck } from "./node-health-check.ts";
import type { NodePool } from "./node-pool.ts";
import type { RebootRemediation, ReplaceRemediation } from "./remediation.ts";
import type { SafetyPolicy } from "./safety-policy.ts";
import type { Rule, Schema } from "./schema/schema.ts";
import { structuralErrors } from "./schema/structural.ts";
import type { SimulatedNodeClass } from "./simulated-node-class.ts";

type Place = { path: string; schema: Schema };

function everySchema(path: string, schema: Schema): Place[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    { path, schema },
    ...Object.entries(properties).flatMap(([name, field]) => everySchema(`${path}.${name}`, field)),
    ...(items ? everySchema(`${path}[]`, items) : []),
    ...(typeof additionalProperties === "object" ? everySchema(`${path}.*`, additionalProperties) : []),
  ];
}

const places = kinds.flatMap(({ resource, schema }) => everySchema(resource.kind, schema));
const fields = places.filter(({ path }) => /\.(spec|status)\b/.test(path));
const where = (wrong: (schema: Schema, path: string) => boolean, among = places) =>
  among.filter(({ path, schema }) => wrong(schema, path)).map(({ path }) => path);

test.each(kinds)("a server that judges as the real one does takes the schema of $resource.kind", ({ schema }) => {
  expect(structuralErrors(schema, "spec.validation.openAPIV3Schema")).toEqual([]);
});

describe("structural schemas forbid", () => {
  test("fields without a type, unless they are integer or string", () => {
    expect(
      where(({ type, ...rest }) => (type === undefined) !== (rest["x-kubernetes-int-or-string"] === true)),
    ).toEqual([]);
  });

  test("keywords that the server does not take", () => {
    const words = `type format description default enum pattern required properties items additionalProperties
      minLength maxLength minimum maximum minItems maxItems maxProperties x-kubernetes-int-or-string
      x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations`;
    const known = new Set(words.split(/\s+/));
    expect(where(schema => Object.keys(schema).some(key => !known.has(key)))).toEqual([]);
  });

  test("properties beside additionalProperties", () => {
    expect(
      where(({ properties, additionalProperties }) => properties !== undefined && additionalProperties !== undefined),
    ).toEqual([]);
  });

  test("anything about metadata but the name", () => {
    const metadata = places.filter(({ path }) => /^\w+\.metadata$/.test(path)).map(({ schema }) => schema);
    expect(metadata).toHaveLength(kinds.length);
    for (const { type, properties = {}, ...rest } of metadata) {
      expect({ type, names: Object.keys(properties), rest }).toEqual({
        type: "object",
        names: properties["name"] ? ["name"] : [],
        rest: {},
      });
    }
  });

  test("look-around and back references in patterns, which RE2 does not have", () => {
    const patterns = places.flatMap(({ schema }) => schema.pattern ?? []);
    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter(pattern => /\(\?[=!<]|\\[1-9]/.test(pattern))).toEqual([]);
  });

  test("list keys that an item can be without", () => {
    const keysOf = (schema: Schema) => schema["x-kubernetes-list-map-keys"] ?? [];
    expect(places.filter(({ schema }) => keysOf(schema).length > 0).length).toBeGreaterThan(5);
    expect(where(schema => keysOf(schema).some(key => !schema.items?.required?.includes(key)))).toEqual([]);
  });
});

describe("the cost of rules is bounded because", () => {
  test("every list says how long it may be, and how its items are told apart", () => {
    expect(
      where(({ type, maxItems, ...rest }) => type === "array" && (!maxItems || !rest["x-kubernetes-list-type"])),
    ).toEqual([]);
  });

  test("every map says how large it may be", () => {
    expect(
      where(({ additionalProperties, maxProperties }) => additionalProperties !== undefined && !maxProperties),
    ).toEqual([]);
  });

  test("every text of ours says how long it may be", () => {
    const unbounded = ({ type, maxLength, format, enum: values }: Schema) =>
      type === "string" && maxLength === undefined && format === undefined && values === undefined;
    expect(where(unbounded, fields)).toEqual([]);
  });
});

describe("every field", () => {
  test("is described in a sentence", () => {
    expect(where(({ description }) => !/^[A-Z"*].*[.]$/s.test(description ?? ""), fields)).toEqual([]);
  });

  test("that has a plain default names it in its description, for kubectl explain", () => {
    const unnamed = ({ default: value, description = "" }: Schema, path: string) =>
      path.includes(".spec") &&
      ["string", "number", "boolean"].includes(typeof value) &&
      !description.toLowerCase().includes(`default ${String(value).toLowerCase()}`) &&
      !description.includes(`Default: ${String(value)}`);
    expect(where(unnamed, fields)).toEqual([]);
  });

  test("with an enum has no value that YAML 1.1 reads as a boolean", () => {
    const booleans = /^(y|yes|n|no|true|false|on|off)$/i;
    expect(where(({ enum: values = [] }) => values.some(value => booleans.test(String(value))))).toEqual([]);
  });
});

test("a field with another name, a second place or an exclusive partner has no default in the CRD", () => {
  const undefaulted = [
    "NodePool.spec.consolidationPolicy",
    "NodePool.spec.consolidateAfter",
    "NodePool.spec.template.spec.expireAfter",
    ...[
      "consolidationPolicy",
      "consolidateAfter",
      "expireAfter",
      "budgets",
      "actionControls",
      "genericPerActionControls",
    ].map(name => `NodePool.spec.disruption.${name}`),
    ...["nodes", "maxUnavailable", "schedule", "crontab", "action", "reasons", "timeZone"].map(
      name => `NodePool.spec.disruption.budgets[].${name}`,
    ),
    "NodePool.spec.template.spec.nodeClassRef.group",
    "NodePool.spec.template.spec.nodeClassRef.apiVersion",
    ...["maxUnhealthy", "minHealthy", "remediationTemplate", "escalatingRemediations"].map(
      name => `NodeHealthCheck.spec.${name}`,
    ),
    "SimulatedNodeClass.spec.catalogue",
    "SimulatedNodeClass.spec.instanceTypes",
  ];
  const defaultByPath = new Map(places.map(({ path, schema }) => [path, schema.default]));
  expect(undefaulted.filter(path => !defaultByPath.has(path) || defaultByPath.get(path) !== undefined)).toEqual([]);
});

test("every rule has a sentence of its own that fits on a line", () => {
  const rules: Rule[] = places.flatMap(({ schema }) => schema["x-kubernetes-validations"] ?? []);
  expect(rules.length).toBeGreaterThan(50);
  expect(rules.filter(({ message = "" }) => !/^[^\n]{10,150}[^.\n]$/.test(message))).toEqual([]);
});

test("NodePool and NodeClaim are served as v1 and v1beta1, stored as v1; the others have one version", () => {
  const versions = Object.fromEntries(kinds.map(({ resource, versions }) => [resource.kind, versions]));
  expect(versions).toMatchObject({ NodePool: ["v1", "v1beta1"], NodeClaim: ["v1", "v1beta1"] });
  expect(Object.values(versions).filter(served => served.length === 1)).toHaveLength(kinds.length - 2);
});

test.each([
  ["karpenter.sh/v1", "NodePool", "nodepools"],
  ["karpenter.sh/v1beta1", "NodeClaim", "nodeclaims"],
  ["remediation.medik8s.io/v1alpha1", "NodeHealthCheck", "nodehealthchecks"],
  ["fettle.dev/v1alpha1", "RebootRemediationTemplate", "rebootremediationtemplates"],
  ["karpenter.sh/v1alpha5", "NodePool", undefined],
  ["karpenter.k8s.aws/v1", "NodePool", undefined],
  ["v1", "Node", undefined],
])("%s %s is found by what a manifest says", (apiVersion, kind, plural) => {
  expect(kindOf({ apiVersion, kind })?.resource.plural).toBe(plural);
});

test("typed objects are objects as the API serves them", () => {
  type Ours = NodePool | NodeClaim | NodeHealthCheck | NodeAction | SafetyPolicy | SimulatedNodeClass;
  expectTypeOf<Ours | ReplaceRemediation | RebootRemediation>().toExtend<KubeObject>();
  expectTypeOf<NonNullable<NodePool["spec"]["replicas"]>>().toEqualTypeOf<number>();
  expectTypeOf<NodeAction["spec"]["node"]>().toEqualTypeOf<{ name: string; uid: string }>();
});
