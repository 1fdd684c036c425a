import { expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { type PrinterColumn, printerColumns } from "./printer-columns.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const gadget: KubeObject = {
  apiVersion: "example.dev/v1",
  kind: "Gadget",
  metadata: { name: "g", uid: "u", resourceVersion: "1", creationTimestamp: "2026-11-15T11:00:00Z" },
  spec: {
    text: "hello",
    none: null,
    object: { b: ["x"], a: 1, z: "<&>" },
    whole: 7,
    broken: 2.75,
    yes: true,
    at: "2020-01-01T00:00:00Z",
  },
};

const cell = (type: string, jsonPath: string): unknown =>
  printerColumns([{ name: "Cell", type, jsonPath }])[1]?.cell(gadget, now);

// The expected cells are those of kube-apiserver 1.36.3 for the same object.
test.each([
  ["string", ".spec.text", "hello"],
  ["string", ".spec.none", null],
  ["string", ".spec.missing", null],
  ["string", ".spec.object", String.raw`{"a":1,"b":["x"],"z":"\u003c\u0026\u003e"}`],
  ["string", ".spec.yes", "true"],
  ["string", ".spec.whole", "7"],
  ["string", ".spec.broken", "2.75"],
  ["string", ".spec.text[0]", null],
  ["integer", ".spec.broken", 2],
  ["integer", ".spec.text", null],
  ["number", ".spec.whole", 7],
  ["number", ".spec.broken", 2.75],
  ["boolean", ".spec.yes", true],
  ["boolean", ".spec.text", null],
  ["date", ".spec.at", "6y320d"],
  ["date", ".spec.text", "<invalid>"],
  ["date", ".spec.whole", null],
])("a column of type %s at %s shows %j", (type, path, shown) => {
  expect(cell(type, path)).toBe(shown);
});

test("every kind shows its name first, and its age if it defines no column", () => {
  const columns = printerColumns(undefined);
  expect(columns.map(column => column.name)).toEqual(["Name", "Age"]);
  expect(columns.map(column => column.cell(gadget, now))).toEqual(["g", "60m"]);
});

test("columns after one that cannot be read are left out", () => {
  const column = (name: string, jsonPath: string): PrinterColumn => ({ name, type: "string", jsonPath });
  const columns = printerColumns([column("A", ".a"), column("Broken", ".b[?(@.x"), column("C", ".c")]);
  expect(columns.map(({ name }) => name)).toEqual(["Name", "A"]);
});

test("a column says where it comes from unless it has a description, and is wide only by its priority", () => {
  const [, plain, described] = printerColumns([
    { name: "A", type: "string", jsonPath: ".a" },
    { name: "B", type: "string", jsonPath: ".b", description: "What b is.", priority: 1, format: "name" },
  ]);
  expect(plain).toMatchObject({ description: expect.stringContaining(".a"), priority: 0, format: "" });
  expect(described).toMatchObject({ description: "What b is.", priority: 1, format: "name" });
});
