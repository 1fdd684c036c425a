import { expect, test } from "vitest";
import { type Route, routeOf } from "./path.ts";

const resource = (path: Extract<Route, { kind: "resource" }>["path"]): Route => ({ kind: "resource", path });
const core = { group: "", version: "v1" };
const karpenter = { group: "karpenter.sh", version: "v1" };

test.each<[string, Route]>([
  ["/api/v1/nodes", resource({ ...core, plural: "nodes" })],
  ["/api/v1/nodes/", resource({ ...core, plural: "nodes" })],
  ["/api/v1/nodes/a", resource({ ...core, plural: "nodes", name: "a" })],
  ["/api/v1/nodes/a/status", resource({ ...core, plural: "nodes", name: "a", subresource: "status" })],
  ["/api/v1/nodes/a/proxy/stats", resource({ ...core, plural: "nodes", name: "a", subresource: "proxy" })],
  ["/api/v1/namespaces", resource({ ...core, plural: "namespaces" })],
  ["/api/v1/namespaces/n", resource({ ...core, plural: "namespaces", name: "n" })],
  ["/api/v1/namespaces/n/status", resource({ ...core, plural: "namespaces", name: "n", subresource: "status" })],
  ["/api/v1/namespaces/n/finalize", resource({ ...core, plural: "namespaces", name: "n", subresource: "finalize" })],
  ["/api/v1/namespaces/n/pods", resource({ ...core, namespace: "n", plural: "pods" })],
  ["/api/v1/namespaces/n/pods/p", resource({ ...core, namespace: "n", plural: "pods", name: "p" })],
  [
    "/api/v1/namespaces/n/pods/p/eviction",
    resource({ ...core, namespace: "n", plural: "pods", name: "p", subresource: "eviction" }),
  ],
  ["/apis/karpenter.sh/v1/nodepools/a%2Eb", resource({ ...karpenter, plural: "nodepools", name: "a.b" })],
  [
    "/apis/karpenter.sh/v1/nodepools/a/scale",
    resource({ ...karpenter, plural: "nodepools", name: "a", subresource: "scale" }),
  ],
  ["/api", { kind: "core-versions" }],
  ["/api/v1", { kind: "group-version", ...core }],
  ["/apis", { kind: "groups" }],
  ["/apis/", { kind: "groups" }],
  ["/apis/karpenter.sh", { kind: "group", group: "karpenter.sh" }],
  ["/apis/karpenter.sh/v1", { kind: "group-version", ...karpenter }],
  ["/openapi/v3", { kind: "openapi" }],
  ["/openapi/v3/api/v1", { kind: "openapi-document", ...core }],
  ["/openapi/v3/apis/karpenter.sh/v1", { kind: "openapi-document", ...karpenter }],
  ["/openapi/v3/apis/karpenter.sh", { kind: "unknown" }],
  ["/openapi/v2", { kind: "openapi-v2" }],
  ["/version", { kind: "version" }],
  ["/healthz", { kind: "health" }],
  ["/livez/ping", { kind: "health" }],
  ["/readyz/etcd", { kind: "unknown" }],
  ["/", { kind: "unknown" }],
  ["/api/v1//pods", { kind: "unknown" }],
  ["/api/v1/nodes/%zz", { kind: "unknown" }],
])("%s", (path, route) => {
  expect(routeOf(path)).toEqual(route);
});
