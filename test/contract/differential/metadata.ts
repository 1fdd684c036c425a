// Metadata that objects are created and changed with: mostly what people write, sometimes what they should not.

import fc from "fast-check";
import type { Json, JsonObject } from "./operation.ts";

const label = fc.record(
  { app: fc.constantFrom("x", "y", "z"), tier: fc.constantFrom("gold", "silver") },
  { requiredKeys: [] },
);
const finalizers = fc.uniqueArray(
  fc.constantFrom("test.fettle.dev/hold", "test.fettle.dev/second", "foregroundDeletion"),
  {
    maxLength: 2,
  },
);
const owner = fc.record(
  {
    apiVersion: fc.constant("v1"),
    kind: fc.constant("ConfigMap"),
    name: fc.constant("@a"),
    uid: fc.constantFrom("@uid:a", "@uid:b", "00000000-0000-4000-8000-00000000000a"),
    controller: fc.boolean(),
    blockOwnerDeletion: fc.boolean(),
  },
  { requiredKeys: ["apiVersion", "kind", "name", "uid"] },
);

const usual: fc.Arbitrary<JsonObject> = fc.record(
  {
    labels: label,
    annotations: fc.record({ note: fc.constantFrom("", "one", "two") }),
    finalizers,
    ownerReferences: fc.array(owner, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const odd = fc.constantFrom<JsonObject>(
  { name: "Not_A_Name" },
  { name: "" },
  { name: "a".repeat(254) },
  { namespace: "elsewhere" },
  { uid: "11111111-1111-4111-8111-111111111111" },
  { resourceVersion: "5" },
  { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 7 },
  { creationTimestamp: "2020-01-01T00:00:00Z", generation: 12 },
  { labels: { "not a key": "x" } },
  { labels: { app: "not a value!" } },
  { labels: { app: 5 } },
  { labels: { app: null } },
  { annotations: { "not a key": "x" } },
  { annotations: { big: "x".repeat(300_000) } },
  { finalizers: ["nodomain"] },
  { finalizers: ["not a name/x"] },
  { finalizers: ["orphan", "foregroundDeletion"] },
  { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "", uid: "" }] },
  { ownerReferences: [{ kind: "ConfigMap", name: "n", uid: "u", apiVersion: "v1", extra: true }] },
  {
    ownerReferences: [
      { apiVersion: "v1", kind: "ConfigMap", name: "n", uid: "u1", controller: true },
      { apiVersion: "v1", kind: "ConfigMap", name: "m", uid: "u2", controller: true },
    ],
  },
  { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "n", uid: "u1" }] },
  { unknownField: 1 },
);

export const createMetadata: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 9, arbitrary: usual },
  { weight: 1, arbitrary: fc.tuple(usual, odd).map(([one, other]) => ({ ...one, ...other })) },
);

/** Fragments for merging: null removes. */
export const metadataChange: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        labels: fc.oneof(label, fc.constantFrom<Json>({ app: null }, null, { tier: "silver" })),
        annotations: fc.constantFrom<Json>({ note: "changed" }, { note: null }, {}, null),
        finalizers: fc.oneof(finalizers, fc.constant(null)),
        ownerReferences: fc.oneof(fc.array(owner, { maxLength: 2 }), fc.constant(null)),
      },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      odd,
      fc.constantFrom<JsonObject>(
        { name: null },
        { name: "other" },
        { namespace: null },
        { generation: 99 },
        { creationTimestamp: null },
        { deletionTimestamp: null },
        { generateName: "other-" },
      ),
    ),
  },
);
