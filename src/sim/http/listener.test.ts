import { X509Certificate } from "node:crypto";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent, type Dispatcher, request } from "undici";
import { parse } from "yaml";
import type { KubeObject } from "../../api/meta.ts";
import type { ServedKind } from "../kind.ts";
import { printerColumns } from "../printer-columns.ts";
import type { ApiRequest, ApiResponse, Stored } from "../request.ts";
import { ServedKinds } from "../served-kinds.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { type Listening, listen } from "./listener.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const token = "let-me-in";

function aKind(kind: string, more: Partial<ServedKind> = {}): ServedKind {
  return {
    resource: { group: "example.dev", version: "v1", plural: `${kind.toLowerCase()}s`, kind, namespaced: false },
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    subresources: ["status"],
    schema: {
      type: "object",
      description: "A thing.",
      properties: { spec: { type: "object", description: "Wanted." } },
    },
    strategic: false,
    columns: printerColumns(undefined),
    rules: {},
    ...more,
  };
}

const thing: KubeObject = {
  apiVersion: "example.dev/v1",
  kind: "Thing",
  metadata: { name: "a", uid: "u", resourceVersion: "7", creationTimestamp: "2026-11-15T11:00:00Z" },
};
const stored = (object: KubeObject): Stored => ({ object, json: Buffer.from(JSON.stringify(object)) });
const object = (warnings: string[] = []): ApiResponse => ({
  kind: "object",
  code: 200,
  stored: stored(thing),
  warnings,
});

