import { describe, expect, test } from "vitest";
import type { ServedKind } from "../kind.ts";
import { aggregated, apiGroup, byStability, groupList, resourceList } from "./discovery.ts";

function aKind(group: string, version: string, kind: string, more: Partial<ServedKind> = {}): ServedKind {
  return {
    resource: { group, version, plural: `${kind.toLowerCase()}s`, kind, namespaced: false },
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    subresources: [],
    schema: {},
    strategic: false,
    columns: [],
    rules: {},
    ...more,
  };
}

const kinds = [
  aKind("", "v1", "Pod", { subresources: ["status", "eviction", "binding"], shortNames: ["po"], strategic: true }),
  aKind("", "v1", "Node"),
  aKind("karpenter.sh", "v1beta1", "NodePool"),
  aKind("karpenter.sh", "v1", "NodePool", { subresources: ["status", "scale"], categories: ["karpenter"] }),
  aKind("fettle.dev", "v1alpha1", "NodeAction"),
  aKind("policy", "v1", "PodDisruptionBudget"),
  aKind("apps", "v1", "Deployment"),
];

test("built-in groups come in the server's order, custom ones after them by name", () => {
  const groups = groupList(kinds)["groups"] as { name: string }[];
  expect(groups.map(group => group.name)).toEqual(["apps", "policy", "fettle.dev", "karpenter.sh"]);
});

test("a group prefers its most stable version", () => {
  expect(apiGroup(kinds, "karpenter.sh")).toEqual({
    kind: "APIGroup",
    apiVersion: "v1",
    name: "karpenter.sh",
    versions: [
      { groupVersion: "karpenter.sh/v1", version: "v1" },
      { groupVersion: "karpenter.sh/v1beta1", version: "v1beta1" },
    ],
    preferredVersion: { groupVersion: "karpenter.sh/v1", version: "v1" },
  });
  expect(apiGroup(kinds, "nowhere.dev")).toBeUndefined();
});

test("versions are ordered as Kubernetes orders them", () => {
  const versions = ["foo10", "v1alpha1", "v2", "v1beta2", "v10", "v1", "v3beta1", "foo1", "v12alpha1", "v11beta2"];
  expect(versions.sort(byStability)).toEqual([
    "v10",
    "v2",
    "v1",
    "v11beta2",
    "v3beta1",
    "v1beta2",
    "v12alpha1",
    "v1alpha1",
    "foo1",
    "foo10",
  ]);
});

describe("the resources of a version", () => {
  const resources = resourceList(kinds, "v1")?.["resources"] as { name: string; [field: string]: unknown }[];

  test("come by name, each with its subresources", () => {
    expect(resources.map(resource => resource.name)).toEqual([
      "nodes",
      "pods",
      "pods/status",
      "pods/eviction",
      "pods/binding",
    ]);
  });

  test("an eviction is of the group policy: that is how kubectl drain finds it", () => {
    expect(resources.find(resource => resource.name === "pods/eviction")).toMatchObject({
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
  });

  test("a version without kinds does not exist", () => {
    expect(resourceList(kinds, "v2")).toBeUndefined();
  });
});

test("the aggregated form says the same in one document", () => {
  const { items } = aggregated(kinds, { core: false, version: "v2" }) as {
    items: { metadata: { name: string }; versions: { version: string; resources: unknown[] }[] }[];
  };
  const karpenter = items.find(item => item.metadata.name === "karpenter.sh");
  expect(karpenter?.versions.map(({ version }) => version)).toEqual(["v1", "v1beta1"]);
  expect(karpenter?.versions[0]?.resources).toEqual([
    {
      resource: "nodepools",
      responseKind: { group: "karpenter.sh", version: "v1", kind: "NodePool" },
      scope: "Cluster",
      singularResource: "nodepool",
      verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
      categories: ["karpenter"],
      subresources: [
        {
          subresource: "status",
          responseKind: { group: "karpenter.sh", version: "v1", kind: "NodePool" },
          verbs: ["get", "patch", "update"],
        },
        {
          subresource: "scale",
          responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
          verbs: ["get", "patch", "update"],
        },
      ],
    },
  ]);
});
