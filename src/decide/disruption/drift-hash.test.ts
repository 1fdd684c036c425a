import { describe, expect, test } from "vitest";
import { aClassRef, aClaim, aPool } from "../../../test/builders.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { hashAnnotations, hashOf, templateHash } from "./drift-hash.ts";

type Template = NonNullable<NodePoolSpec["template"]>;

const taints = [
  { key: "a", effect: "NoSchedule" },
  { key: "b", value: "x", effect: "NoExecute" },
] as const;
const template: Template = {
  metadata: { labels: { team: "a" }, annotations: { note: "b" } },
  spec: { taints: [...taints], startupTaints: [taints[0]], terminationGracePeriod: "1h" },
};
const hash = (changed: Template = template, nodeClass = aClassRef) =>
  templateHash(aPool("web", { spec: { template: changed } }), nodeClass);
const withSpec = (spec: Template["spec"]): Template => ({ ...template, spec: { ...template.spec, ...spec } });

describe("another hash for whatever a node cannot follow", () => {
  test.each<[string, string]>([
    ["labels", hash({ ...template, metadata: { ...template.metadata, labels: { team: "b" } } })],
    ["annotations", hash({ ...template, metadata: { ...template.metadata, annotations: {} } })],
    ["taints", hash(withSpec({ taints: [taints[0]] }))],
    ["a taint's value", hash(withSpec({ taints: [taints[0], { ...taints[1], value: "y" }] }))],
    ["startup taints", hash(withSpec({ startupTaints: [] }))],
    ["the class", hash(template, { ...aClassRef, name: "other" })],
    ["expireAfter", hash(withSpec({ expireAfter: "1h" }))],
    ["terminationGracePeriod", hash(withSpec({ terminationGracePeriod: "2h" }))],
  ])("%s", (_, changed) => {
    expect(changed).not.toBe(hash());
  });
});

describe("the same hash for", () => {
  test.each<[string, string]>([
    ["the same", hash()],
    [
      "other requirements, which are judged by what they mean",
      hash(withSpec({ requirements: [{ key: "arch", operator: "Exists" }] })),
    ],
    ["another readinessTTL, which has done its work", hash(withSpec({ readinessTTL: "1h" }))],
    ["taints in another order", hash(withSpec({ taints: [...taints].reverse() }))],
    ["a default that is written out", hash(withSpec({ expireAfter: "720h" }))],
  ])("%s", (_, same) => {
    expect(same).toBe(hash());
  });

  test("a pool that is disrupted otherwise, or has another size", () => {
    const spec: NodePoolSpec = { template, replicas: 3, disruption: { budgets: [{ nodes: "0" }] } };
    expect(templateHash(aPool("web", { spec }), aClassRef)).toBe(hash());
  });
});

test("a claim shows the hash that it was made with, and none of another version", () => {
  const annotations = hashAnnotations(aPool("web"), aClassRef);
  expect(hashOf(aClaim("a", { annotations }))).toBe(templateHash(aPool("web"), aClassRef));
  expect(hashOf(aClaim("a", { annotations: { ...annotations, "karpenter.sh/nodepool-hash-version": "v3" } }))).toBe(
    undefined,
  );
  expect(hashOf(aClaim("a"))).toBe(undefined);
});