/** Answers what the test at hand says, and remembers what it was asked. */
const api = {
  kinds: new ServedKinds([
    aKind("Thing"),
    aKind("Pod", {
      resource: { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
      strategic: true,
    }),
  ]),
  asked: [] as ApiRequest[],
  answer: object(),
  handle(asked: ApiRequest): ApiResponse {
    this.asked.push(asked);
    return this.answer;
  },
};

let box: Listening;
let agent: Agent;

beforeAll(async () => {
  // Wall time: the TLS client judges the certificate by its own clock.
  box = await listen({ api, clock: { now: () => now }, now: Date.now(), token });
  agent = new Agent({ connect: { ca: box.ca } });
});
afterAll(async () => {
  await agent.close();
  await box.close();
});

type Ask = { method?: Dispatcher.HttpMethod; headers?: Record<string, string>; body?: string | Buffer };

async function ask(path: string, { method = "GET", headers = {}, body }: Ask = {}, answer: ApiResponse = object()) {
  api.asked = [];
  api.answer = answer;
  const response = await request(`${box.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: body ?? null,
    dispatcher: agent,
  });
  const text = await response.body.text();
  const { statusCode: code, headers: received } = response;
  return {
    code,
    headers: received,
    text,
    json: () => JSON.parse(text) as Record<string, unknown>,
    asked: api.asked[0],
  };
}

const things = "/apis/example.dev/v1/things";

describe("who may ask", () => {
  test.each(["", "Bearer wrong", "Bearer let-me-ix", "let-me-in"])("not %j: 401 with a Status", async authorization => {
    const { code, json, asked } = await ask(things, { headers: { authorization } });
    expect(code).toBe(401);
    expect(json()).toMatchObject({ kind: "Status", reason: "Unauthorized", code: 401 });
    expect(asked).toBeUndefined();
  });

  test("health and version are everybody's", async () => {
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      expect(await ask(path, { headers: { authorization: "" } })).toMatchObject({ code: 200, text: "ok" });
    }
    const { json } = await ask("/version", { headers: { authorization: "" } });
    expect(json()).toMatchObject({ major: "1", minor: "36" });
  });

  test("the certificate in the kubeconfig is the one that the server's is signed by", () => {
    const config = parse(kubeconfig(box)) as { clusters: { cluster: Record<string, string> }[]; users: unknown[] };
    const { cluster } = config.clusters[0]!;
    expect(cluster["server"]).toBe(box.url);
    expect(new X509Certificate(Buffer.from(cluster["certificate-authority-data"]!, "base64")).ca).toBe(true);
    expect(config.users).toEqual([{ name: "fettle", user: { token } }]);
  });
});

describe("what is asked of the store", () => {
  const json = { "content-type": "application/json" };

  test.each<[string, Ask, Partial<ApiRequest>]>([
    [things, {}, { verb: "list", plural: "things" }],
    [`${things}?watch=1`, {}, { verb: "list" }],
    [`${things}/a`, {}, { verb: "get", name: "a" }],
    [`${things}/a/status`, {}, { verb: "get", name: "a", subresource: "status" }],
    [`${things}?dryRun=All`, { method: "POST", headers: json, body: `{"a":1}` }, { verb: "create", body: { a: 1 } }],
    [`${things}/a`, { method: "PUT", headers: json, body: `{"a":1}` }, { verb: "update", body: { a: 1 } }],
    [
      `${things}/a`,
      { method: "PATCH", headers: { "content-type": "application/merge-patch+json" }, body: `{"a":1}` },
      { verb: "patch", patchType: "merge", body: { a: 1 } },
    ],
    [`${things}/a`, { method: "DELETE" }, { verb: "delete", name: "a" }],
    [
      `${things}/a`,
      { method: "DELETE", headers: json, body: `{"gracePeriodSeconds":0}` },
      { verb: "delete", body: { gracePeriodSeconds: 0 } },
    ],
    [things, { method: "DELETE" }, { verb: "deletecollection" }],
    ["/api/v1/namespaces/n/pods", { method: "DELETE" }, { verb: "deletecollection", namespace: "n" }],
    [
      "/api/v1/namespaces/n/pods/p/eviction",
      { method: "POST", headers: json, body: "{}" },
      { verb: "create", namespace: "n", name: "p", subresource: "eviction" },
    ],
    ["/api/v1/pods", {}, { verb: "list", plural: "pods" }],
  ])("%s %j", async (path, how, wanted) => {
    const expected = path.includes("watch=1") ? { ...wanted, verb: "watch" } : wanted;
    const { asked } = await ask(path, how);
    expect(asked).toMatchObject(expected);
  });

  test.each<[string, Ask, number]>([
    ["/apis/example.dev/v1/nothings", {}, 404],
    ["/apis/example.dev/v1/namespaces/n/things", {}, 404],
    ["/api/v1/pods/p", {}, 404],
    ["/api/v1/pods", { method: "POST", headers: json, body: "{}" }, 405],
    ["/api/v1/pods", { method: "DELETE" }, 405],
    [`${things}/a`, { method: "POST", headers: json, body: "{}" }, 405],
    [things, { method: "PUT", headers: json, body: "{}" }, 405],
    [things, { method: "OPTIONS" }, 405],
    ["/apis", { method: "POST" }, 405],
    ["/nonsense", {}, 404],
    [things, { headers: { accept: "text/html" } }, 406],
    [things, { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }, 415],
    [`${things}/a`, { method: "PATCH", headers: json, body: "{}" }, 415],
    [`${things}/a`, { method: "PATCH", headers: { "content-type": "application/apply-patch+yaml" }, body: "{}" }, 415],
    [things, { method: "POST", headers: json, body: "{" }, 400],
    [things, { method: "POST", headers: json, body: Buffer.from([0x22, 0xff, 0x22]) }, 400],
    [things, { method: "POST", headers: json, body: Buffer.alloc(10_000_000, "a") }, 413],
    [`${things}?limit=many`, {}, 400],
    ["/api/v1/namespaces/n/pods/p/log", {}, 501],
    ["/api/v1/namespaces/n/pods/p/exec", { method: "POST", headers: json, body: "{}" }, 501],
  ])("%s %o is refused before it gets there: %d", async (path, how, code) => {
    const { asked, ...answer } = await ask(path, how);
    expect(answer.code).toBe(code);
    expect(asked).toBeUndefined();
    expect(answer.json()).toMatchObject({ kind: "Status", status: "Failure", code });
  });

  test("HEAD is refused as the real server refuses it: 405 without a body", async () => {
    expect(await ask(things, { method: "HEAD" })).toMatchObject({ code: 405, text: "", asked: undefined });
  });

  test("a part of Kubernetes that is left out says so", async () => {
    const { code, json: status } = await ask("/apis/rbac.authorization.k8s.io/v1/clusterroles");
    expect(code).toBe(404);
    expect(status()["message"]).toMatch(/does not serve rbac\.authorization\.k8s\.io: .* may do everything/);
  });
});

describe("what comes back", () => {
  const list: ApiResponse = {
    kind: "list",
    items: [stored(thing), stored(thing)],
    resourceVersion: "9",
    continue: "c",
  };

  test("an object, its bytes as stored", async () => {
    const { headers, text } = await ask(`${things}/a`);
    expect(headers["content-type"]).toBe("application/json");
    expect(text).toBe(JSON.stringify(thing));
  });

  test("a list of custom objects repeats their type, one of built-in objects does not", async () => {
    const custom = await ask(things, {}, list);
    expect(custom.json()).toEqual({
      kind: "ThingList",
      apiVersion: "example.dev/v1",
      metadata: { resourceVersion: "9", continue: "c" },
      items: [thing, thing],
    });
    const { apiVersion: _, kind: __, ...rest } = thing;
    const pod = { apiVersion: "v1", kind: "Pod", ...rest };
    const reordered = { ...rest, kind: "Pod", apiVersion: "v1" };
    const items = [stored(pod), stored(reordered)];
    const builtIn = await ask("/api/v1/pods", {}, { ...list, items });
    expect(builtIn.json()["items"]).toEqual([rest, rest]);
  });

  test("YAML, or indented JSON, for those who ask", async () => {
    const yaml = await ask(`${things}/a`, { headers: { accept: "application/yaml" } });
    expect(yaml.headers["content-type"]).toBe("application/yaml");
    expect(parse(yaml.text)).toEqual(thing);
    const pretty = JSON.stringify(thing, undefined, 2);
    expect((await ask(`${things}/a?pretty=true`)).text).toBe(pretty);
    expect((await ask(`${things}/a`, { headers: { "user-agent": "curl/8.0" } })).text).toBe(pretty);
    expect((await ask(`${things}/a?pretty=0`, { headers: { "user-agent": "curl/8.0" } })).text).toBe(
      JSON.stringify(thing),
    );
  });

  test("a table, and the metadata alone", async () => {
    const as = (form: string) => ({ headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` } });
    expect((await ask(`${things}?includeObject=None`, as("Table"), list)).json()).toMatchObject({
      kind: "Table",
      metadata: { resourceVersion: "9", continue: "c" },
      rows: [{ cells: ["a", "60m"], object: null }, { cells: ["a", "60m"] }],
    });
    expect((await ask(`${things}/a`, as("Table"))).json()).toMatchObject({
      kind: "Table",
      metadata: { resourceVersion: "7" },
    });
    expect((await ask(`${things}/a`, as("PartialObjectMetadata"))).json()).toMatchObject({
      kind: "PartialObjectMetadata",
    });
    expect((await ask(things, as("PartialObjectMetadataList"), list)).json()).toMatchObject({ items: [{}, {}] });
    expect((await ask(things, as("PartialObjectMetadata"), list)).code).toBe(406);
  });

  test("warnings, one header field each, and when to come again", async () => {
    const { headers } = await ask(`${things}/a`, {}, object([`unknown field "spec.x"`, "second"]));
    expect(headers["warning"]).toEqual([`299 - "unknown field \\"spec.x\\""`, `299 - "second"`]);
    const busy = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 429 } as const;
    const refused = await ask(
      things,
      {},
      {
        kind: "status",
        code: 429,
        status: { ...busy, details: { retryAfterSeconds: 10 } },
        warnings: [],
      },
    );
    expect(refused.code).toBe(429);
    expect(refused.headers["retry-after"]).toBe("10");
  });

  test("a watch: lines until its end, also as tables", async () => {
    const watch: ApiResponse = {
      kind: "watch",
      start(sink) {
        sink.events([
          { type: "ADDED", stored: stored(thing) },
          { type: "DELETED", stored: stored(thing) },
        ]);
        sink.end(undefined);
        return () => {};
      },
    };
    const linesOf = (text: string) =>
      text
        .trim()
        .split("\n")
        .map(line => JSON.parse(line) as Record<string, unknown>);
    const plain = await ask(`${things}?watch=true`, {}, watch);
    expect(linesOf(plain.text)).toEqual([
      { type: "ADDED", object: thing },
      { type: "DELETED", object: thing },
    ]);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const tables = await ask(`${things}?watch=true`, { headers: { accept } }, watch);
    expect(linesOf(tables.text)).toMatchObject([
      { type: "ADDED", object: { kind: "Table", columnDefinitions: [{ name: "Name" }, { name: "Age" }] } },
      { type: "DELETED", object: { kind: "Table", columnDefinitions: null, rows: [{ cells: ["a", "60m"] }] } },
    ]);
  });

  test("a fault of ours is a 500 that names it, and the next request is answered", async () => {
    const broken = {
      get kind(): never {
        throw new Error("the store is on fire");
      },
    } as unknown as ApiResponse;
    const { code, json } = await ask(things, {}, broken);
    expect(code).toBe(500);
    expect(json()).toMatchObject({ reason: "InternalError", message: "Internal error occurred: the store is on fire" });
    expect((await ask(`${things}/a`)).code).toBe(200);
  });
});

