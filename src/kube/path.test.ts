import { describe, expect, test } from "vitest";
import type { Resource } from "../api/meta.ts";
import { collectionPath, objectPath, withQuery } from "./path.ts";

const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const pools: Resource = {
  group: "karpenter.sh",
  version: "v1",
  plural: "nodepools",
  kind: "NodePool",
  namespaced: false,
};

describe("where things are served", () => {
  test.each([
    ["the core group", collectionPath(pods, undefined), "/api/v1/pods"],
    ["one namespace", collectionPath(pods, "web"), "/api/v1/namespaces/web/pods"],
    ["a named group", collectionPath(pools, undefined), "/apis/karpenter.sh/v1/nodepools"],
    ["a cluster-scoped kind, whatever the namespace", collectionPath(pools, "web"), "/apis/karpenter.sh/v1/nodepools"],
    ["one object", objectPath(pods, { namespace: "web", name: "a" }), "/api/v1/namespaces/web/pods/a"],
    [
      "its subresource",
      objectPath(pods, { namespace: "web", name: "a" }, "eviction"),
      "/api/v1/namespaces/web/pods/a/eviction",
    ],
    ["a name with a colon", objectPath(pools, { name: "a:b" }), "/apis/karpenter.sh/v1/nodepools/a%3Ab"],
    ["a name with a slash", objectPath(pools, { name: "a/b?c" }), "/apis/karpenter.sh/v1/nodepools/a%2Fb%3Fc"],
  ])("%s", (_, path, expected) => expect(path).toBe(expected));
});

describe("a path that would mean something else is refused", () => {
  test.each(["", ".", ".."])("name %j", name => {
    expect(() => objectPath(pools, { name })).toThrow(`"${name}" is not a name in a request path.`);
  });

  test("an object of a namespaced kind without a namespace", () => {
    expect(() => objectPath(pods, { name: "a" })).toThrow("Pod is namespaced: say in which namespace.");
  });

  test("an empty namespace", () => {
    expect(() => collectionPath(pods, "")).toThrow("not a name");
  });
});

test("only what is given goes into the query, encoded", () => {
  expect(withQuery("/x", { labelSelector: "a=b,c in (d)", limit: 500, continue: undefined, watch: true })).toBe(
    "/x?labelSelector=a%3Db%2Cc%20in%20(d)&limit=500&watch=true",
  );
  expect(withQuery("/x", { limit: undefined })).toBe("/x");
});
