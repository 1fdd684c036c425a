// Schemas that between them have every keyword of a structural schema, one topic each.

import type { Schema } from "../../../src/api/schema/schema.ts";

const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...rest,
});
const root = (spec: Schema): Schema => object({ spec });

const formats = [
  "bsonobjectid",
  "uri",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "cidr",
  "mac",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "isbn",
  "isbn10",
  "isbn13",
  "creditcard",
  "ssn",
  "hexcolor",
  "rgbcolor",
  "byte",
  "password",
  "date",
  "duration",
  "datetime",
  "date-time",
  "k8s-short-name",
  "k8s-long-name",
  "unknown-format",
];

const scalars = root(
  object(
    {
      text: { type: "string", minLength: 2, maxLength: 5 },
      pattern: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$", maxLength: 8 },
      choice: { type: "string", enum: ["a", "b", "c d"] },
      number: { type: "number", minimum: -1.5, maximum: 1000000, multipleOf: 0.5 },
      open: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
      float: { type: "number", format: "float" },
      whole: { type: "integer", minimum: 1, maximum: 2000000, multipleOf: 3 },
      small: { type: "integer", format: "int32" },
      large: { type: "integer", format: "int64" },
      level: { type: "integer", enum: [1, 2, 3] },
      flag: { type: "boolean" },
      maybe: { type: "string", nullable: true, enum: ["x"] },
      either: { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%$", minimum: 2, maximum: 10 },
      amount: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], maxLength: 4 },
    },
    { required: ["text"] },
  ),
);

const texts = root(object(Object.fromEntries(formats.map(format => [format, { type: "string", format }]))));

const containers = root(
  object(
    {
      list: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", minLength: 1 } },
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer" } },
      map: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "port"],
        items: object(
          { name: { type: "string" }, port: { type: "integer", default: 80 }, note: { type: "string", maxLength: 3 } },
          { required: ["name"] },
        ),
      },
      labels: { type: "object", additionalProperties: { type: "string", maxLength: 3 }, maxProperties: 2 },
      sizes: { type: "object", additionalProperties: { type: "array", items: { type: "integer", minimum: 1 } } },
      inner: object(
        { a: { type: "integer" }, b: object({ c: { type: "string" } }, { required: ["c"] }) },
        { required: ["a"], minProperties: 2 },
      ),
      open: object({ known: { type: "integer" } }, { "x-kubernetes-preserve-unknown-fields": true }),
      anything: { "x-kubernetes-preserve-unknown-fields": true },
      free: { type: "object", additionalProperties: true },
      lists: {
        type: "array",
        "x-kubernetes-preserve-unknown-fields": true,
        items: object({ a: { type: "integer" } }),
      },
      resource: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
      strict: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        properties: { spec: object({ a: { type: "integer" } }) },
      },
      "odd/name.of-it": { type: "integer", maximum: 5 },
    },
    { required: ["inner"] },
  ),
);

const junctors = root(
  object(
    {
      a: { type: "integer" },
      b: { type: "string" },
      c: { type: "array", items: { type: "integer" } },
      any: { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^x" }, { enum: ["q"] }] },
      one: { type: "integer", oneOf: [{ minimum: 5 }, { maximum: 10 }, { multipleOf: 7 }] },
      all: { type: "string", allOf: [{ minLength: 2 }, { maxLength: 4 }, { pattern: "^[a-z]*$" }] },
      none: { type: "string", not: { enum: ["no", "never"] } },
      deep: {
        type: "object",
        properties: { x: { type: "integer" }, y: { type: "string" } },
        anyOf: [
          { required: ["x"], properties: { x: { minimum: 10 } } },
          { required: ["y"], properties: { y: { minLength: 2, pattern: "^y" } } },
        ],
      },
    },
    {
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["a", "c"] },
      anyOf: [{ properties: { c: { items: { minimum: 3 }, minItems: 1 } } }, { required: ["b"] }],
    },
  ),
);

