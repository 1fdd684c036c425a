import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CelError } from "../cel/error.ts";
import { formatType } from "../cel/types.ts";
import { Duration, List, type Struct, Timestamp } from "../cel/values.ts";
import { celTypeOf, celValueOf, escapeName } from "./cel-schema.ts";
import { fieldPathIn } from "./field-path.ts";
import type { Schema } from "./schema.ts";

const text: Schema = { type: "string" };

describe("names", () => {
  test.each<[string, string | undefined]>([
    ["plain", "plain"],
    ["a.b", "a__dot__b"],
    ["a-b", "a__dash__b"],
    ["a/b", "a__slash__b"],
    ["a__b", "a__underscores__b"],
    ["in", "__in__"],
    ["namespace", "__namespace__"],
    ["x.y-z/w__v", "x__dot__y__dash__z__slash__w__underscores__v"],
    ["1a", undefined],
    ["a b", undefined],
    ["", undefined],
  ])("%j is %s to CEL", (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
  });

  test("a field is found again under its escaped name, whatever it is called", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_.\-/]{1,12}$/), name => {
        const value = celValueOf({ [name]: "v" }, { type: "object", properties: { [name]: text } });
        expect((value as Struct).access.field(escapeName(name) ?? expect.fail(name))).toBe("v");
      }),
    );
  });
});

describe("types", () => {
  test.each<[Schema, string | undefined]>([
    [{ type: "integer" }, "int"],
    [{ type: "number" }, "double"],
    [{ type: "boolean" }, "bool"],
    [text, "string"],
    [{ type: "string", format: "byte" }, "bytes"],
    [{ type: "string", format: "date" }, "google.protobuf.Timestamp"],
    [{ type: "string", format: "date-time" }, "google.protobuf.Timestamp"],
    [{ type: "string", format: "duration" }, "google.protobuf.Duration"],
    [{ type: "string", format: "uuid" }, "string"],
    [{ "x-kubernetes-int-or-string": true }, "dyn"],
    [{ type: "array", items: { type: "integer" } }, "list(int)"],
    [{ type: "object", additionalProperties: text }, "map(string, string)"],
    [{ type: "object", properties: {} }, "self"],
    [{ "x-kubernetes-preserve-unknown-fields": true }, undefined],
    [{ type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } }, undefined],
  ])("%j is %s", (schema, type) => {
    const found = celTypeOf(schema, false, "self");
    expect(found && formatType(found)).toBe(type);
  });
});

describe("values", () => {
  test("are what the schema says of the data", () => {
    expect(celValueOf(1, { type: "integer" })).toBe(1n);
    expect(celValueOf(1, { type: "number" })).toBe(1);
    expect(celValueOf("1h", { type: "string", format: "duration" })).toEqual(new Duration(3_600_000_000_000n));
    expect(celValueOf("1970-01-02", { type: "string", format: "date" })).toEqual(new Timestamp(86_400_000_000_000n));
    expect(celValueOf("aGk=", { type: "string", format: "byte" })).toEqual(new Uint8Array([104, 105]));
    expect(celValueOf(["a"], { type: "array", items: text })).toEqual(new List(["a"]));
    expect(celValueOf(5, { "x-kubernetes-int-or-string": true })).toBe(5n);
    expect(celValueOf(null, { type: "string", nullable: true })).toBeNull();
  });

  test.each<[unknown, Schema, string]>([
    [null, text, "invalid data, got null for schema with nullable=false"],
    [1.5, { type: "integer" }, "invalid data, expected int, got float64"],
    [[], text, "invalid data, expected string, got []interface {}"],
    ["soon", { type: "string", format: "duration" }, "Invalid duration soon: unable to parse soon as duration"],
    ["a+b=", { type: "string", format: "byte" }, "Invalid byte formatted string a+b="],
  ])("%j is none of %j", (raw, schema, message) => {
    expect(() => celValueOf(raw, schema)).toThrow(new CelError(message));
  });

  test("of absent and null fields are absent; of null entries of a map are there", () => {
    const fields = celValueOf({ a: null }, { type: "object", properties: { a: { ...text, nullable: true }, b: text } });
    expect((fields as Struct).access.field("a")).toBeUndefined();
    expect((fields as Struct).access.field("b")).toBeUndefined();
    const map = celValueOf({ a: null }, { type: "object", additionalProperties: { ...text, nullable: true } });
    expect((map as Struct).access.field("a")).toBeNull();
  });
});

test.each<[string, string | undefined]>([
  [".a", "a"],
  [".a.b", "a.b"],
  ["['a'].b", "a.b"],
  [".m['k.1']", "m[k.1]"],
  [".m.k", "m[k]"],
  ["['it\\'s']", "it's"],
  ["a", undefined],
  [".x", undefined],
  [".a[0]", undefined],
  [".a..b", undefined],
])("the fieldPath %s is written %s", (path, written) => {
  const schema: Schema = {
    type: "object",
    properties: {
      a: { type: "object", properties: { b: text } },
      m: { type: "object", additionalProperties: text },
      "it's": text,
    },
  };
  expect(fieldPathIn(schema, path)).toBe(written);
});
