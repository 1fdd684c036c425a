// One kind, defined once: names, schema, columns. Everything else (CRD, types, defaults, validation, docs) comes from it.

import { type TObject, Type } from "typebox";
import { Optional, Struct } from "./define.ts";
import type { Resource } from "./meta.ts";
import { applyDefaults } from "./schema/defaults.ts";
import type { Rule, Schema } from "./schema/schema.ts";

export type Column = {
  name: string;
  type: "string" | "integer" | "date" | "boolean";
  jsonPath: string;
  /** 1: only with -o wide. */
  priority?: 0 | 1;
};

export type KindDefinition = {
  resource: Resource;
  /** All served, the first stored; one schema for all. */
  versions: readonly string[];
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  schema: Schema;
  columns: readonly Column[];
  /** JSON paths that a field selector may name. */
  selectableFields: readonly string[];
  scale?: { specReplicasPath: string; statusReplicasPath: string };
};

type Source = {
  group: string;
  versions: readonly [string, ...string[]];
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  categories: readonly string[];
  description: string;
  spec: TObject;
  /** What its names must be, beyond what every name must be. */
  name?: Schema;
  /** Kinds without one, templates, have no status subresource. */
  status?: TObject;
  /** Rules over the whole object: they may look at metadata.name. */
  rules?: readonly Rule[];
  columns: readonly Column[];
  selectableFields?: readonly string[];
  scale?: { specReplicasPath: string; statusReplicasPath: string };
};

export function defineKind(source: Source): KindDefinition {
  const { group, versions, kind, plural, scale } = source;
  return {
    resource: { group, version: versions[0], plural, kind, namespaced: false },
    versions,
    singular: kind.toLowerCase(),
    shortNames: source.shortNames ?? [],
    categories: source.categories,
    schema: objectSchema(source),
    columns: source.columns,
    selectableFields: source.selectableFields ?? [],
    ...(scale ? { scale } : {}),
  };
}

function objectSchema({ description, name, spec, status, rules }: Source): Schema {
  const object = Struct(
    description,
    {
      apiVersion: Optional(Type.String({ description: "Group and version of this shape." })),
      kind: Optional(Type.String({ description: "The kind's name." })),
      // The server knows metadata itself; only the name may be narrowed, and nothing may be said about it.
      metadata: Optional(Type.Unsafe({ type: "object", ...(name ? { properties: { name } } : {}) })),
      spec,
      ...(status ? { status: Optional(status) } : {}),
    },
    rules ? { rules } : {},
  );
  // typebox types a schema as what it describes; the server's view of the same object is Schema.
  return JSON.parse(JSON.stringify(object)) as Schema;
}

/** What the server makes of a spec, or of none at all, before anybody looks at it. The argument stays as it is. */
export function defaultedSpec<Spec>(definition: KindDefinition, spec: Spec | undefined): Spec {
  const object = { spec: structuredClone(spec ?? {}) };
  applyDefaults(object, definition.schema);
  return object.spec as Spec;
}
