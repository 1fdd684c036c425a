// Schemas that a CRD must not have, one fault each (a few have several), named by what is wrong.

type Loose = Record<string, unknown>;

const object = (properties: Loose, rest: Loose = {}): Loose => ({ type: "object", properties, ...rest });
const spec = (schema: Loose): Loose => object({ spec: schema });
const rule = (...rules: Loose[]): Loose => ({ "x-kubernetes-validations": rules });
const items = object({ k: { type: "string" }, v: { type: "integer" } }, { required: ["k"] });
const mapList = (rest: Loose): Loose => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
  items,
  ...rest,
});

export const brokenSchemas: Readonly<Record<string, Loose>> = {
  "no type at the root": { properties: { spec: { type: "object" } } },
  "another type at the root": { type: "string" },
  "no type of a field": spec({ properties: { a: { type: "string" } } }),
  "no type of items": spec({ type: "array", items: { maxLength: 1 } }),
  "no items": spec({ type: "array" }),
  "an unknown type": spec({ type: "text" }),
  "type null": spec({ type: "null" }),
  "additionalProperties at the root": { type: "object", additionalProperties: { type: "string" } },
  "additionalProperties beside properties": spec(
    object({ a: { type: "string" } }, { additionalProperties: { type: "string" } }),
  ),
  "additionalProperties false beside properties": spec(
    object({ a: { type: "string" } }, { additionalProperties: false }),
  ),
  uniqueItems: spec({ type: "array", uniqueItems: true, items: { type: "string" } }),
  $ref: spec({ $ref: "#/definitions/x" }),
  definitions: spec({ type: "object", definitions: { x: { type: "string" } } }),
  dependencies: spec({ type: "object", dependencies: { x: ["y"] } }),
  patternProperties: spec({ type: "object", patternProperties: { x: { type: "string" } } }),
  additionalItems: spec({ type: "array", items: { type: "string" }, additionalItems: true }),
  id: spec({ type: "object", id: "x" }),
  "a list of item schemas": spec({ type: "array", items: [{ type: "string" }] }),
  "a broken pattern": spec({ type: "string", pattern: "(" }),
  "a pattern with look-ahead": spec({ type: "string", pattern: "a(?=b)" }),
  "a pattern with a backreference": spec({ type: "string", pattern: "(a)\\1" }),
  "a pattern with a nested repetition": spec({ type: "string", pattern: "a**" }),
  "a pattern with a huge repetition": spec({ type: "string", pattern: "a{1001}" }),
  "a pattern with a reversed range": spec({ type: "string", pattern: "[z-a]" }),
  "preserve-unknown-fields false": spec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  "preserve-unknown-fields with int-or-string": spec({
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-int-or-string": true,
  }),
  "an embedded resource of another type": spec({
    type: "array",
    items: { type: "string" },
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }),
  "an embedded resource without fields": spec({ type: "object", "x-kubernetes-embedded-resource": true }),
  "an embedded resource with additionalProperties": spec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    additionalProperties: { type: "string" },
  }),
  "an embedded resource in metadata": object({
    metadata: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  }),
  "kind of another type": object({ kind: { type: "integer" } }),
  "metadata of another type": object({ metadata: { type: "string" } }),
  "labels restricted": object({ metadata: { type: "object", properties: { labels: { type: "object" } } } }),
  "a type in anyOf": spec({ type: "string", anyOf: [{ type: "string", minLength: 1 }] }),
  "a default in allOf": spec({ type: "string", allOf: [{ default: "x" }] }),
  "a description in oneOf": spec({ type: "string", oneOf: [{ description: "x" }] }),
  "nullable in not": spec({ type: "string", not: { nullable: true } }),
  "much in a branch": spec({
    type: "object",
    properties: { a: { type: "array", items: { type: "string" } } },
    allOf: [
      {
        title: "x",
        additionalProperties: { type: "string" },
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { a: { "x-kubernetes-list-type": "set", items: { "x-kubernetes-int-or-string": true } } },
      },
    ],
  }),
  "metadata in a branch": { type: "object", anyOf: [{ properties: { metadata: {} } }] },
  "a field only in a branch": { type: "object", anyOf: [{ properties: { spec: { minLength: 1 } } }] },
  "rules in a branch": spec({ type: "string", allOf: [rule({ rule: "true" })] }),
  "map-type on a list": spec({ type: "array", items: { type: "string" }, "x-kubernetes-map-type": "atomic" }),
  "an unknown map-type": spec({ type: "object", "x-kubernetes-map-type": "x" }),
  "map-type without type": spec({ "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true }),
  "list-type on an object": spec({ type: "object", "x-kubernetes-list-type": "set" }),
  "an unknown list-type": spec({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "x" }),
  "a set of granular objects": spec({ type: "array", "x-kubernetes-list-type": "set", items }),
  "a set of sets": spec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
  }),
  "a set with nullable items": spec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: { type: "string", nullable: true },
  }),
  "map keys without list-type": spec(mapList({ "x-kubernetes-list-type": undefined })),
  "map keys on a set": spec({
    type: "array",
    "x-kubernetes-list-type": "set",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "string" },
  }),
  "a map without keys": spec(mapList({ "x-kubernetes-list-map-keys": undefined })),
  "a map of strings": spec(mapList({ items: { type: "string" } })),
  "an unknown map key": spec(mapList({ "x-kubernetes-list-map-keys": ["x"] })),
  "a map key twice": spec(mapList({ "x-kubernetes-list-map-keys": ["k", "k"] })),
  "an optional map key": spec(mapList({ "x-kubernetes-list-map-keys": ["k", "v"] })),
  "a nullable map key": spec(
    mapList({ items: object({ k: { type: "string", nullable: true } }, { required: ["k"] }) }),
  ),
  "a map key that is a list": spec(
    mapList({ items: object({ k: { type: "array", items: { type: "string" } } }, { required: ["k"] }) }),
  ),
  "nullable items of a map": spec(mapList({ items: { ...items, nullable: true } })),
  "a default of another type": spec({ type: "string", default: 1 }),
  "a default out of bounds": spec(object({ a: { type: "integer", maximum: 5, default: 6 } })),
  "a default with unknown fields": spec(object({ a: { type: "string" } }, { default: { b: 1 } })),
  "a default without a required field": spec(object({ a: { type: "string" } }, { required: ["a"], default: {} })),
  "a default that breaks a rule": spec({ type: "integer", default: 1, ...rule({ rule: "self > 1" }) }),
  "a default in metadata": object({
    metadata: { type: "object", properties: { name: { type: "string", default: "x" } } },
  }),
  "a default of kind": object({ kind: { type: "string", default: "X" } }),
  "a bad default in embedded metadata": spec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    properties: {
      metadata: object({ name: { type: "string", default: "a/b" } }),
    },
  }),
  "an embedded default without kind": spec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    default: { apiVersion: "v1" },
  }),
  "an empty rule": spec({ type: "string", ...rule({ rule: "  " }) }),
  "a blank message": spec({ type: "string", ...rule({ rule: "true", message: " " }) }),
  "a message of two lines": spec({ type: "string", ...rule({ rule: "true", message: "a\nb" }) }),
  "a rule of two lines without a message": spec({ type: "string", ...rule({ rule: "true &&\ntrue" }) }),
  "a blank messageExpression": spec({ type: "string", ...rule({ rule: "true", messageExpression: " " }) }),
  "an unknown reason": spec({ type: "string", ...rule({ rule: "true", reason: "Because" }) }),
  "a fieldPath to nowhere": spec(object({ a: { type: "string" } }, rule({ rule: "true", fieldPath: ".b" }))),
  "a fieldPath without a dot": spec(object({ a: { type: "string" } }, rule({ rule: "true", fieldPath: "a" }))),
  "a fieldPath into a list": spec(
    object({ a: { type: "array", items: { type: "string" } } }, rule({ rule: "true", fieldPath: ".a[0]" })),
  ),
  "a rule that is no bool": spec({ type: "string", ...rule({ rule: "self" }) }),
  "a message that is no string": spec({ type: "string", ...rule({ rule: "true", messageExpression: "1" }) }),
  "a message that does not compile": spec({ type: "string", ...rule({ rule: "true", messageExpression: "self.x" }) }),
  "oldSelf in an atomic list": spec({ type: "array", items: { type: "string", ...rule({ rule: "self == oldSelf" }) } }),
  "oldSelf deep in a set": spec({
    type: "array",
    "x-kubernetes-list-type": "set",
    items: object(
      { a: { type: "string", ...rule({ rule: "self == oldSelf" }) } },
      { "x-kubernetes-map-type": "atomic" },
    ),
  }),
  "oldSelf in a map inside an atomic list": spec({
    type: "array",
    items: mapList({ items: { ...items, ...rule({ rule: "self == oldSelf" }) } }),
  }),
  "optionalOldSelf without oldSelf": spec({ type: "string", ...rule({ rule: "true", optionalOldSelf: true }) }),
  "two faults": spec(object({ a: { type: "text" }, b: { type: "array" } })),
  "a field that rules cannot see": spec(
    object({ a: { "x-kubernetes-preserve-unknown-fields": true } }, rule({ rule: "has(self.a)" })),
  ),
  "labels in a rule at the root": object({ spec: { type: "object" } }, rule({ rule: "has(self.metadata.labels)" })),
};
