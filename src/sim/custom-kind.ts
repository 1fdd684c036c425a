// How a version of a CustomResourceDefinition is served: schema, subresources, columns, selectable fields and what is
// judged on each write.

import { apiVersionOf, type KubeObject, type Resource } from "../api/meta.ts";
import { goText } from "../api/go-text.ts";
import { invalid } from "../api/schema/field-error.ts";
import { applyDefaults } from "../api/schema/defaults.ts";
import { metadataErrors } from "../api/schema/object-meta.ts";
import { prune } from "../api/schema/prune.ts";
import type { FieldError, Schema } from "../api/schema/schema.ts";
import { validate } from "../api/schema/validate.ts";
import type { Subresource } from "../control/ports.ts";
import type { Crd, CrdVersion } from "./crd.ts";
import { deepCopy, deepEqual, isObject } from "./json-value.ts";
import type { KindRules, ReadAs, ScalePaths, ServedKind } from "./kind.ts";
import { knownSchema } from "./known-schemas.ts";
import { printerColumns } from "./printer-columns.ts";

/** `isMixed`: some objects may have been stored by another schema or in another version than they would be by now. */
export function customKinds(crd: Crd, { isMixed }: { isMixed: boolean }): ServedKind[] {
  const storage = crd.spec.versions.find(version => version.storage);
  const schemas = schemasOf(crd);
  const isPlain = !isMixed && new Set(schemas.values()).size === 1;
  return crd.spec.versions
    .filter(version => version.served || version === storage)
    .map(version => customKind(crd, version, isPlain ? undefined : schemas));
}

type Schemas = ReadonlyMap<string, Schema>;

function schemasOf({ spec }: Crd): Schemas {
  return new Map(spec.versions.map(({ name, schema }) => [name, knownSchema(schema?.openAPIV3Schema ?? {})]));
}

function customKind(crd: Crd, version: CrdVersion, schemas: Schemas | undefined): ServedKind {
  const { group, names, scope, versions } = crd.spec;
  const namespaced = scope === "Namespaced";
  const resource: Resource = { group, version: version.name, plural: names.plural, kind: names.kind, namespaced };
  const schema = knownSchema(version.schema?.openAPIV3Schema ?? {});
  const scale = scalePaths(version);
  const stored = versions.find(({ storage }) => storage)?.name ?? version.name;
  return {
    resource,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    subresources: subresourcesOf(version),
    schema,
    strategic: false,
    columns: printerColumns(version.additionalPrinterColumns),
    unconditionalUpdate: false,
    ...(scale && { scale }),
    ...(stored !== version.name && { storedAs: otherVersion(resource, stored, schemas) }),
    ...(schemas && { readAs: readAs(crd, resource, schemas) }),
    served: version.served,
    rules: rulesFor({ schema, version, scale, namespaced }),
  };
}

/** Without a webhook, versions differ in nothing but their name and in what their schemas know. */
function otherVersion(resource: Resource, stored: string, schemas?: Schemas): NonNullable<ServedKind["storedAs"]> {
  const here = apiVersionOf(resource);
  const there = apiVersionOf({ group: resource.group, version: stored });
  return {
    resource: { ...resource, version: stored },
    toStored: object => pruned({ ...object, apiVersion: there }, schemas?.get(stored)),
    fromStored: object => ({ ...object, apiVersion: here }),
  };
}

/** Pruned and defaulted by the version in which it is stored, and pruned by the one in which it is asked for. */
function readAs({ metadata }: Crd, resource: Resource, schemas: Schemas): ReadAs {
  const apiVersion = apiVersionOf(resource);
  return {
    name: `${apiVersion} ${metadata.generation}`,
    read: stored => {
      const schema = schemas.get(stored.apiVersion.slice(resource.group.length + 1));
      const object = pruned(stored, schema);
      if (schema !== undefined) applyDefaults(object, schema);
      return pruned({ ...object, apiVersion }, schemas.get(resource.version));
    },
  };
}

function pruned(object: KubeObject, schema: Schema | undefined): KubeObject {
  if (schema === undefined) return object;
  const copy = deepCopy(object);
  prune(copy, schema, { root: true });
  return copy;
}

