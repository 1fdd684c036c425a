import { describe, expect, test } from "vitest";
import { validate } from "./validate.ts";
import { coerceMetadata, metadataErrors } from "./object-meta.ts";

const shown = (errors: { path: string; message: string }[]) => errors.map(({ path, message }) => `${path}: ${message}`);
const errorsOf = (metadata: Record<string, unknown>, old?: Record<string, unknown>) =>
  shown(metadataErrors(metadata, { namespaced: false, ...(old && { old }) }));

describe("metadata is read as the server reads it", () => {
  test("unknown and empty fields go, the unknown are named", () => {
    const object = {
      metadata: {
        name: "a",
        labels: {},
        generateName: "",
        extra: 1,
        ownerReferences: [{ uid: "u", more: 1 }],
        generation: 0,
      },
    };
    expect(coerceMetadata(object, {})).toEqual({ unknown: ["metadata.extra", "metadata.ownerReferences[0].more"] });
    expect(object).toEqual({ metadata: { name: "a", ownerReferences: [{ uid: "u" }] } });
  });

  test.each<[unknown, string]>([
    [{ name: 1 }, "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"],
    [{ labels: { a: true } }, "json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string"],
    [{ generation: "x" }, "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64"],
    ["x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"],
  ])("%j is refused", (metadata, complaint) => {
    expect(coerceMetadata({ metadata }, {}).error?.message).toContain(complaint);
  });

  test("null is absent", () => {
    const object = { metadata: { name: "a", labels: null, creationTimestamp: null } };
    expect(coerceMetadata(object, {}).error).toBeUndefined();
    expect(object).toEqual({ metadata: { name: "a" } });
  });
});

describe("a new object", () => {
  test("needs a name that is a DNS subdomain", () => {
    expect(errorsOf({})).toEqual(["metadata.name: Required value: name or generateName is required"]);
    expect(errorsOf({ name: "A" })[0]).toContain('metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain');
    expect(errorsOf({ name: "a", generateName: "a-" })).toEqual([]);
  });

  test("has a namespace exactly if its kind has", () => {
    expect(errorsOf({ name: "a", namespace: "n" })).toEqual([
      "metadata.namespace: Forbidden: not allowed on this type",
    ]);
    const namespaced = { namespaced: true };
    expect(shown(metadataErrors({ name: "a" }, namespaced))).toEqual(["metadata.namespace: Required value"]);
    expect(metadataErrors({ name: "a", namespace: "n" }, namespaced)).toEqual([]);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ labels: { "a b": "c" } }, 'metadata.labels: Invalid value: "a b": name part must consist of'],
    [{ labels: { a: "b c" } }, 'metadata.labels: Invalid value: "b c": a valid label must be'],
    [{ annotations: { "": "x" } }, 'metadata.annotations: Invalid value: "": name part must be non-empty'],
    [
      { annotations: { a: "x".repeat(256 * 1024) } },
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ],
    [{ finalizers: ["a b"] }, 'metadata.finalizers: Invalid value: "a b": name part must consist of'],
    [{ finalizers: ["orphan", "foregroundDeletion"] }, "finalizer orphan and foregroundDeletion cannot be both set"],
    [
      { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] },
      "metadata.ownerReferences.uid: Invalid value",
    ],
    [
      { managedFields: [{ operation: "X" }] },
      'metadata.managedFields[0].operation: Invalid value: "X": must be `Apply` or `Update`',
    ],
  ])("with %j is refused", (fields, complaint) => {
    expect(errorsOf({ name: "a", ...fields })[0]).toContain(complaint);
  });

  test("has one controller at most", () => {
    const owner = (name: string) => ({ apiVersion: "v1", kind: "Pod", name, uid: "u", controller: true });
    expect(errorsOf({ name: "a", ownerReferences: [owner("p"), owner("q")] })[0]).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    );
  });
});

describe("an update", () => {
  const stored = { name: "a", uid: "u", resourceVersion: "1", generation: 2 };

  test("keeps the object's identity and names the version it was made from", () => {
    expect(errorsOf(stored, stored)).toEqual([]);
    expect(errorsOf({ ...stored, uid: "v" }, stored)).toEqual(['metadata.uid: Invalid value: "v": field is immutable']);
    expect(errorsOf({ ...stored, resourceVersion: "" }, stored)).toEqual([
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    ]);
    expect(errorsOf({ ...stored, generation: 1 }, stored)).toEqual([
      "metadata.generation: Invalid value: 1: must not be decremented",
    ]);
  });

  test("adds no finalizer to what is being deleted", () => {
    const deleting = { ...stored, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] };
    expect(errorsOf({ ...deleting, finalizers: [] }, deleting)).toEqual([]);
    expect(errorsOf({ ...deleting, finalizers: ["x/y", "a/b"] }, deleting)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b"}',
    ]);
  });
});

test("an embedded resource needs apiVersion and kind, and metadata as good as an object's own", () => {
  const schema = {
    type: "object",
    properties: {
      list: {
        type: "array",
        items: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  };
  const list = [
    { apiVersion: "v1", kind: "Pod", metadata: { name: "A_ok" } },
    { kind: "9", metadata: { name: "a/b", labels: { a: "b c" } } },
  ];
  expect(shown(validate({ list }, schema)).map(text => text.slice(0, 60))).toEqual([
    "list[1].apiVersion: Required value",
    'list[1].kind: Invalid value: "9": may have mixed case, but s',
    'list[1].metadata.name: Invalid value: "a/b": may not contain',
    'list[1].metadata.labels: Invalid value: "b c": a valid label',
  ]);
});
