// The definition of a kind that a test serves beside ours.

import type { Manifest, Resource } from "../src/api/meta.ts";

/** Its objects may say anything, unless a schema says what. */
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

export function definitionOf(
  { group, version, plural, kind, namespaced }: Resource,
  openAPIV3Schema: object = anything,
): Manifest & { metadata: { name: string } } {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        { name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
      ],
    },
  };
}
