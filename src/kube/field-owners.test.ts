import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutFieldOwners } from "./field-owners.ts";

const record = (fieldsV1: object) => ({
  manager: "kubelet",
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
  subresource: "status",
});
const parsed = (value: object): unknown => JSON.parse(withoutFieldOwners(JSON.stringify(value)));

describe("the owners of fields", () => {
  const managedFields = [record({ "f:status": { 'k:{"type":"Ready"}': { ".": {} } } }), record({ "f:spec": {} })];

  test.each<[string, object, object]>([
    ["at the end of the metadata", { name: "a", managedFields }, { spec: { n: 1 } }],
    ["before a name, as in a custom kind", { managedFields, name: "a" }, { spec: { n: 1 } }],
  ])("are left out %s", (_, metadata, rest) => {
    const event = { type: "MODIFIED", object: { metadata, ...rest } };
    expect(parsed(event)).toEqual({
      type: "MODIFIED",
      object: { metadata: { ...metadata, managedFields: [] }, ...rest },
    });
  });

  test.each(["_x", "$x", "0x"])("end before a field that is called %s", name => {
    const rest = { [name]: { a: [{ b: 1 }], c: 2 } };
    expect(parsed({ object: { metadata: { managedFields }, ...rest } })).toEqual({
      object: { metadata: { managedFields: [] }, ...rest },
    });
  });

  test("may say what looks like their end", () => {
    const tricky = { 'k:{"a":[{}],"b":"}],"}': {}, 'v:"}]},"': {}, '}],"name': {}, '}]},\\"spec': {} };
    const event = { object: { metadata: { managedFields: [record(tricky)], name: "a" }, spec: {} } };
    expect(parsed(event)).toEqual({ object: { metadata: { managedFields: [], name: "a" }, spec: {} } });
  });

  test("stay where nothing comes after them, and where somebody has a list of that name", () => {
    const bare = { object: { metadata: { name: "a", managedFields } } };
    const own = { object: { metadata: { name: "a" }, spec: { managedFields: [{ name: "b" }], more: 1 } } };
    const named = {
      object: { metadata: { annotations: { was: JSON.stringify({ metadata: { managedFields } }) } }, spec: {} },
    };
    for (const event of [bare, own, named]) expect(parsed(event)).toEqual(event);
  });
});

test("whatever the fields are called, nothing else is lost", () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom("}]", '}],"', '}]},"a', '"managedFields":[{', "\\", '\\"}],"x'));
  const fields = fc.dictionary(texts, fc.dictionary(texts, fc.constant({})));
  fc.assert(
    fc.property(
      fc.array(fields, { minLength: 1 }),
      fc.dictionary(texts, texts),
      fc.boolean(),
      (owned, labels, isLast) => {
        const managedFields = owned.map(record);
        const metadata = isLast ? { labels, managedFields } : { labels, managedFields, name: "a" };
        const event = { type: "ADDED", object: { metadata, spec: { labels } } };
        expect(parsed(event)).toEqual({
          type: "ADDED",
          object: { metadata: { ...metadata, managedFields: [] }, spec: { labels } },
        });
      },
    ),
  );
});
