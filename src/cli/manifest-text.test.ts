import { describe, expect, test } from "vitest";
import { type ManifestObject, parseManifests } from "./manifest-text.ts";

const parse = (text: string | Uint8Array) =>
  parseManifests("pool.yaml", typeof text === "string" ? new TextEncoder().encode(text) : text);

const onlyOne = (objects: ManifestObject[]) => {
  expect(objects).toHaveLength(1);
  return objects[0] as ManifestObject;
};

describe("values are read as kubectl reads them", () => {
  test.each([
    ["a: yes", { a: true }],
    ["a: off", { a: false }],
    ["a: 0777", { a: 511 }],
    ["a: 0o777", { a: 511 }],
    ["a: -0o7_7", { a: -63 }],
    ["a: 2024-01-01", { a: "2024-01-01" }],
    ["a: 12:30:45", { a: "12:30:45" }],
    ["a: 2024-11-01T15:02:48Z", { a: "2024-11-01T15:02:48Z" }],
    ["base: &base {a: 1}\nwide: {<<: *base, b: 2}", { base: { a: 1 }, wide: { a: 1, b: 2 } }],
    ["y: 1", { true: 1 }],
    ['{"a": [1, 2]}', { a: [1, 2] }],
    ["a: !!binary aGk=", { a: "hi" }],
    ["a: !!set {b, c}", { a: { b: null, c: null } }],
    [
      `a: &a 1\nb: [${Array.from({ length: 500 }, () => "*a").join(", ")}]`,
      { a: 1, b: Array.from({ length: 500 }, () => 1) },
    ],
  ])("%j", (text, value) => expect(onlyOne(parse(text))).toMatchObject({ value }));
});

describe("documents", () => {
  test("empty ones and comments are no objects", () => {
    expect(parse("---\n# nothing\n---\n---\na: 1\n---\n")).toHaveLength(1);
    expect(parse("")).toEqual([]);
  });

  test("a List is its items, each with its own places", () => {
    const objects = parse("apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n  spec: 1\n");
    expect(objects).toMatchObject([{ value: { kind: "A" } }, { value: { kind: "B", spec: 1 } }]);
    expect((objects[1] as { positionOf(path: string): unknown }).positionOf("spec")).toEqual({ line: 6, column: 3 });
  });

  test("a typed list is its items, which need not say their kind again", () => {
    expect(parse("apiVersion: karpenter.sh/v1\nkind: NodePoolList\nitems:\n- metadata: {name: a}\n")).toMatchObject([
      { value: { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "a" } } },
    ]);
  });

  test("JSON objects in a row are documents, each with its own places", () => {
    const objects = parse('{"a": "}{"}\n{"b":\n  [1]} {"c": 3}\n');
    expect(objects).toMatchObject([{ value: { a: "}{" } }, { value: { b: [1] } }, { value: { c: 3 } }]);
    const places = ["a", "b[0]", "c"].map((path, index) => {
      return (objects[index] as { positionOf(path: string): unknown }).positionOf(path);
    });
    expect(places).toEqual([
      { line: 1, column: 2 },
      { line: 3, column: 4 },
      { line: 3, column: 9 },
    ]);
  });

  test("JSON objects in a row of which one is broken hide no other", () => {
    const objects = parse('{"a": 1}\n{"b": 1, "b": 2}\n{"c": ');
    expect(objects.map(object => "problem" in object)).toEqual([false, true, true]);
    expect(objects[1]).toMatchObject({ at: { line: 2, column: 10 } });
    expect(objects[2]).toMatchObject({ at: { line: 3 } });
  });

  test("what only begins as JSON does is YAML", () => {
    expect(onlyOne(parse("{a: '}', # {\n b: 2}\n"))).toMatchObject({ value: { a: "}", b: 2 } });
    expect(parse("{a: 1}\n---\n{b: 2}\n")).toMatchObject([{ value: { a: 1 } }, { value: { b: 2 } }]);
    expect(parse('{"a": 1}\n---\n{"b": 2}\n')).toMatchObject([{ value: { a: 1 } }, { value: { b: 2 } }]);
  });

  test("a broken document hides no other", () => {
    const objects = parse("a: 1\n---\nb: [\n---\nc: 3\n");
    expect(objects.map(object => "problem" in object)).toEqual([false, true, false]);
  });
});

