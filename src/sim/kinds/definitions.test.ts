import { expect, test } from "vitest";
import type { Schema } from "../../api/schema/schema.ts";
import type { BuiltInSchema } from "../kind.ts";
import { definitionOf, schemaOf } from "./definitions.ts";

const core = "io.k8s.api.core.v1";

function at(schema: Schema, ...path: string[]): BuiltInSchema {
  return path.reduce((current, key) => (key === "[]" ? current.items : current.properties?.[key]) as Schema, schema);
}

test("a schema has its references followed", () => {
  expect(at(schemaOf(`${core}.Pod`), "spec", "containers", "[]", "image")).toEqual({ type: "string" });
});

test("a strategic merge patch finds its keys", () => {
  const containers = at(schemaOf(`${core}.Pod`), "spec", "containers");
  expect(containers["x-kubernetes-patch-merge-key"]).toBe("name");
  expect(containers["x-kubernetes-patch-strategy"]).toBe("merge");
  expect(at(schemaOf(`${core}.Pod`), "spec", "volumes")["x-kubernetes-patch-strategy"]).toBe("merge,retainKeys");
});

test("the schema of schemas contains itself, to any depth", () => {
  const definition = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
  const nested = at(schemaOf(definition), "not", "not", "not", "not", "pattern");
  expect(nested).toEqual({ type: "string" });
});

test("what was resolved is shared", () => {
  const pod = schemaOf(`${core}.Pod`);
  expect(at(pod, "spec").properties).toBe(schemaOf(`${core}.PodSpec`).properties);
});

test("fields that are written as null may be null", () => {
  expect(at(schemaOf(`${core}.Event`), "eventTime").nullable).toBe(true);
  expect(at(schemaOf(`${core}.Event`), "message").nullable).toBeUndefined();
});

test("amounts and ports may be numbers or text, managed fields are anything", () => {
  const pod = schemaOf(`${core}.Pod`);
  const limits = at(pod, "spec", "containers", "[]", "resources", "limits");
  expect(limits.additionalProperties).toMatchObject({ "x-kubernetes-int-or-string": true });
  const fields = at(pod, "metadata", "managedFields", "[]", "fieldsV1");
  expect(fields["x-kubernetes-preserve-unknown-fields"]).toBe(true);
});

test("a definition that is not there says what to do", () => {
  expect(() => definitionOf("io.k8s.Nothing")).toThrow(
    "No definition io.k8s.Nothing: add it to builtin-definitions.ts.",
  );
});
