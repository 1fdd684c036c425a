// Manifests by chance, made from the schemas: fields in any mixture, values at the edges of what some field takes. Which
// of them are right is for the servers to say.

import fc from "fast-check";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { kinds } from "../../src/api/kinds.ts";
import type { Manifest } from "../../src/api/meta.ts";
import type { Schema } from "../../src/api/schema/schema.ts";

const words = [
  "",
  "a",
  "A",
  "-a",
  "x/y",
  "a.b/c",
  "é",
  "a\nb",
  "null",
  "true",
  "True",
  "x".repeat(64),
  "x".repeat(300),
];
const amounts = ["0", "-1", "10", "1.5", "+1", "0x1", "1e3", "1Gi", "1.5Gi", "100m", "10%", "100%", "101%"];
const durations = [
  "0s",
  "59s",
  "90s",
  "1m",
  "1h30m",
  "1.5h",
  "300ms",
  "144h0m0s",
  "1d",
  "-5m",
  "Never",
  "1".repeat(33),
];
const schedules = [
  "@daily",
  "@dailyx",
  "@every 1h",
  "0 9 * * mon-fri",
  "60 * * * *",
  "UTC",
  "Europe/Berlin",
  "Mars/Base",
];
const names = [
  "In",
  "Gt",
  "NoSchedule",
  "Ready",
  "karpenter.sh/nodepool",
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
];
const times = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+02:00", "2020-01-01t00:00:00z", "2020-01-01T24:00:00Z"];
const texts = [words, amounts, durations, schedules, names, times].flat();
const numbers = [0, 1, -1, 2, 10, 50, 51, 100, 101, 1.5, 0.1, 2 ** 31 - 1, 2 ** 31, 2 ** 53 + 2, 1e21];
const keys = ["a", "cpu", "memory", "nodes", "x/y", "team", "karpenter.sh/nodepool", "Bad Key"];
const anything = fc.constantFrom<unknown>(null, true, {}, [], [1], { a: 1 }, ...numbers, ...texts);

/** Now and then something else than the schema has a place for. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom<unknown>(...schema.enum, ...schema.enum, "Other");
  if (schema["x-kubernetes-int-or-string"] === true) return fc.constantFrom<unknown>(...numbers, ...texts);
  switch (schema.type) {
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 3 });
    case "integer":
      return fc.constantFrom(1, 2, 5, 10, schema.minimum ?? 0, schema.maximum ?? 50, ...numbers.slice(0, 5));
    case "boolean":
      return fc.boolean();
    case "string":
      return textOf(schema);
    default:
      return anything;
  }
}

function textOf({ pattern, format, maxLength = Number.POSITIVE_INFINITY }: Schema): fc.Arbitrary<string> {
  const isTaken = (text: string) =>
    text.length <= maxLength &&
    (pattern === undefined ? format === undefined || /^2020.*Z$/.test(text) : new RegExp(pattern, "u").test(text));
  const taken = texts.filter(isTaken);
  return taken.length === 0
    ? fc.constantFrom(...texts)
    : fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...taken) },
        { weight: 1, arbitrary: fc.constantFrom(...texts) },
      );
}

const absent = Symbol("absent");

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  if (typeof additionalProperties === "object") {
    return fc.dictionary(fc.constantFrom(...keys), valueOf(additionalProperties), { maxKeys: 2 });
  }
  const known = Object.entries(properties).map(([name, schema]) => {
    const weights = required.includes(name) ? [1, 30] : [2, 1];
    const given = { weight: weights[1] as number, arbitrary: valueOf(schema) };
    return fc
      .oneof({ weight: weights[0] as number, arbitrary: fc.constant(absent) }, given)
      .map(value => ({ [name]: value }));
  });
  const unknown = fc.oneof(
    { weight: 40, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constant({ weigth: 1 }) },
  );
  return fc.tuple(unknown, ...known).map(parts => {
    const fields = Object.entries(Object.assign({}, ...parts) as object);
    return Object.fromEntries(fields.filter(([, value]) => value !== absent));
  });
}

/** Of any of our kinds, in any of its versions. */
export function manifestsByChance(): fc.Arbitrary<Manifest> {
  const ofVersions = kinds.flatMap(kind => {
    const { group, names, versions } = customResourceDefinition(kind).spec;
    return versions.map(({ name: version, schema }) => {
      const { spec, status } = schema.openAPIV3Schema.properties ?? {};
      // There is one SafetyPolicy, and no other name for it.
      const metadata = { name: names.kind === "SafetyPolicy" ? "default" : "by-chance" };
      const type = { apiVersion: `${group}/${version}`, kind: names.kind, metadata };
      const parts = objectOf({ properties: { ...(spec && { spec }), ...(status && { status }) }, required: ["spec"] });
      return parts.map(fields => ({ ...type, ...(fields as object) }));
    });
  });
  return fc.oneof(...ofVersions);
}
