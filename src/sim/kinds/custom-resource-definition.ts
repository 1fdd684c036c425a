// CustomResourceDefinition: its shape and columns. What it means, and what in it is refused, is crd.ts' matter.

import { age } from "../age.ts";
import { builtIn } from "./built-in.ts";
import { nameColumn } from "./column.ts";

export const customResourceDefinition = builtIn({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
  definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  subresources: ["status"],
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    {
      name: "Created At",
      type: "date",
      description: "When the object was created.",
      priority: 0,
      cell: (object, now) => object.metadata.creationTimestamp ?? age(undefined, now),
    },
  ],
});
