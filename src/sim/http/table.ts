// Objects and lists in the two other forms that clients ask for: a table with the columns of `kubectl get`, and the
// metadata alone. The age in a cell is counted from the instant that is passed in.

import type { KubeObject } from "../../api/meta.ts";
import { age } from "../age.ts";
import type { Column, ServedKind } from "../kind.ts";
import { badRequest } from "../refusal.ts";

type Json = Record<string, unknown>;

/** How much of each object a row carries beside its cells. */
export type IncludeObject = "None" | "Metadata" | "Object";

export type TableForm = { version: string; include: IncludeObject; now: number };

export type ListMeta = { resourceVersion?: string; continue?: string; remainingItemCount?: number };

export function includeObject(asked: string | null): IncludeObject {
  switch (asked) {
    case null:
    case "":
    case "Metadata":
      return "Metadata";
    case "None":
    case "Object":
      return asked;
    default: {
      const value = JSON.stringify(asked);
      const allowed = "must be 'Metadata', 'Object', 'None', or empty";
      throw badRequest(`Unable to convert to Table as requested: includeObject: Invalid value: ${value}: ${allowed}`);
    }
  }
}

export function table(kind: ServedKind, objects: readonly KubeObject[], metadata: ListMeta, form: TableForm): Json {
  const columns = columnsOf(kind, objects[0]);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${form.version}`,
    metadata,
    columnDefinitions: columns.map(({ name, type, format = "", description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.map(object => row(columns, object, form)),
  };
}

/** In a watch only the first event carries the columns; a bookmark's row has no cells to show. */
export function watchTable(
  kind: ServedKind,
  event: { object: KubeObject; isBookmark: boolean; isFirst: boolean },
  form: TableForm,
): Json {
  const { object, isBookmark, isFirst } = event;
  const { resourceVersion } = object.metadata;
  const whole = table(kind, isBookmark ? [] : [object], { resourceVersion }, form);
  if (isBookmark) {
    whole["rows"] = [{ cells: kind.columns.map(() => null), object: included(object, form) }];
  }
  return isFirst ? whole : { ...whole, columnDefinitions: null };
}

/** The scale subresource answers with an object of another kind. */
function columnsOf({ columns, resource }: ServedKind, object: KubeObject | undefined): readonly Column[] {
  return object?.kind === "Scale" && resource.kind !== "Scale" ? scaleColumns : columns;
}

const replicas = (part: unknown): number => (part as { replicas?: number } | undefined)?.replicas ?? 0;

const scaleColumns: readonly Column[] = [
  { name: "Name", type: "string", format: "name", description: "Name of the object.", priority: 0, cell: scaledName },
  {
    name: "Desired",
    type: "integer",
    description: "Replicas wanted.",
    priority: 0,
    cell: object => replicas(object["spec"]),
  },
  {
    name: "Available",
    type: "integer",
    description: "Replicas seen.",
    priority: 0,
    cell: object => replicas(object["status"]),
  },
  { name: "Age", type: "date", description: "Time since the object was created.", priority: 0, cell: scaledAge },
];

function scaledName(object: KubeObject): string {
  return object.metadata.name;
}

function scaledAge(object: KubeObject, now: number): string {
  return age(object.metadata.creationTimestamp, now);
}

function row(columns: readonly Column[], object: KubeObject, form: TableForm): Json {
  return { cells: columns.map(column => column.cell(object, form.now)), object: included(object, form) };
}

function included(object: KubeObject, { include, version }: TableForm): unknown {
  if (include === "None") return null;
  return include === "Object" ? object : partial(object, version);
}

export function partial(object: KubeObject, version: string): Json {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

export function partialList(objects: readonly KubeObject[], metadata: ListMeta, version: string): Json {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.map(object => partial(object, version)),
  };
}