describe("where a field stands", () => {
  const text = [
    "metadata:",
    "  labels:",
    "    app.kubernetes.io/name: x",
    "spec:",
    "  limits: {cpu: 1}",
    "  budgets:",
    "  - nodes: 5",
    "  - nodes: 6",
    "    schedule: bad",
  ].join("\n");
  test.each([
    ["spec", 4, 1],
    ["spec.limits.cpu", 5, 12],
    ["spec.limits[cpu]", 5, 12],
    ["spec.budgets[1].schedule", 9, 5],
    ["spec.budgets[1]", 8, 5],
    ["metadata.labels.app.kubernetes.io/name", 3, 5],
    ["metadata.labels[app.kubernetes.io/name]", 3, 5],
    ["spec.template.spec", 4, 1],
    ["spec.budgets[7]", 6, 3],
    ["", 1, 1],
  ])("%s is at %i:%i", (path, line, column) => {
    const object = onlyOne(parse(text)) as { positionOf(path: string): unknown };
    expect(object.positionOf(path)).toEqual({ line, column });
  });
});

/** Nine levels of nine aliases each: 9^9 values. */
const bomb = [
  "a0: &a0 x",
  ...Array.from(
    { length: 9 },
    (_, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join(", ")}]`,
  ),
].join("\n");

describe("what cannot be read is said in a sentence", () => {
  test.each([
    ["a: 1\na: 2", 2, /the key "a" stands twice in one map/],
    ["a:\n- b: 1\n- {c: 1, d: 2, c: 3}", 3, /the key "c" stands twice/],
    ['a: "x', 1, /quote/],
    ["a: b: c", 1, /[Nn]ested/],
    ["a: *nowhere", 1, /alias/i],
    ["a: &a {b: *a}", 1, /an anchor contains itself/],
    [bomb, 1, /[Ee]xcessive alias count/],
  ])("%j", (text, line, problem) => {
    expect(onlyOne(parse(text))).toMatchObject({ problem: expect.stringMatching(problem), at: { line } });
  });

  test("invalid UTF-8, with the byte at fault", () => {
    const bytes = new Uint8Array([...new TextEncoder().encode("a: é "), 0xff, 0x41]);
    expect(onlyOne(parse(bytes))).toMatchObject({ problem: "byte 6 is not valid UTF-8; save the file as UTF-8" });
  });

  test("nesting deeper than anybody reads", () => {
    expect(onlyOne(parse("[".repeat(100_000)))).toMatchObject({ problem: expect.stringMatching(/nested too deeply/) });
  });

  test("a map of 100,000 keys is read in its stride", () => {
    const keys = Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`).join("\n");
    expect(onlyOne(parse(keys))).toHaveProperty("value");
    expect(onlyOne(parse(`${keys}\nk7: 2`))).toMatchObject({ at: { line: 100_001 } });
  });

  test("an object larger than an API server takes, without losing the others or their places", () => {
    const large = Array.from({ length: 200_000 }, (_, i) => `k${i}: ${"v".repeat(20)}`).join("\n");
    const objects = parse(`a: 1\n---\n${large}\n---\nb: 2\n`);
    expect(objects).toMatchObject([
      {
        problem: expect.stringMatching(/^the object is \d\.\d MiB; an API server takes at most 3\.0 MiB$/),
        at: { line: 2 },
      },
      { value: { a: 1 } },
      { value: { b: 2 } },
    ]);
    expect((objects[2] as { positionOf(path: string): unknown }).positionOf("b")).toEqual({ line: 200_004, column: 1 });
  });

  test("a single line of 10 MB", () => {
    expect(onlyOne(parse(`a: ${"x".repeat(10 * 1024 * 1024)}`))).toMatchObject({
      problem: "the object is 10.0 MiB; an API server takes at most 3.0 MiB",
    });
  });
});
