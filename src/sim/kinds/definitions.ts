// The shapes of the built-in kinds as a real API server publishes them (definitions.json, made by
// test/control-plane/builtin-definitions.ts), and the Schema that the embedded server prunes by. It never judges values.

import type { Schema } from "../../api/schema/schema.ts";
import published from "./definitions.json" with { type: "json" };

/** OpenAPI with three facts more that only the server's Go types know. */
export type Definition = Omit<Schema, "properties" | "items" | "additionalProperties"> & {
  $ref?: string;
  properties?: Readonly<Record<string, Definition>>;
  items?: Definition;
  additionalProperties?: Definition;
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  /** Optional scalars that keep a zero value when one is written. */
  pointers?: readonly string[];
  /** Fields that are written as null when they are empty. */
  null?: readonly string[];
  /** Names of scalar types, as decoding errors spell them. */
  typeNames?: Readonly<Record<string, string>>;
};

/** All definitions by their OpenAPI name, with `$ref` holding such a name: also what /openapi/v3 is made from. */
export const definitions: Readonly<Record<string, Definition>> = published as Record<string, Definition>;

export function definitionOf(name: string): Definition {
  const definition = definitions[name];
  if (definition === undefined) throw new Error(`No definition ${name}: add it to builtin-definitions.ts.`);
  return definition;
}

const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
const schemaProps = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/** Shapes that OpenAPI leaves open, or that CustomResourceDefinitions have a keyword for. */
const wellKnown: Readonly<Record<string, Schema>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { "x-kubernetes-int-or-string": true },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { "x-kubernetes-int-or-string": true },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": { type: "object", ...anything },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": anything,
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": anything,
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": anything,
};

const orBool = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool";

const resolved = new Map<string, Schema>();

/**
 * The definition with its references followed. Properties are resolved when first read, and each definition once:
 * the schema of schemas contains itself.
 */
export function schemaOf(name: string): Schema {
  let schema = resolved.get(name);
  if (schema === undefined) {
    schema = name === orBool ? schemaOf(schemaProps) : (wellKnown[name] ?? resolve(definitionOf(name)));
    resolved.set(name, schema);
  }
  return schema;
}

function resolve(definition: Definition): Schema {
  const { $ref, properties, items, additionalProperties, null: nulls, ...rest } = definition;
  const { pointers: _, typeNames: __, ...own } = rest;
  if ($ref !== undefined) {
    // Copied with its getters, so that the properties behind them stay unread.
    return Object.defineProperties({ ...own }, Object.getOwnPropertyDescriptors(schemaOf($ref)));
  }
  const schema: Schema = { ...own };
  if (items) defineLazily(schema, "items", () => resolve(items));
  if (additionalProperties) defineLazily(schema, "additionalProperties", () => resolve(additionalProperties));
  if (properties) {
    defineLazily(schema, "properties", () =>
      Object.fromEntries(
        Object.entries(properties).map(([name, property]) => {
          return [name, nulls?.includes(name) ? { ...resolve(property), nullable: true } : resolve(property)];
        }),
      ),
    );
  }
  return schema;
}

function defineLazily(target: object, key: string, make: () => object): void {
  let made: object | undefined;
  Object.defineProperty(target, key, { enumerable: true, configurable: true, get: () => (made ??= make()) });
}
