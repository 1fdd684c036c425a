import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import type { ServedKind } from "../kind.ts";
import { printerColumns } from "../printer-columns.ts";
import { includeObject, partial, partialList, table, watchTable } from "./table.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const pool: KubeObject = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "general", uid: "u", resourceVersion: "7", creationTimestamp: "2026-11-15T11:00:00Z" },
  spec: { weight: 10 },
};
const kind = {
  resource: { kind: "NodePool" },
  columns: printerColumns([
    { name: "Weight", type: "integer", jsonPath: ".spec.weight", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ]),
} as unknown as ServedKind;
const form = { version: "v1", include: "Metadata", now } as const;

describe("a table", () => {
  test("has the columns of the kind and a row an object", () => {
    const made = table(kind, [pool, pool], { resourceVersion: "9" }, form);
    expect(made).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "9" } });
    expect(made["columnDefinitions"]).toMatchObject([
      { name: "Name", type: "string", format: "name", priority: 0 },
      { name: "Weight", type: "integer", format: "", priority: 1 },
      { name: "Age", type: "date", format: "", priority: 0 },
    ]);
    expect(made["rows"]).toMatchObject([{ cells: ["general", 10, "60m"] }, { cells: ["general", 10, "60m"] }]);
  });

  test.each([
    ["None", null],
    ["Metadata", { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: pool.metadata }],
    ["Object", pool],
  ] as const)("with includeObject=%s carries as much of each object", (include, object) => {
    const { rows } = table(kind, [pool], {}, { ...form, include }) as { rows: { object: unknown }[] };
    expect(rows[0]?.object).toEqual(object);
  });

  test("includeObject defaults to the metadata, and nonsense is refused", () => {
    expect(includeObject(null)).toBe("Metadata");
    expect(includeObject("")).toBe("Metadata");
    expect(() => includeObject("All")).toThrow(`includeObject: Invalid value: "All": must be 'Metadata'`);
  });
});

test("the scale of an object has columns of its own, whatever the kind's are", () => {
  const scale = (replicas: object) => ({ ...pool, apiVersion: "autoscaling/v1", kind: "Scale", ...replicas });
  const three = table(kind, [scale({ spec: { replicas: 3 }, status: { replicas: 1 } })], {}, form);
  expect(three).toMatchObject({
    columnDefinitions: [{ name: "Name" }, { name: "Desired" }, { name: "Available" }, { name: "Age" }],
    rows: [{ cells: ["general", 3, 1, "60m"] }],
  });
  expect(table(kind, [scale({ spec: {} })], {}, form)).toMatchObject({ rows: [{ cells: ["general", 0, 0, "60m"] }] });
});

describe("in a watch", () => {
  test("only the first event carries the columns", () => {
    const first = watchTable(kind, { object: pool, isBookmark: false, isFirst: true }, form);
    const second = watchTable(kind, { object: pool, isBookmark: false, isFirst: false }, form);
    expect(first["columnDefinitions"]).toHaveLength(3);
    expect(second["columnDefinitions"]).toBeNull();
    expect(second).toMatchObject({ metadata: { resourceVersion: "7" }, rows: [{ cells: ["general", 10, "60m"] }] });
  });

  test("a bookmark has a row without cells, for its version and annotations", () => {
    const bookmark = { ...pool, metadata: { resourceVersion: "9" } as KubeObject["metadata"] };
    expect(watchTable(kind, { object: bookmark, isBookmark: true, isFirst: false }, form)).toMatchObject({
      metadata: { resourceVersion: "9" },
      rows: [{ cells: [null, null, null], object: { metadata: { resourceVersion: "9" } } }],
    });
  });
});

test("the metadata alone, of one object and of many", () => {
  const metadataOnly = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: pool.metadata };
  expect(partial(pool, "v1")).toEqual(metadataOnly);
  expect(partialList([pool], { resourceVersion: "9" }, "v1")).toEqual({
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: "9" },
    items: [metadataOnly],
  });
});
