import { describe, expect, test } from "vitest";
import { CelError, StepsExceeded } from "./error.ts";
import { compile } from "./program.ts";
import { dynType, formatType, intType, listOf, optionalOf, stringType, type Type } from "./types.ts";
import { List, Optional, type Value } from "./values.ts";

const object: Type = { kind: "object", name: "selfType", fields: new Map([["a", intType]]) };

function run(source: string, variables: Record<string, [Type, Value]> = {}): Value {
  const entries = Object.entries(variables);
  const program = compile(
    source,
    entries.map(([name, [type]]) => ({ name, type })),
  );
  if (typeof program === "string") return expect.fail(program);
  return program.run(entries.map(([, [, value]]) => value)).value;
}

function typeOf(source: string): string {
  const program = compile(source, [{ name: "self", type: object }]);
  return typeof program === "string" ? program : formatType(program.type);
}

describe("types are known before there are values", () => {
  test.each([
    ["1 + 2", "int"],
    ["[1, 2]", "list(int)"],
    ["[]", "list(dyn)"],
    ["[[], [1]]", "list(list(int))"],
    ["{'a': [1.5]}", "map(string, list(double))"],
    ["[1].map(x, string(x))", "list(string)"],
    ["dyn(1) + 1", "int"],
    ["self.a", "int"],
    ["self.?a", "optional_type(int)"],
    ["optional.none().orValue(1)", "int"],
    ["true ? [] : [1]", "list(int)"],
    ["duration('1s') + timestamp(0)", "google.protobuf.Timestamp"],
    ["quantity('1')", "kubernetes.Quantity"],
    ["{'a': 1}.transformMap(k, v, v > 0)", "map(string, bool)"],
  ])("%s is %s", (source, type) => {
    expect(typeOf(source)).toBe(type);
  });

  test("issues are listed by place, each with its line and a caret", () => {
    expect(typeOf("self.x == 1 ||\n  nope")).toBe(
      [
        "compilation failed: ERROR: <input>:1:5: undefined field 'x'",
        " | self.x == 1 ||",
        " | ....^",
        "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')",
        " |   nope",
        " | ..^",
      ].join("\n"),
    );
  });

  test("a conversion that can never succeed makes no program", () => {
    expect(typeOf("int('x') > 0")).toBe("program instantiation failed: type conversion error from 'string' to 'int'");
  });

  test("lists of mixed types are refused, except as the arguments of format()", () => {
    expect(typeOf("[1, 'a']")).toContain("expected type 'int' but found 'string'");
    expect(run("'%d %s'.format([1, 'a'])")).toBe("1 a");
  });

  test("what is no expression is refused where it breaks", () => {
    expect(typeOf("1 +")).toContain("compilation failed: ERROR: <input>:1:4: Syntax error");
  });

  test("the variables that an expression names are told", () => {
    const program = compile("[oldSelf].all(self, self.a == 1)", [
      { name: "self", type: object },
      { name: "oldSelf", type: object },
    ]);
    expect(typeof program === "string" ? program : [...program.references]).toEqual(["oldSelf", "self"]);
  });
});

describe("an error counts only where it decides", () => {
  test.each<[string, Value]>([
    ["1 / 0 == 1 || true", true],
    ["true || 1 / 0 == 1", true],
    ["1 / 0 == 1 && false", false],
    ["[0, 1].exists(x, 1 / x == 1)", true],
    ["[0, 1].all(x, 1 / x == 2)", false],
    ["optional.of(1).orValue(1 / 0)", 1n],
    ["true ? 1 : 1 / 0", 1n],
  ])("%s is %s", (source, value) => {
    expect(run(source)).toBe(value);
  });

  test.each([
    ["1 / 0 == 1 || false", "division by zero"],
    ["[0, 1].all(x, 1 / x == 1)", "division by zero"],
    ["[0].exists_one(x, 1 / x == 1)", "division by zero"],
    ["{'a': 1}['b']", "no such key: b"],
    ["[1][1]", "index out of bounds: 1"],
    ["dyn('a') + 1", "no such overload"],
    ["dyn('a') && true", "no such overload"],
    ["9223372036854775807 + 1", "integer overflow"],
  ])("%s fails: %s", (source, message) => {
    expect(() => run(source)).toThrow(new CelError(message));
  });
});

describe("values", () => {
  test("of different kinds are unequal, numbers of different kinds compare by value", () => {
    expect(run("dyn(1) == dyn('1')")).toBe(false);
    expect(run("dyn(1) == dyn(1.0) && dyn(1u) == dyn(1)")).toBe(true);
    expect(run("1 < 1.5 && 2u > 1")).toBe(true);
  });

  test("NaN equals and orders nothing", () => {
    expect(run("double('NaN') == double('NaN') || double('NaN') < 1.0 || double('NaN') >= 1.0")).toBe(false);
  });

  test("strings are ordered by code point, as UTF-8 is", () => {
    expect(run("'\\U0001F600' > '\\uffee'")).toBe(true);
  });

  test("a variable of a macro hides one of the same name, only inside it", () => {
    const x: [Type, Value] = [intType, 5n];
    expect(run("[1].map(x, x + 1) == [2] && x == 5", { x })).toBe(true);
    expect(run("[1].map(y, [2].map(z, x + y + z))[0][0]", { x })).toBe(8n);
  });

  test("come in by their declared types", () => {
    expect(run("list.map(s, s.size()).sum()", { list: [listOf(stringType), new List(["ab", "é"])] })).toBe(3n);
    expect(run("o.orValue('none')", { o: [optionalOf(stringType), Optional.none] })).toBe("none");
    expect(run("type(d) == int ? d + 1 : d", { d: [dynType, 1n] })).toBe(2n);
  });
});

test("an evaluation that takes too many steps is stopped", () => {
  const big: [Type, Value] = [listOf(intType), new List(Array.from({ length: 2000 }, (_, i) => BigInt(i)))];
  expect(() => run("l.all(a, l.all(b, a + b >= 0))", { l: big })).toThrow(StepsExceeded);
  expect(() => run("lists.range(100000000).size()")).toThrow(CelError);
});

test("the server gives CRDs neither cel.bind nor existsOne of one variable", () => {
  expect(typeOf("cel.bind(x, 1, x) == 1")).toContain("undeclared reference to 'cel'");
  expect(typeOf("[1].existsOne(x, x == 1)")).toContain("undeclared reference to 'existsOne'");
});