describe("who does not play by the rules", () => {
  test("a body that is announced as too large is refused before it comes", async () => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": "3145729",
    };
    const code = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpsRequest(`${box.url}${things}`, { method: "POST", ca: box.ca, headers }, ({ statusCode }) => {
        resolve(statusCode);
        sent.destroy();
      });
      sent.once("error", reject);
      sent.flushHeaders();
    });
    expect(code).toBe(413);
  });

  test("plain HTTP gets a sentence", async () => {
    const socket = connect(box.port, "127.0.0.1").end("GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await text(socket)).toBe(
      "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
    );
  });
});

describe("documents", () => {
  test("discovery in both forms, told apart by the content type", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const aggregated = await ask("/apis", { headers: { accept } });
    expect(aggregated.headers["content-type"]).toBe(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    );
    expect(aggregated.json()).toMatchObject({
      kind: "APIGroupDiscoveryList",
      items: [{ metadata: { name: "example.dev" } }],
    });
    expect((await ask("/apis")).json()).toMatchObject({ kind: "APIGroupList", groups: [{ name: "example.dev" }] });
    expect((await ask("/apis/example.dev/v1")).json()).toMatchObject({ kind: "APIResourceList" });
    expect((await ask("/apis/example.dev/v9")).code).toBe(404);
    expect((await ask("/api")).json()).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
  });

  test("a kind that comes later is in them, under another hash", async () => {
    const pathOf = async () =>
      ((await ask("/openapi/v3")).json()["paths"] as Record<string, { serverRelativeURL: string }>)[
        "apis/example.dev/v1"
      ]!.serverRelativeURL;
    const before = await pathOf();
    expect(await pathOf()).toBe(before);
    api.kinds.replace("example.dev", "gizmos", [aKind("Gizmo")]);
    expect(await pathOf()).not.toBe(before);
    const { resources } = (await ask("/apis/example.dev/v1")).json() as { resources: { name: string }[] };
    expect(resources.map(({ name }) => name)).toContain("gizmos");
    api.kinds.replace("example.dev", "gizmos", []);
  });

  test("OpenAPI carries the schema for explain and the parameter that kubectl looks for", async () => {
    const { json } = await ask("/openapi/v3/apis/example.dev/v1");
    const document = json() as {
      paths: Record<string, { patch: { parameters: { name: string }[]; requestBody: { content: object } } }>;
      components: { schemas: Record<string, unknown> };
    };
    const { patch } = document.paths["/apis/example.dev/v1/things/{name}"]!;
    expect(patch.parameters.map(({ name }) => name)).toContain("fieldValidation");
    expect(patch.requestBody.content).not.toHaveProperty("application/strategic-merge-patch+json");
    expect(document.components.schemas["dev.example.v1.Thing"]).toMatchObject({
      description: "A thing.",
      properties: { spec: { description: "Wanted." }, metadata: { allOf: [{}] } },
      "x-kubernetes-group-version-kind": [{ group: "example.dev", version: "v1", kind: "Thing" }],
    });
  });

  test("the built-in kinds have their merge keys, by which kubectl apply computes its patches", async () => {
    const { json } = await ask("/openapi/v3/api/v1");
    const document = json() as { components: { schemas: Record<string, { properties: Record<string, unknown> }> } };
    const { schemas } = document.components;
    expect(schemas["io.k8s.api.core.v1.PodSpec"]?.properties["containers"]).toMatchObject({
      type: "array",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/#\/components\/schemas\/([^"]+)/g)) expect(schemas).toHaveProperty([name!]);
  });
});

test("closing ends watches that are open", async () => {
  const other = await listen({ api, clock: { now: () => now }, now: Date.now(), token });
  api.answer = { kind: "watch", start: () => () => {} };
  const dispatcher = new Agent({ connect: { ca: other.ca } });
  const { body } = await request(`${other.url}${things}?watch=1`, {
    headers: { authorization: `Bearer ${token}` },
    dispatcher,
  });
  const ended = body.text().then(
    () => "ended",
    () => "cut off",
  );
  await other.close();
  expect(await ended).toBe("cut off");
  await dispatcher.destroy();
});
