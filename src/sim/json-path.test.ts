import { describe, expect, test } from "vitest";
import { jsonPath } from "./json-path.ts";

// The expected values were taken from k8s.io/client-go/util/jsonpath v0.36.3 with AllowMissingKeys.
const object = {
  metadata: { annotations: { "x.y/z": "ann" } },
  spec: {
    str: "hello",
    nul: null,
    list: ["p", "q"],
    conds: [
      { type: "Ready", n: 1, b: true },
      { type: "Other", n: 2, f: 1.5 },
    ],
    deepo: { deep: "d1", x: { deep: "d2" } },
  },
};

test.each<[string, unknown[]]>([
  [".spec.str", ["hello"]],
  ["$.spec.str", ["hello"]],
  ["['spec'].str", ["hello"]],
  [".spec.none", []],
  [".spec.str.x", []],
  [".spec.nul", [null]],
  [".spec.nul.x", []],
  [".spec.nul[0]", []],
  [".", []],
  [".metadata.annotations.x\\.y/z", ["ann"]],
  [".metadata.annotations['x\\.y/z']", ["ann"]],
  [".spec.list", [["p", "q"]]],
  [".spec.list[0]", ["p"]],
  [".spec.list[-1]", ["q"]],
  [".spec.list[*]", ["p", "q"]],
  [".spec.list.*", ["p", "q"]],
  [".spec.list[1:]", ["q"]],
  [".spec.list[:1]", ["p"]],
  [".spec.list[-1:]", ["q"]],
  [".spec.list[::2]", ["p"]],
  [".spec.conds[0:0].type", []],
  [".spec.conds[0,1].type", ["Ready", "Other"]],
  [".spec.none[0]", []],
  [".spec..deep", ["d1", "d2"]],
  [".spec...deep", ["d1", "d2"]],
  ["..['deep']", ["d1", "d2"]],
  [".spec.conds[?(@.n>1)].type", ["Other"]],
  [".spec.conds[?(@.n==2)].type", ["Other"]],
  [".spec.conds[?(@.b==true)].type", ["Ready"]],
  [".spec.conds[?(@.f>1.0)].type", ["Other"]],
  [".spec.conds[?(@.f)].type", ["Other"]],
  [".spec.conds[?(@.type<'P')].type", ["Other"]],
  [".spec.conds[?(@.type!='Ready')].type", ["Other"]],
  [".spec.conds[?(@.missing!='a')].type", []],
  ['.spec.conds[?(@.type=="Re\\"ady")].type', []],
  ['.spec.list[?(@=="p")]', ["p"]],
  [".spec.none[?(@.x==1)].y", []],
])("%s selects %j", (path, selected) => {
  expect(jsonPath(path)(object)).toEqual(selected);
});

describe("what Kubernetes reports as an error is one here", () => {
  test.each([
    [".spec[a]", "invalid array index"],
    ['.spec["str"]', "invalid array index"],
    [".spec[0", "not closed"],
    [".spec[?(@.x", "not closed"],
    ["..*", "is made of"],
  ])("%s cannot be read: %s", (path, why) => {
    expect(() => jsonPath(path)).toThrow(why);
  });

  test.each([
    [".spec.str[0]", "only for a list"],
    [".spec.list[5]", "out of bounds"],
    [".spec.list[0:9]", "out of bounds"],
    [".spec.nul[?(@.x==1)].y", "only for a list"],
    [".spec.str[?(@.x==1)]", "only for a list"],
    [".spec.conds[?(@.n=='1')].type", "incompatible types"],
  ])("%s cannot be followed: %s", (path, why) => {
    expect(() => jsonPath(path)(object)).toThrow(why);
  });
});