function subresourcesOf({ subresources }: CrdVersion): Subresource[] {
  return (["status", "scale"] as const).filter(name => subresources?.[name] !== undefined);
}

function scalePaths({ subresources }: CrdVersion): ScalePaths | undefined {
  const scale = subresources?.scale;
  if (scale === undefined) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const paths = { spec: specReplicasPath.slice(1), status: statusReplicasPath.slice(1) };
  return labelSelectorPath ? { ...paths, selector: labelSelectorPath.slice(1) } : paths;
}

type Served = { schema: Schema; version: CrdVersion; scale: ScalePaths | undefined; namespaced: boolean };

function rulesFor({ schema, version, scale, namespaced }: Served): KindRules {
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1));
  return {
    countsGeneration: true,
    prepare: (object, { old }) => {
      if (old === undefined && version.subresources?.status !== undefined) delete object.status;
    },
    validate: (object, { old, subresource }) => {
      // What is stored was judged when it was written.
      const isKept = old !== undefined && deepEqual(object.metadata, old.metadata);
      const values = validate(object, schema, {
        ...(old && { old }),
        metadata: isKept ? [] : metadataErrors(object.metadata, { namespaced, ...(old && { old: old.metadata }) }),
        ...(subresource === "status" && { subresource }),
      });
      return [...values, ...scaleErrors(object, { scale, subresource })];
    },
    warnings: (object, old) => finalizerWarnings(object, old),
    ...(fields.length > 0 && { selectableFields: object => selected(object, fields) }),
  };
}

function selected(object: KubeObject, fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map(field => [field, textOf(valueAt(object, field))]));
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function valueAt(object: KubeObject, path: string): unknown {
  let at: unknown = object;
  for (const part of path.split(".")) at = isObject(at) ? at[part] : undefined;
  return at;
}

const replicasMax = 2 ** 31 - 1;

function scaleErrors(
  object: KubeObject,
  { scale, subresource }: { scale: ScalePaths | undefined; subresource: Subresource | undefined },
): FieldError[] {
  if (scale === undefined) return [];
  const errors = subresource === "status" ? [] : replicasErrors(object, scale.spec);
  errors.push(...replicasErrors(object, scale.status));
  const selector = scale.selector === undefined ? undefined : valueAt(object, scale.selector);
  if (selector !== undefined && typeof selector !== "string") {
    const why = `.${scale.selector} accessor error: ${goText(selector)} is of the type ${goType(selector)}, expected string`;
    errors.push(invalid(`.${scale.selector}`, "", why));
  }
  return errors;
}

function replicasErrors(object: KubeObject, path: string): FieldError[] {
  const at = `.${path}`;
  const accessorError = (value: unknown, wanted: string) => {
    return [
      invalid(at, 0, `${at} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${wanted}`),
    ];
  };
  const parent = valueAt(object, path.slice(0, path.lastIndexOf(".")));
  if (parent !== undefined && !isObject(parent)) return accessorError(parent, "map[string]interface{}");
  const value = valueAt(object, path) ?? 0;
  if (goType(value) !== "int64") return accessorError(value, "int64");
  const count = Number(value);
  if (count < 0) return [invalid(at, count, "should be a non-negative integer")];
  return count > replicasMax ? [invalid(at, count, `should be less than or equal to ${replicasMax}`)] : [];
}

function goType(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? "int64" : "float64";
  return Array.isArray(value) ? "[]interface {}" : isObject(value) ? "map[string]interface {}" : "string";
}

const standardFinalizers = ["orphan", "foregroundDeletion", "kubernetes"];

function finalizerWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const before = old?.metadata.finalizers ?? [];
  return (metadata.finalizers ?? [])
    .filter(name => !before.includes(name) && !name.includes("/") && !standardFinalizers.includes(name))
    .map(name => {
      const better = name.includes(".") ? "finalizer name including a path (/)" : "finalizer name";
      return `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified ${better} to avoid accidental conflicts with other finalizer writers`;
    });
}
