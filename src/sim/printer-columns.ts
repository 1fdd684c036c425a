// The columns of `kubectl get` for a custom kind, from its additionalPrinterColumns. A cell that cannot be found or has
// another type than its column is empty, never an error.

import { age } from "./age.ts";
import { type JsonPath, jsonPath } from "./json-path.ts";
import type { Column } from "./kind.ts";

export type PrinterColumn = {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
};

const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "The name of the object, unique among its kind and within its namespace.",
  priority: 0,
  cell: object => object.metadata.name,
};
const ageColumn: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Without any column of its own a kind shows its age. */
export function printerColumns(defined: readonly PrinterColumn[] | undefined): Column[] {
  const columns = [nameColumn];
  for (const column of defined === undefined || defined.length === 0 ? [ageColumn] : defined) {
    const path = pathOf(column.jsonPath);
    // The definition was accepted; the real server, too, shows the columns up to the first that it cannot read.
    if (path === undefined) break;
    columns.push(columnOf(column, path));
  }
  return columns;
}

function columnOf(defined: PrinterColumn, path: JsonPath): Column {
  // CustomResourceDefinitions with another type are refused.
  const type = defined.type as Column["type"];
  return {
    name: defined.name,
    type,
    format: defined.format ?? "",
    description: defined.description || `Custom resource definition column (in JSONPath format): ${defined.jsonPath}`,
    priority: defined.priority ?? 0,
    cell: (object, now) => cellOf(first(path, object), type, now),
  };
}

function pathOf(text: string): JsonPath | undefined {
  try {
    return jsonPath(text);
  } catch {
    return undefined;
  }
}

function first(path: JsonPath, object: unknown): unknown {
  try {
    return path(object)[0];
  } catch {
    return undefined;
  }
}

function cellOf(value: unknown, type: Column["type"], now: number): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "string":
      return typeof value === "object" ? goJson(value) : `${value as string | number | boolean}`;
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
  }
}

// As Go's encoder writes it: keys sorted, and what HTML would take for markup escaped.
function goJson(value: object): string {
  const sorted = (_: string, nested: unknown) =>
    typeof nested === "object" && nested !== null && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([a], [b]) => (a < b ? -1 : 1)))
      : nested;
  return JSON.stringify(value, sorted).replaceAll(
    /[<>&]/g,
    character => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}
