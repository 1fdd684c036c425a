// Requests that no sequence would make: wrong methods, bodies, types and parameters. The box refuses them with the
// code of a real server and, but where a row says otherwise, in its words.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isUnavailable } from "../control-plane/binaries.ts";
import { sharedControlPlane } from "../control-plane/shared.ts";
import type { Running } from "./backends.ts";
import { startServers } from "./differential/compare-many.ts";
import { Normaliser } from "./differential/normalise.ts";
import type { Json } from "./differential/operation.ts";
import type { Servers } from "./differential/run.ts";
import type { HttpApi, Request } from "./differential/server.ts";

type Row = readonly [what: string, request: Partial<Request> & { path: string }, more?: { onlyCode: string }];

const namespace = "protocol";
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const pools = "/apis/karpenter.sh/v1/nodepools";
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } };
const ownSentence = { onlyCode: "the box says in its own words what it does not serve" };
const ownTypes = { onlyCode: "the real server names the types that it takes, or Go's" };
const ownToken = { onlyCode: "tokens are each server's own" };
const ownParser = { onlyCode: "the sentence is the JSON parser's" };

const rows: readonly Row[] = [
  ["POST to an object", { method: "POST", path: `${maps}/a`, body: map }],
  ["PUT to a collection", { method: "PUT", path: maps, body: map }],
  ["PATCH of a collection", { method: "PATCH", path: maps, type: "application/merge-patch+json", body: {} }],
  ["DELETE of a collection in all namespaces", { method: "DELETE", path: "/api/v1/configmaps" }],
  ["DELETE of all namespaces", { method: "DELETE", path: "/api/v1/namespaces" }],
  ["an unknown resource", { path: "/api/v1/nonsense" }],
  ["an unknown group", { path: "/apis/nonsense.dev/v1/things" }, ownSentence],
  ["the way up from an object", { path: `${maps}/..` }],
  ["the way up, deletion", { method: "DELETE", path: `${maps}/%2e%2e`, query: { dryRun: "All" } }],
  ["a name with a percent sign", { path: `${maps}/a%25b` }],
  ["an object of two names", { path: `${maps}/a%2Fb` }],
  [
    "keys that every object of a JavaScript has",
    {
      method: "POST",
      path: maps,
      query: { dryRun: "All" },
      body: { ...map, data: { constructor: "a", toString: "b" } },
    },
  ],
  ["a subresource that the kind does not have", { path: `${maps}/a/status` }],
  ["an unknown subresource of a custom object", { path: `${pools}/a/nonsense` }],
  ["a body that is no JSON", { method: "POST", path: maps, text: "{" }, ownParser],
  ["no body", { method: "POST", path: maps, text: "" }, ownParser],
  ["a body that is a list", { method: "POST", path: maps, body: [] }, ownParser],
  ["a body of an unknown type", { method: "POST", path: maps, type: "text/plain", body: map }, ownSentence],
  ["a patch of no known type", { method: "PATCH", path: `${maps}/a`, type: "application/json", body: {} }, ownTypes],
  [
    "a merge patch that is a list",
    { method: "PATCH", path: `${maps}/a`, type: "application/merge-patch+json", body: [] },
  ],
  [
    "a JSON patch that is an object",
    { method: "PATCH", path: `${maps}/a`, type: "application/json-patch+json", body: {} },
  ],
  [
    "a strategic patch that is a list",
    { method: "PATCH", path: `${maps}/a`, type: "application/strategic-merge-patch+json", body: [] },
  ],
  ["an answer that cannot be given", { path: maps, accept: "text/html" }, ownSentence],
  ["a list as old as possible", { path: maps, query: { resourceVersion: "0" } }],
  ["events by what they are about", { path: events, query: { fieldSelector: "regarding.kind=Node,reason!=Told" } }],
  ["events by a name of the other group", { path: events, query: { fieldSelector: "involvedObject.kind=Node" } }],
  ["a list without a limit", { path: maps, query: { limit: "0" } }],
  ["a limit beyond all numbers", { path: maps, query: { limit: "9223372036854775808" } }],
  ["a list at a version that is no number", { path: maps, query: { resourceVersion: "abc" } }],
  ["a list of the future", { path: maps, query: { resourceVersion: "999999999" } }],
  ["an object of the future", { path: `${maps}/a`, query: { resourceVersion: "999999999" } }],
  ["a match without a version", { path: maps, query: { resourceVersionMatch: "Exact" } }],
  ["an exact match of any version", { path: maps, query: { resourceVersion: "0", resourceVersionMatch: "Exact" } }],
  ["an unknown match", { path: maps, query: { resourceVersion: "1", resourceVersionMatch: "Nearly" } }],
  ["initial events of a list", { path: maps, query: { sendInitialEvents: "true" } }],
  ["initial events without a match", { path: maps, query: { watch: "1", sendInitialEvents: "true" } }],
  [
    "a match of a watch",
    { path: maps, query: { watch: "1", resourceVersion: "1", resourceVersionMatch: "NotOlderThan" } },
  ],
  ["a watch from a version that is no number", { path: maps, query: { watch: "1", resourceVersion: "abc" } }],
  ["a page that nobody handed out", { path: maps, query: { continue: "garbage" } }, ownToken],
  ["a page at a version", { path: maps, query: { continue: "garbage", resourceVersion: "5" } }, ownToken],
  ["a number that is none", { path: maps, query: { timeoutSeconds: "soon", watch: "1" } }],
  [
    "an object in a namespace that is not there",
    { method: "POST", path: "/api/v1/namespaces/absent/configmaps", body: map },
  ],
  [
    "an object in a namespace that is going",
    { method: "POST", path: "/api/v1/namespaces/going/configmaps", body: map },
  ],
  [
    "deletion with other options",
    { method: "DELETE", path: `${maps}/a`, body: { kind: "Pod", apiVersion: "v1" } },
    ownTypes,
  ],
  [
    "an unknown field of DeleteOptions",
    { method: "DELETE", path: `${maps}/absent`, body: { kind: "DeleteOptions", apiVersion: "v1", no: 1 } },
  ],
  [
    "an eviction of somebody else",
    {
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/pods/a/eviction`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "b" } },
    },
  ],
  [
    "an eviction in another namespace",
    {
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/pods/a/eviction`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: "going" } },
    },
  ],
  [
    "a binding in another namespace",
    {
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/pods/a/binding`,
      body: {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "a", namespace: "going" },
        target: { kind: "Node", name: "n" },
      },
    },
  ],
];

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("the box answers as a real server", () => {
  let servers: Running<Servers>;

  beforeAll(async () => {
    servers = await startServers(await sharedControlPlane());
    await Promise.all([prepare(servers.real), prepare(servers.box)]);
  });
  afterAll(() => servers?.close());

  test.each(rows.map(([what, asked, more]) => ({ what, asked, more })))("$what", async ({ asked, more }) => {
    const request: Request = { method: "GET", query: {}, ...asked };
    const [real, box] = await Promise.all([said(servers.real, request), said(servers.box, request)]);
    expect(codeOf(box)).toBe(codeOf(real));
    if (more === undefined) expect(box).toEqual(real);
  });
});

async function prepare(api: HttpApi): Promise<void> {
  const create = (path: string, body: Json) => api.send({ method: "POST", path, query: {}, body });
  for (const name of [namespace, "going"]) {
    await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await create(maps, { ...map, metadata: { name: "a" } });
  // There is no controller-manager, so it stays as it is.
  await api.send({ method: "DELETE", path: "/api/v1/namespaces/going", query: {} });
  // A list as old as possible comes from a cache; this one waits until the cache has what was written.
  await api.send({ method: "GET", path: maps, query: {} });
}

async function said(api: HttpApi, request: Request): Promise<Json> {
  const answer = await api.send(request);
  return new Normaliser({ prefix: namespace, namespace }).exchange({ request, answer });
}

const codeOf = (answer: Json) => (answer as { code: number }).code;
