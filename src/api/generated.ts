// Every file of the repository that is made from the definitions, as text by path. scripts/generate.ts writes them, and
// a test fails when the repository's copy differs.

import { crdName, crdYaml, customResourceDefinition } from "./crd.ts";
import { kinds } from "./kinds.ts";
import { pageName, referenceIndex, referencePage } from "./reference.ts";

export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...kinds.map(kind => [`deploy/crds/${crdName(kind)}.yaml`, crdYaml(customResourceDefinition(kind))] as const),
    ...kinds.map(kind => [`docs/api/${pageName(kind)}`, referencePage(kind)] as const),
    ["docs/api/README.md", referenceIndex(kinds)] as const,
  ]);
}
