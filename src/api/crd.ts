// A kind's definition → the CustomResourceDefinition that a server installs. Nothing is added that the definition does
// not say, so that the schema we validate by and the one the server has are the same object.

import { stringify } from "yaml";
import type { KindDefinition } from "./kind-definition.ts";
import type { Schema } from "./schema/schema.ts";

export type CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "CustomResourceDefinition";
  metadata: { name: string };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: readonly string[];
      categories: readonly string[];
    };
    scope: "Cluster" | "Namespaced";
    /** None: all versions have one schema, so that only apiVersion changes. */
    conversion: { strategy: "None" };
    versions: readonly Version[];
  };
};

type Version = {
  name: string;
  served: boolean;
  storage: boolean;
  additionalPrinterColumns: readonly { name: string; type: string; jsonPath: string; priority?: number }[];
  selectableFields?: readonly { jsonPath: string }[];
  schema: { openAPIV3Schema: Schema };
  subresources?: { status?: Record<string, never>; scale?: { specReplicasPath: string; statusReplicasPath: string } };
};

export function crdName({ resource }: KindDefinition): string {
  return `${resource.plural}.${resource.group}`;
}

export function customResourceDefinition(definition: KindDefinition): CustomResourceDefinition {
  const { group, kind, plural, namespaced } = definition.resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: crdName(definition) },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular,
        ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
        categories: definition.categories,
      },
      scope: namespaced ? "Namespaced" : "Cluster",
      conversion: { strategy: "None" },
      versions: definition.versions.map((name, index) => version(definition, name, index === 0)),
    },
  };
}

function version(definition: KindDefinition, name: string, storage: boolean): Version {
  const { columns, selectableFields, schema, scale } = definition;
  const hasStatus = schema.properties?.["status"] !== undefined;
  return {
    name,
    served: true,
    storage,
    additionalPrinterColumns: columns,
    ...(selectableFields.length > 0 ? { selectableFields: selectableFields.map(jsonPath => ({ jsonPath })) } : {}),
    schema: { openAPIV3Schema: schema },
    ...(hasStatus ? { subresources: { status: {}, ...(scale ? { scale } : {}) } } : {}),
  };
}

/** For people and for `kubectl apply -f`: block style, no anchors, long sentences on one line. */
export function crdYaml(crd: CustomResourceDefinition): string {
  return stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" });
}