const defaults = root(
  object(
    {
      text: { type: "string", default: "t" },
      nothing: { type: "string", nullable: true, default: "n" },
      inner: object(
        {
          a: { type: "integer", default: 1 },
          deeper: object({ b: { type: "string", default: "b" }, c: { type: "string" } }, { default: { c: "c" } }),
        },
        { default: {} },
      ),
      absent: object({ a: { type: "integer", default: 1 }, deeper: object({ b: { type: "string", default: "b" } }) }),
      list: { type: "array", items: object({ a: { type: "integer", default: 2 }, b: { type: "string" } }) },
      items: { type: "array", items: { type: "string", default: "i" } },
      map: { type: "object", additionalProperties: object({ a: { type: "boolean", default: true } }) },
      texts: { type: "object", additionalProperties: { type: "string" } },
      raw: { "x-kubernetes-preserve-unknown-fields": true, default: { x: [1] } },
      either: { "x-kubernetes-int-or-string": true, default: "10%" },
    },
    { default: {} },
  ),
);

const rules = object(
  {
    spec: object(
      {
        min: { type: "integer" },
        max: { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 0", message: "even only" }] },
        name: {
          type: "string",
          maxLength: 10,
          "x-kubernetes-validations": [
            { rule: "self == oldSelf", message: "name is immutable", reason: "FieldValueForbidden" },
            { rule: "self.size() > 1", messageExpression: "'too short: ' + self" },
          ],
        },
        odd: { type: "object", properties: { "a-b.c/d": { type: "integer" }, namespace: { type: "string" } } },
        list: {
          type: "array",
          maxItems: 5,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: object(
            { k: { type: "string", maxLength: 3 }, v: { type: "integer" } },
            {
              required: ["k"],
              "x-kubernetes-validations": [
                {
                  rule: "!has(oldSelf.v) || has(self.v) && self.v >= oldSelf.v",
                  message: "v may only grow",
                  fieldPath: ".v",
                },
              ],
            },
          ),
        },
        tags: {
          type: "array",
          maxItems: 5,
          "x-kubernetes-list-type": "set",
          items: { type: "string", maxLength: 3 },
          "x-kubernetes-validations": [{ rule: "self == oldSelf", messageExpression: "'tags: %s'.format([self])" }],
        },
        labels: {
          type: "object",
          maxProperties: 4,
          additionalProperties: { type: "string", maxLength: 5 },
          "x-kubernetes-validations": [
            { rule: "self.all(k, k.startsWith('x'))", reason: "FieldValueInvalid", fieldPath: "['x-y']" },
            { rule: "!('bad' in self)", reason: "FieldValueDuplicate" },
          ],
        },
        either: {
          "x-kubernetes-int-or-string": true,
          maxLength: 10,
          "x-kubernetes-validations": [{ rule: "type(self) == int ? self < 5 : self.endsWith('%')" }],
        },
        fresh: {
          type: "string",
          maxLength: 5,
          "x-kubernetes-validations": [
            {
              rule: "oldSelf.hasValue() || self.startsWith('n')",
              optionalOldSelf: true,
              message: "new ones begin with n",
            },
          ],
        },
        when: {
          type: "string",
          format: "date-time",
          "x-kubernetes-validations": [{ rule: "self > timestamp('2020-01-01T00:00:00Z')" }],
        },
        span: {
          type: "string",
          format: "duration",
          "x-kubernetes-validations": [{ rule: "self >= duration('1m') && self.getSeconds() % 60 == 0" }],
        },
      },
      {
        "x-kubernetes-validations": [
          {
            rule: "!has(self.min) || !has(self.max) || self.min <= self.max",
            message: "min must not exceed max",
            fieldPath: ".min",
          },
          {
            rule: "!has(self.odd) || self.odd.a__dash__b__dot__c__slash__d > 0 && self.odd.__namespace__ != ''",
            reason: "FieldValueRequired",
            message: "odd is required",
          },
          { rule: "!has(self.list) || !self.list.exists(e, e.k == 'abc')" },
        ],
      },
    ),
    status: object({ phase: { type: "string", enum: ["A", "B"] } }),
  },
  { "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 8 && self.kind != ''" }] },
);

export const shapes: Readonly<Record<string, Schema>> = {
  Scalars: scalars,
  Texts: texts,
  Containers: containers,
  Junctors: junctors,
  Defaults: defaults,
  Rules: rules,
};
