// Objects for a schema: mostly what fits it, at its bounds, and now and then what does not.

import fc from "fast-check";
import type { Schema } from "../../../src/api/schema/schema.ts";

/** Each is right for some format and wrong for the others. */
const samples = [
  "",
  "a",
  "ab",
  "abc-def",
  "A_b",
  "no",
  "never",
  "x1",
  "yy",
  "q",
  "name",
  "10%",
  "5",
  "é€😀",
  "a b",
  "line\nbreak",
  '"quoted"\\',
  "2020-02-29",
  "2021-02-29",
  "2020-02-29T23:59:59Z",
  "2020-02-29T23:59:59.123456+02:00",
  "2020-02-29t24:00:00z",
  "2019-12-31T00:00:00Z",
  "1h30m",
  "60s",
  "90s",
  "3 days",
  "1 fortnight",
  "-5m",
  "1.2.3.4",
  "01.2.3.4",
  "1.2.3.256",
  "::1",
  "::ffff:1.2.3.4",
  "1::2::3",
  "fe80::1%eth0",
  "10.0.0.0/8",
  "10.0.0.0/33",
  "2001:db8::/32",
  "00:1b:44:11:3a:b7",
  "00-1B-44-11-3A-B7",
  "001b.4411.3ab7",
  "123e4567-e89b-12d3-a456-426614174000",
  "123E4567E89B42D3A456426614174000",
  "6fa459ea-ee8a-3ca4-894e-db77e160355e",
  "886313e1-3b8a-5372-9b90-0c9aee199e5d",
  "3836221195",
  "3 401 01319 X",
  "978-3-8362-2119-1",
  "4220855426222389",
  "123-45-6789",
  "#ff00aa",
  "fff",
  "rgb(1,2,255)",
  "rgb(1,2,256)",
  "aGVsbG8=",
  "aGVsbG8",
  "5f50c31ef9d4f1a2b3c4d5e6",
  "a@b.co",
  "Joe <joe@example.com>",
  "joe@@example.com",
  "joe.@example.com",
  "example.com",
  "-example.com",
  "a.b-c.example",
  "EXAMPLE",
  "http://example.com/path?q=1#f",
  "http://exa mple.com",
  "/abs/path",
  "relative/path",
  "http://[::1]:80/",
  "http://host:port/",
  "mailto:x@y",
  "http://a/%zz",
];

const misfits = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2.5e9, 1e20, "", "text", [], {}, [null], { x: 1 }, [{ y: [] }]),
);

export function objectFor(schema: Schema): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schema.properties ?? {}).map(([key, property]) => [key, valueFor(property)] as const);
  const model = { ...Object.fromEntries(fields), extra: rarely(misfits) };
  return fc.record(model).map(dropUndefined);
}

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

function dropUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 24, arbitrary: fitting(schema) }, { weight: 1, arbitrary: misfits });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-embedded-resource"] === true) return resource();
  if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(numberFor(schema), textFor(schema));
  switch (schema.type) {
    case "string":
      return textFor(schema);
    case "integer":
    case "number":
      return numberFor(schema);
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor(schema.items ?? {}), { maxLength: (schema.maxItems ?? 3) + 1 });
    case "object":
      return fieldsFor(schema);
    default:
      return misfits;
  }
}

function fieldsFor(schema: Schema): fc.Arbitrary<unknown> {
  const { additionalProperties } = schema;
  if (schema.properties === undefined) {
    const value = typeof additionalProperties === "object" ? valueFor(additionalProperties) : misfits;
    return fc.dictionary(fc.constantFrom("x", "x-y", "bad", "a.b", "xx"), value, { maxKeys: 4 });
  }
  const properties = Object.entries(schema.properties);
  const many = properties.length > 8;
  const fields = properties.map(([key, property]) => {
    // Where there are many fields, few at a time: one wrong field should not hide the others.
    const value = many && schema.required?.includes(key) !== true ? rarely(valueFor(property)) : valueFor(property);
    return [key, fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(undefined) })] as const;
  });
  return fc.record({ ...Object.fromEntries(fields), unknown: rarely(misfits) }).map(dropUndefined);
}

function resource(): fc.Arbitrary<unknown> {
  const metadata = fc.constantFrom<unknown>(
    undefined,
    {},
    { name: "a" },
    { name: "a/b" },
    { name: "..", labels: { a: "b c" } },
    { labels: { "a/b/c": "" }, annotations: { "": "" } },
    { name: "a", namespace: "X" },
    { name: 1 },
    { labels: [] },
    { finalizers: ["a b"], unknown: 1 },
    { ownerReferences: [{ kind: "" }] },
  );
  return fc
    .record({
      apiVersion: fc.constantFrom<unknown>("v1", "a/b", "a/b/c", "", undefined),
      kind: fc.constantFrom<unknown>("Pod", "pOD", "", "9", undefined),
      metadata,
      spec: fc.constantFrom<unknown>(undefined, { a: 1 }, { a: "x", b: 2 }),
    })
    .map(dropUndefined);
}

function mostly(fit: readonly unknown[], all: readonly unknown[]): fc.Arbitrary<unknown> {
  return fit.length === 0
    ? fc.constantFrom(...all)
    : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...fit) }, { weight: 1, arbitrary: fc.constantFrom(...all) });
}

function textFor({ enum: choices = [], minLength = 0, maxLength }: Schema): fc.Arbitrary<unknown> {
  const bounds = [minLength, maxLength ?? 3].flatMap(bound => [
    "a".repeat(bound),
    "é".repeat(bound + 1),
    "a".repeat(Math.max(0, bound - 1)),
  ]);
  const fits = (text: string) => text.length >= minLength && text.length <= (maxLength ?? 60);
  const fit = choices.length > 0 ? choices : [...samples, ...bounds].filter(fits);
  return mostly(fit, [...samples, ...bounds]);
}

function numberFor({ type, minimum, maximum, multipleOf = 1, enum: choices = [] }: Schema): fc.Arbitrary<unknown> {
  const near = [minimum, maximum].flatMap(bound =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1, bound + 0.5],
  );
  const odd = [0, 1, 2, 3, 7, 14, 1.5, -1.5, 2 ** 31, -(2 ** 31) - 1, 4e38, 1.0000000001, 123456.75, 1e-7];
  const all = [...odd, ...near, multipleOf * 3, multipleOf * 4];
  const fits = (value: number) =>
    value >= (minimum ?? -100) && value <= (maximum ?? 100) && (type === "number" || Number.isInteger(value));
  return mostly(choices.length > 0 ? choices : all.filter(fits), all);
}
