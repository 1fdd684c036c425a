import { describe, expect, test } from "vitest";
import { listTypeErrors } from "./list-type.ts";
import type { Rule, Schema } from "./schema.ts";
import { validate } from "./validate.ts";

const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...rest,
});
const spec = (schema: Schema, rules: Rule[] = []): Schema =>
  object({ spec: rules.length === 0 ? schema : { ...schema, "x-kubernetes-validations": rules } });
const text: Schema = { type: "string" };

function findings(schema: Schema, value: unknown, old?: unknown): string[] {
  const options = old === undefined ? {} : { old: { spec: old } };
  return validate({ spec: value }, schema, options).map(({ path, reason, message }) => `${reason} ${path}: ${message}`);
}

describe("a value is refused in the server's words", () => {
  test.each<[Schema, unknown, string[]]>([
    [
      { type: "integer" },
      "x",
      ['FieldValueTypeInvalid spec: Invalid value: "string": spec in body must be of type integer: "string"'],
    ],
    [
      { type: "integer", format: "int32" },
      2 ** 31,
      ['FieldValueInvalid : Invalid value: "": Checked value must be of type integer with format int32 in spec'],
    ],
    [
      { type: "integer", minimum: 1 },
      0,
      ["FieldValueInvalid spec: Invalid value: 0: spec in body should be greater than or equal to 1"],
    ],
    [
      { type: "number", maximum: 1, exclusiveMaximum: true },
      1,
      ["FieldValueInvalid spec: Invalid value: 1: spec in body should be less than 1"],
    ],
    [{ type: "string", maxLength: 1 }, "ab", ["FieldValueTooLong spec: Too long: may not be more than 1 byte"]],
    [
      { type: "string", minLength: 2 },
      "😀",
      ['FieldValueInvalid spec: Invalid value: "😀": spec in body should be at least 2 chars long'],
    ],
    [
      { type: "string", pattern: "^a" },
      "b",
      ["FieldValueInvalid spec: Invalid value: \"b\": spec in body should match '^a'"],
    ],
    [
      { type: "string", enum: ["a", "b"] },
      "c",
      ['FieldValueNotSupported spec: Unsupported value: "c": supported values: "a", "b"'],
    ],
    [
      { type: "string", format: "date" },
      "x",
      ['FieldValueTypeInvalid spec: Invalid value: "x": spec in body must be of type date: "x"'],
    ],
    [
      { type: "string" },
      null,
      ['FieldValueTypeInvalid spec: Invalid value: "null": spec in body must be of type string: "null"'],
    ],
    [{ type: "string", nullable: true }, null, []],
    [
      { "x-kubernetes-int-or-string": true },
      true,
      ['FieldValueTypeInvalid spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
    ],
    [
      { type: "array", items: text, maxItems: 1 },
      ["a", "b"],
      ["FieldValueTooMany spec: Too many: 2: must have at most 1 item"],
    ],
    [
      { type: "array", items: text, minItems: 1 },
      [],
      ["FieldValueInvalid spec: Invalid value: 0: spec in body should have at least 1 items"],
    ],
    [object({}, { required: ["a"] }), {}, ["FieldValueRequired spec.a: Required value"]],
    [
      { type: "object", additionalProperties: text },
      { k: 1 },
      ['FieldValueTypeInvalid spec.k: Invalid value: "integer": spec.k in body must be of type string: "integer"'],
    ],
    [
      { type: "array", items: text, "x-kubernetes-list-type": "set" },
      ["a", "a", "a"],
      ['FieldValueDuplicate spec[1]: Duplicate value: "a"'],
    ],
    [
      {
        type: "array",
        items: object({ k: text }),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
      },
      [{ k: "a" }, { k: "b" }, { k: "a" }],
      ['FieldValueDuplicate spec[2]: Duplicate value: {"k":"a"}'],
    ],
  ])("%j on %j", (schema, value, expected) => {
    expect(findings(spec(schema), value)).toEqual(expected);
  });

  test("of branches that all fail, the one that passed most checks is reported", () => {
    const schema = spec({ type: "string", anyOf: [{ pattern: "^x" }, { minLength: 3, format: "date" }] });
    expect(findings(schema, "ab")).toEqual([
      'FieldValueInvalid : Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'FieldValueInvalid spec: Invalid value: "ab": spec in body should be at least 3 chars long',
      'FieldValueTypeInvalid spec: Invalid value: "ab": spec in body must be of type date: "ab"',
    ]);
  });
});

describe("CEL rules", () => {
  const bounded = spec(object({ min: { type: "integer" }, max: { type: "integer" } }), [
    { rule: "self.min <= self.max", message: "min must not exceed max", fieldPath: ".min" },
  ]);

  test("are reported at their fieldPath, without the object", () => {
    expect(findings(bounded, { min: 2, max: 1 })).toEqual([
      "FieldValueInvalid spec.min: Invalid value: min must not exceed max",
    ]);
    expect(findings(bounded, { min: 1, max: 1 })).toEqual([]);
  });

  test("that have no value fail with their error, at the value itself", () => {
    expect(findings(bounded, { min: 2 })).toEqual([
      'FieldValueInvalid spec: Invalid value: "object": no such key: max evaluating rule: min must not exceed max',
    ]);
  });

  test("are not asked about an object of the wrong types, which is said", () => {
    expect(findings(bounded, { min: "x" }).at(-1)).toBe(
      "FieldValueInvalid : Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    );
  });

  test("say what their messageExpression computes, and their message where it computes nothing", () => {
    const said = (messageExpression: string) =>
      findings(spec(text, [{ rule: "false", messageExpression, message: "fallback" }]), "x");
    expect(said("'no ' + self")).toEqual(['FieldValueInvalid spec: Invalid value: "x": no x']);
    expect(said("''")).toEqual(['FieldValueInvalid spec: Invalid value: "x": fallback']);
    expect(said("self.substring(5)")).toEqual(['FieldValueInvalid spec: Invalid value: "x": fallback']);
    expect(said("'two\\nlines'")).toEqual(['FieldValueInvalid spec: Invalid value: "x": fallback']);
  });

  test.each<[Rule["reason"], string]>([
    ["FieldValueForbidden", "FieldValueForbidden spec: Forbidden: no"],
    ["FieldValueRequired", "FieldValueRequired spec: Required value: no"],
    ["FieldValueDuplicate", 'FieldValueDuplicate spec: Duplicate value: "x"'],
    ["FieldValueInvalid", 'FieldValueInvalid spec: Invalid value: "x": no'],
  ])("give %s as their reason", (reason, expected) => {
    expect(findings(spec(text, [{ rule: "false", message: "no", ...(reason && { reason }) }]), "x")).toEqual([
      expected,
    ]);
  });

  test("of a resource see its names and nothing else of its metadata", () => {
    const schema: Schema = {
      ...object({}),
      "x-kubernetes-validations": [{ rule: "self.metadata.name == 'a' && self.kind == 'K'" }],
    };
    const named = (name: string) => validate({ apiVersion: "v1", kind: "K", metadata: { name } }, schema);
    expect(named("a")).toEqual([]);
    expect(named("b")).toHaveLength(1);
  });

  test("that never end are stopped, and no more are asked", () => {
    const items: Schema = { type: "array", items: { type: "integer" } };
    const endless = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))";
    const found = findings(
      spec(items, [{ rule: endless }, { rule: "false" }]),
      Array.from({ length: 200 }, (_, i) => i),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("no further validation rules will be run due to call cost exceeds limit");
  });
});

describe("on update", () => {
  const list: Schema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: object({ k: text, v: { type: "integer", maximum: 5 } }),
  };

  test("what was wrong and has not changed is tolerated; what changes must be right", () => {
    const schema = spec(object({ a: { type: "integer", maximum: 5 }, b: text }));
    expect(findings(schema, { a: 9, b: "new" }, { a: 9, b: "old" })).toEqual([]);
    expect(findings(schema, { a: 8, b: "old" }, { a: 9, b: "old" })).toHaveLength(1);
  });

  test("items of a map are paired by their keys, wherever they stand", () => {
    const old = [{ k: "a", v: 9 }, { k: "b" }];
    expect(
      findings(
        spec(list),
        [
          { k: "b", v: 1 },
          { k: "a", v: 9 },
        ],
        old,
      ),
    ).toEqual([]);
    expect(findings(spec(list), [{ k: "c", v: 9 }, { k: "b" }], old)).toHaveLength(1);
    // Of several with the same keys the first is meant.
    const alike = [
      { k: "a", v: 9 },
      { k: "a", v: 1 },
    ];
    expect(findings(spec(list), [{ k: "a", v: 9 }], alike)).toEqual([]);
  });

  test("items of other lists are new as soon as the list changes", () => {
    const atomic = spec({ type: "array", items: { type: "integer", maximum: 5 } });
    expect(findings(atomic, [9], [9])).toEqual([]);
    expect(findings(atomic, [9, 1], [9])).toHaveLength(1);
  });

  test("a rule that fails is tolerated where its value has not changed", () => {
    const schema = spec(object({ a: { ...text, "x-kubernetes-validations": [{ rule: "false" }] }, b: text }));
    expect(findings(schema, { a: "x", b: "new" }, { a: "x", b: "old" })).toEqual([]);
    expect(findings(schema, { a: "y" }, { a: "x" })).toHaveLength(1);
  });

  test("an object that lost a field has changed", () => {
    const schema = spec(object({ a: text, b: text }), [{ rule: "false" }]);
    expect(findings(schema, { a: "x", b: "y" }, { a: "x", b: "y" })).toEqual([]);
    expect(findings(schema, { a: "x" }, { a: "x", b: "y" })).toHaveLength(1);
  });

  test("a transition rule is asked of an unchanged value too", () => {
    const schema = spec({ type: "integer" }, [{ rule: "self > oldSelf" }]);
    expect(findings(schema, 1, 1)).toHaveLength(1);
    expect(findings(schema, 2, 1)).toEqual([]);
  });

  test("what was found good stands for the very object that is stored, and only by the same rules", () => {
    const part = { a: 1 };
    const fields = object({ a: { type: "integer" } });
    const good = spec(fields, [{ rule: "self.a > 0" }]);
    const failing = spec(fields, [{ rule: "self.a / 0 > 0" }]);
    const moving = spec(fields, [{ rule: "self.a > oldSelf.a" }]);
    expect([findings(good, part), findings(good, part, part)]).toEqual([[], []]);
    expect(findings(failing, part, part)).toHaveLength(1);
    expect([findings(moving, part), findings(moving, part, part).length]).toEqual([[], 1]);
    expect(findings(good, { a: 0 }, part)).toHaveLength(1);
  });

  test("what was found good beside itself is not asked again beside itself, and always beside another", () => {
    const part = { a: 1 };
    const rising = spec(object({ a: { type: "integer" } }), [{ rule: "self.a > 0 && self.a >= oldSelf.a" }]);
    expect([findings(rising, part), findings(rising, part, part)]).toEqual([[], []]);
    expect(findings(rising, part, { a: 2 })).toHaveLength(1);
    // Nobody changes what is stored: it is done here to see that it is not looked at.
    part.a = 0;
    expect(findings(rising, part, part)).toEqual([]);
    expect(findings(rising, { a: 0 }, part)).toHaveLength(1);
  });

  test("a list that is the very same as before is not looked through, and hides no other that is wrong", () => {
    const set: Schema = { type: "array", "x-kubernetes-list-type": "set", items: text };
    const fields = object({ a: set, b: { type: "array", items: set } });
    const [twice, once] = [["x", "x"], ["x"]];
    const places = (value: object, old: object) => listTypeErrors(value, fields, old).map(({ path }) => path);
    expect(places({ a: twice }, { a: twice })).toEqual([]);
    expect(places({ a: twice }, { a: ["x", "x"] })).toEqual(["a[1]"]);
    expect(places({ a: twice, b: [once, twice] }, { a: twice, b: [once] })).toEqual(["b[1][1]"]);
    expect(findings(spec(fields), { a: once, b: [twice] }, { a: once, b: [] })).toHaveLength(1);
    // As before: of an object that was wrong already none is told.
    expect(findings(spec(fields), { a: twice, b: [twice] }, { a: twice, b: [] })).toEqual([]);
  });

  test("what must stay as it is may: the very object, an equal one, and no other", () => {
    const part = { a: 1 };
    const fixed = spec(object({ a: { type: "integer" } }), [{ rule: "self == oldSelf" }]);
    expect([findings(fixed, part), findings(fixed, part, part), findings(fixed, { a: 1 }, part)]).toEqual([[], [], []]);
    expect(findings(fixed, { a: 2 }, part)).toHaveLength(1);
    // Stored under another schema, and never judged by this one.
    const stranger = { a: 1 };
    expect(
      findings(spec(object({ a: { type: "integer" } }), [{ rule: "self == oldSelf && false" }]), stranger, stranger),
    ).toHaveLength(1);
  });

  test("transition rules are asked only where there is a predecessor", () => {
    const schema = spec(text, [{ rule: "self == oldSelf", message: "immutable" }]);
    expect(findings(schema, "a")).toEqual([]);
    expect(findings(schema, "a", "a")).toEqual([]);
    expect(findings(schema, "b", "a")).toEqual(['FieldValueInvalid spec: Invalid value: "b": immutable']);
  });

  test("a rule with optionalOldSelf is asked always", () => {
    const schema = spec(text, [{ rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true }]);
    expect(findings(schema, "new")).toEqual([]);
    expect(findings(schema, "old")).toHaveLength(1);
    expect(findings(schema, "old", "old")).toEqual([]);
  });

  test("a set or map compares without regard to order", () => {
    const rules = [{ rule: "self == oldSelf" }];
    expect(
      findings(spec({ type: "array", items: text, "x-kubernetes-list-type": "set" }, rules), ["a", "b"], ["b", "a"]),
    ).toEqual([]);
    expect(findings(spec({ type: "array", items: text }, rules), ["a", "b"], ["b", "a"])).toHaveLength(1);
  });

  test("repeated items are tolerated if the list repeated some before", () => {
    const set = spec(object({ s: { type: "array", items: text, "x-kubernetes-list-type": "set" } }));
    expect(findings(set, { s: ["a", "a", "b"] }, { s: ["a", "a"] })).toEqual([]);
    expect(findings(set, { s: ["a", "a"] }, { s: ["a"] })).toHaveLength(1);
  });

  test("of the status, only the status is judged by value", () => {
    const schema = object({ spec: { type: "integer" }, status: object({ n: { type: "integer" } }) });
    const errors = validate({ spec: "x", status: { n: "y" } }, schema, { old: {}, subresource: "status" });
    expect(errors).toEqual([
      {
        path: "status.n",
        reason: "FieldValueTypeInvalid",
        message: 'Invalid value: "string": n in body must be of type integer: "string"',
      },
    ]);
  });
});
