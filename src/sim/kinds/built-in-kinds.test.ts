import { expect, test } from "vitest";
import { apiVersionOf } from "../../api/meta.ts";
import { selectionOf } from "../selection.ts";
import { builtInKinds } from "./built-in-kinds.ts";

test("every built-in kind has a schema with the fields that all objects share", () => {
  for (const kind of builtInKinds) {
    const { properties = {} } = kind.schema;
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(["apiVersion", "kind", "metadata"]));
    expect(Object.keys(properties.metadata?.properties ?? {})).toContain("finalizers");
  }
});

test("a resource is served once in each group", () => {
  const names = builtInKinds.map(({ resource }) => `${resource.plural}.${resource.group}`);
  expect(new Set(names).size).toBe(names.length);
});

test("a kind's decoder puts the kind and its version where a body left them out", () => {
  for (const kind of builtInKinds) {
    const metadata = { name: "a", uid: "", resourceVersion: "", creationTimestamp: "2026-01-01T00:00:00Z" };
    const object = { apiVersion: "", kind: "", metadata };
    kind.rules.decode?.(object);
    expect(object).toMatchObject({ apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind });
  }
});

test("every kind is selected by its name, and refuses a field that it does not have", () => {
  for (const kind of builtInKinds) {
    const by = (fieldSelector: string) => () => selectionOf(kind, { options: { fieldSelector } });
    expect(by("metadata.name=a")).not.toThrow();
    expect(by("spec.nothing=a")).toThrow(expect.objectContaining({ code: 400 }));
  }
});
