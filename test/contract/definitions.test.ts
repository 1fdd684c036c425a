// CustomResourceDefinitions that change while there are objects: both servers read, judge and write these alike.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isUnavailable } from "../control-plane/binaries.ts";
import { sharedControlPlane } from "../control-plane/shared.ts";
import type { Running } from "./backends.ts";
import { startServers } from "./differential/compare-many.ts";
import { Normaliser } from "./differential/normalise.ts";
import type { Json, JsonObject } from "./differential/operation.ts";
import type { Servers } from "./differential/run.ts";
import type { HttpApi, Request } from "./differential/server.ts";

const namespace = "definitions";
const group = "definitions.test.dev";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = (version: string, name = "") =>
  `/apis/${group}/${version}/namespaces/${namespace}/things${name === "" ? "" : `/${name}`}`;

const text = { type: "string" };
const version = (name: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
  ...more,
});
const first = { a: text, b: text, kind: { type: "string", default: "one" } };
/** Seen when an object is read, so that a change which nothing else shows is waited for as well. */
const told = { told: { type: "string", default: "yes" } };
const second = { b: text, c: text, kind: { type: "string", default: "two" } };

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [version("v1", first), version("v2", second)],
  },
};
const thing = (apiVersion: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: `${group}/${apiVersion}`,
  kind: "Thing",
  metadata: { name },
  spec,
});
const patch = (path: string, body: Json): Partial<Request> & { path: string } => ({
  method: "PATCH",
  type: "application/merge-patch+json",
  path,
  body,
});
const change = (...versions: JsonObject[]) =>
  patch(`${definitions}/${definition.metadata.name}`, { spec: { versions } });

type Step = readonly [what: string, request: Partial<Request> & { path: string }];

const everywhere: Step[] = ["v1", "v2"].flatMap(name => [
  ...["a", "b"].map((object): Step => [`${object} in ${name}`, { path: things(name, object) }]),
  [`all in ${name}`, { path: things(name) }] as const,
]);

/** One life, step by step: what is read is asked again until the real server has learnt of the change before. */
const life: readonly Step[] = [
  ["two versions that know different fields", { method: "POST", path: definitions, body: definition }],
  ["nothing there yet", { path: things("v1") }],
  ["nor in the other", { path: things("v2") }],
  ["one in v1", { method: "POST", path: things("v1"), body: thing("v1", "a", { a: "1", b: "2", c: "3" }) }],
  ["one in v2", { method: "POST", path: things("v2"), body: thing("v2", "b", { a: "1", b: "2", c: "3" }) }],
  ...everywhere,
  ["a field that is not stored", patch(things("v2", "b"), { spec: { c: "9" } })],
  ["a field that both know", patch(things("v2", "a"), { spec: { b: "9" } })],
  ...everywhere,
  [
    "the other is stored from now on",
    change(version("v1", { ...first, ...told }, { storage: false }), version("v2", second, { storage: true })),
  ],
  ...everywhere,
  ["nothing changed, and yet written anew", patch(things("v1", "a"), {})],
  ["nothing changed at all", patch(things("v1", "a"), {})],
  ...everywhere,
  [
    "a narrower schema, with another default",
    change(
      version("v1", first, { storage: false }),
      version("v2", { b: { ...text, maxLength: 0 }, e: { type: "integer", default: 5 } }, { storage: true }),
    ),
  ],
  ...everywhere,
  ["what is invalid by now may be labelled", patch(things("v2", "b"), { metadata: { labels: { x: "y" } } })],
  ["what changes must be valid", patch(things("v2", "b"), { spec: { b: "still too long" } })],
  ["and may become so", patch(things("v2", "b"), { spec: { b: null } })],
  ["no version is stored", change()],
  [
    "stored versions are never none",
    patch(`${definitions}/${definition.metadata.name}/status`, { status: { storedVersions: [] } }),
  ],
  ["one that stays", patch(things("v2", "a"), { metadata: { finalizers: ["test.fettle.dev/hold"] } })],
  ["the definition goes", { method: "DELETE", path: `${definitions}/${definition.metadata.name}` }],
  ["it says that it waits", { path: `${definitions}/${definition.metadata.name}` }],
  ["nothing new meanwhile", { method: "POST", path: things("v2"), body: thing("v2", "c", {}) }],
  ["what is there goes with it", { path: things("v2", "a") }],
  ["the last one is let go", patch(things("v2", "a"), { metadata: { finalizers: null } })],
];

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("a definition that changes", () => {
  let servers: Running<Servers>;
  const real = new Normaliser({ prefix: namespace, namespace });
  const box = new Normaliser({ prefix: namespace, namespace });

  beforeAll(async () => {
    servers = await startServers(await sharedControlPlane());
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    for (const api of [servers.real, servers.box])
      await api.send({ method: "POST", path: "/api/v1/namespaces", query: {}, body });
  });
  afterAll(() => servers?.close());

  test.each(life.map(([what, asked]) => ({ what, asked })))(
    "$what",
    async ({ asked }) => {
      const request: Request = { method: "GET", query: {}, ...asked };
      const both = () => Promise.all([said(servers.real, request, real), said(servers.box, request, box)]);
      const compare = async () => {
        const [theirs, ours] = await both();
        expect(ours).toEqual(theirs);
      };
      await (request.method === "GET" ? vi.waitFor(compare, { timeout: 60_000, interval: 100 }) : compare());
    },
    70_000,
  );
});

async function said(api: HttpApi, request: Request, normaliser: Normaliser): Promise<Json> {
  return normaliser.exchange({ request, answer: await api.send(request) });
}
