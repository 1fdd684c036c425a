import { describe, expect, test } from "vitest";
import { readYaml, YamlError } from "./yaml.ts";

const list = (item: string, length: number) => `[${Array.from({ length }, () => item).join(", ")}]`;

describe("YAML is read as the API server reads it", () => {
  // Each was asked of kube-apiserver 1.36.
  test.each<[string, string, unknown]>([
    ["the first of several documents", "a: b\n---\na: c", "b"],
    [
      "the words of version 1.1",
      "a: [yes, off, 0777, 0o17, 1_000, 1:30, 2026-11-15]",
      [true, false, 511, 15, 1000, "1:30", "2026-11-15"],
    ],
    ["an alias", "x: &x {z: 1}\na: [*x, *x]", [{ z: 1 }, { z: 1 }]],
    ["the anchor that was set last", "x: [&x 1, *x, &x 2]\na: *x", 2],
    ["bytes in base64 as text", "a: !!binary aGk=", "hi"],
    ["bytes that are no text, replaced", "a: !!binary /w==", "\ufffd"],
    ["a set as a map", "a: !!set {b, c}", { b: null, c: null }],
    ["ordered pairs as a list", "a: !!omap [b: 1, c: 2]", [{ b: 1 }, { c: 2 }]],
    ["pairs as a list", "a: !!pairs [b: 1, b: 2]", [{ b: 1 }, { b: 2 }]],
    ["a tag that nobody knows as if it were not there", "a: !mine {b: !yours c}", { b: "c" }],
    ["a number that is said to be text", "a: !!str 1", "1"],
    ["a whole number that is said to be a fraction", "a: !!float 1", 1],
    ["a merge, before which own fields give way", "a: {b: own, <<: {b: merged}}", { b: "merged" }],
    ["a merge, after which own fields win", "a: {<<: {b: merged, c: 1}, b: own}", { b: "own", c: 1 }],
    ["a merge of several, of which the first wins", "a: {<<: [{b: 1}, {b: 2, c: 2}]}", { b: 1, c: 2 }],
    ["a merge key in quotes as a key", "a: {'<<': b}", { "<<": "b" }],
    ["keys of every type as text", "a: {yes: 1, 2: 2, 1.5: 3}", { true: 1, 2: 2, "1.5": 3 }],
    ["the last of two equal keys", "a: {b: 1, b: 2}", { b: 2 }],
  ])("%s", (_, text, a) => {
    expect(readYaml(text)).toMatchObject({ a });
  });

  test("nothing is an empty object", () => {
    expect(readYaml("# nothing")).toEqual({});
  });

  test("what an alias repeats is not shared", () => {
    const { a, b } = readYaml("a: &a {c: 1}\nb: *a") as Record<string, unknown>;
    expect(a).toEqual(b);
    expect(a).not.toBe(b);
  });

  test.each([
    ["an anchor that contains itself", "a: &a {b: *a}", "anchor 'a' value contains itself"],
    ["a merge into itself", "a: &a {<<: *a}", "anchor 'a' value contains itself"],
    ["an anchor that is not there", "a: *b", "unknown anchor 'b' referenced"],
    ["an anchor that comes later", "a: *b\nb: &b 1", "unknown anchor 'b' referenced"],
    ["broken base64", "a: !!binary '%%%'", "!!binary value contains invalid base64 data"],
    ["text that is said to be a number", "a: !!int x", "cannot decode !!str `x` as a !!int"],
    ["text that is said to be nothing", "a: !!null x", "cannot decode !!str `x` as a !!null"],
    ["a map as a key", "a: {? {b: c} : d}", "invalid map key"],
    ["nothing as a key", "a: {~: d}", "a key may not be null"],
    ["a merge of what is no map", "a: {<<: b}", "map merge requires map or sequence of maps as the value"],
    ["what is no number in JSON", "a: .nan", "json: unsupported value: NaN"],
    ["endless numbers", "a: -.inf", "json: unsupported value: -Inf"],
    ["another version", "%YAML 1.2\n---\na: b", "found incompatible YAML document"],
    ["too many levels", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "nested too deeply"],
    ["an open bracket", "a: 1\nb: [c", "line 2"],
  ])("refuses %s", (_, text, why) => {
    expect(() => readYaml(text)).toThrow(YamlError);
    expect(() => readYaml(text)).toThrow(why);
  });
});

describe("repetition by aliases", () => {
  test("a text of a kilobyte that stands for gigabytes is refused", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} ${list(`*a${i}`, 9)}`);
    expect(() => readYaml(["a0: &a0 x", ...levels].join("\n"))).toThrow("excessive aliasing");
  });

  test("so is one that repeats by merging", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: ${list(`*a${i}`, 9)}}`);
    expect(() => readYaml(["a0: &a0 {b: c}", ...levels].join("\n"))).toThrow("excessive aliasing");
  });

  test("a list that stands a thousand times in a document is not", () => {
    const { a } = readYaml(`x: &x ${list("y", 50)}\na: ${list("*x", 1000)}`) as { a: unknown[][] };
    expect([a.length, a[999]?.length]).toEqual([1000, 50]);
  });
});
