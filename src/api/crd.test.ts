import { expect, test } from "vitest";
import { parse } from "yaml";
import { crdYaml, customResourceDefinition } from "./crd.ts";
import { kinds } from "./kinds.ts";
import { nodeActions } from "./node-action.ts";
import { nodePools } from "./node-pool.ts";
import { replaceRemediationTemplates } from "./remediation.ts";

test("one version is stored, all are served, and all have one schema", () => {
  const { versions, conversion } = customResourceDefinition(nodePools).spec;
  expect(versions.map(({ name, served, storage }) => ({ name, served, storage }))).toEqual([
    { name: "v1", served: true, storage: true },
    { name: "v1beta1", served: true, storage: false },
  ]);
  expect(versions[0]?.schema).toEqual(versions[1]?.schema);
  expect(conversion).toEqual({ strategy: "None" });
});

test("a pool has status and scale, an action fields to select by, a template neither", () => {
  const [pool] = customResourceDefinition(nodePools).spec.versions;
  expect(pool?.subresources).toEqual({
    status: {},
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.nodes" },
  });
  const [action] = customResourceDefinition(nodeActions).spec.versions;
  expect(action?.selectableFields).toContainEqual({ jsonPath: ".status.phase" });
  const [template] = customResourceDefinition(replaceRemediationTemplates).spec.versions;
  expect(template).not.toHaveProperty("subresources");
});

test("the YAML means the same to readers of YAML 1.1 and 1.2", () => {
  const crd = customResourceDefinition(nodePools);
  const text = crdYaml(crd);
  for (const version of ["1.1", "1.2"] as const) expect(parse(text, { version })).toEqual(crd);
});

test.each(kinds)("the CRD of $resource.kind fits into the annotation that kubectl apply keeps", kind => {
  const annotationMax = 262_144;
  expect(JSON.stringify(customResourceDefinition(kind)).length).toBeLessThan(annotationMax);
});
