// One HTTP request from its first byte to its answer: who asks, about what, in which form. Objects are the store's
// business; discovery, OpenAPI and health are answered here.

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { apiVersionOf } from "../../api/meta.ts";
import { ApiError } from "../../api/status.ts";
import type { ServedKind } from "../kind.ts";
import { badRequest, internalError, noSuchResource, verbNotAllowed } from "../refusal.ts";
import type { ApiRequest, ApiResponse, Verb } from "../request.ts";
import type { ServedKinds } from "../served-kinds.ts";
import { type Accepted, accepted, acceptsAggregatedDiscovery } from "./accept.ts";
import { parseObject, parsePatch, patchTypeOf, readBody } from "./body.ts";
import { aggregated, apiGroup, coreVersions, groupList, resourceList } from "./discovery.ts";
import { absent, absentSubresource } from "./not-served.ts";
import { openapiDocument, openapiPaths } from "./openapi.ts";
import { type ResourcePath, type Route, routeOf } from "./path.ts";
import { isWatch, requestOptions } from "./query.ts";
import { unauthorized } from "./refusal.ts";
import { respond, sendDocument, sendStatus, wantsPretty } from "./respond.ts";
import { EventLines } from "./watch-stream.ts";

export type Api = { handle(request: ApiRequest): ApiResponse; readonly kinds: ServedKinds };

export type DispatcherOptions = { api: Api; token: string; now: () => number };

/** What `kubectl version` shows: the release whose behaviour is followed, and that it is not that release. */
export const serverVersion = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.3+fettle",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

const aggregatedType = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

const plainJson: Accepted = { format: "json", shape: "object", pretty: false };

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #lines = new EventLines();
  /** Discovery and OpenAPI documents, until a kind comes or goes. */
  readonly #documents = new Map<string, unknown>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.api.kinds.onChange(() => this.#documents.clear());
  }

  /** Never throws: a refusal becomes its Status, and a fault of ours a 500 that names it. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { pathname, query } = partsOf(request.url ?? "/");
      const route = routeOf(pathname);
      if (route.kind !== "health" && route.kind !== "version") this.#authenticate(request);
      if (route.kind === "resource") await this.#resource(request, response, { path: route.path, query });
      else this.#document(request, response, { route, query });
    } catch (error) {
      refuse(response, error);
    }
  }

  #authenticate(request: IncomingMessage): void {
    const given = Buffer.from(request.headers.authorization ?? "");
    const wanted = Buffer.from(`Bearer ${this.#options.token}`);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw unauthorized();
  }

  async #resource(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: { path: ResourcePath; query: URLSearchParams },
  ): Promise<void> {
    const { api, now } = this.#options;
    const kind = api.kinds.find(path);
    if (kind === undefined) throw absent(path.group);
    const verb = verbOf(request.method ?? "GET", path, query);
    refuseName(path);
    const refused = absentSubresource(path.plural, path.subresource) ?? outOfScope(kind, path, verb);
    if (refused !== undefined) throw refused;

    const patchType = verb === "patch" ? patchTypeOf(request.headers["content-type"], kind.strategic) : undefined;
    const options = requestOptions(query, verb);
    const form = accepted(request.headers.accept);
    const pretty = form.pretty || wantsPretty(request, query);
    const body = await bodyOf(request, verb, kind);
    const asked: ApiRequest = { verb, ...path, options, ...body, ...(patchType && { patchType }) };
    const exchange = { response, query, accepted: { ...form, pretty }, kind, now, lines: this.#lines };
    respond(api.handle(asked), exchange);
  }

  #document(
    request: IncomingMessage,
    response: ServerResponse,
    { route, query }: { route: Exclude<Route, { kind: "resource" }>; query: URLSearchParams },
  ): void {
    if (route.kind === "health") return sendText(response, "ok");
    if (request.method !== "GET") throw verbNotAllowed();
    if (route.kind === "openapi-v2") return sendEmptyOpenapi(request, response);
    const version = acceptsAggregatedDiscovery(request.headers.accept);
    const key = JSON.stringify([route, version]);
    const document = this.#documents.get(key) ?? documentOf(route, this.#options.api.kinds, version);
    if (document === undefined) throw "group" in route ? absent(route.group) : noSuchResource();
    this.#documents.set(key, document);
    const isAggregated = version !== undefined && (route.kind === "groups" || route.kind === "core-versions");
    // The client must see in the answer which of the two forms it got.
    if (isAggregated) response.setHeader("Content-Type", aggregatedType(version));
    sendDocument(response, document, { ...plainJson, pretty: wantsPretty(request, query) });
  }
}

/** Not by way of a URL, which walks up at "..": what is asked of an object must not reach what it lies in. */
function partsOf(target: string): { pathname: string; query: URLSearchParams } {
  const end = target.indexOf("?");
  const pathname = end < 0 ? target : target.slice(0, end);
  return { pathname, query: new URLSearchParams(end < 0 ? "" : target.slice(end + 1)) };
}

function refuseName({ name = "" }: ResourcePath): void {
  const rule = name === "." || name === ".." ? `be '${name}'` : name.includes("%") ? "contain '%'" : undefined;
  if (rule !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not ${rule}`);
}

function documentOf(
  route: Exclude<Route, { kind: "resource" }>,
  kinds: ServedKinds,
  version: string | undefined,
): unknown {
  const all = [...kinds.all()];
  switch (route.kind) {
    case "core-versions":
      return version === undefined ? coreVersions("127.0.0.1") : aggregated(all, { core: true, version });
    case "groups":
      return version === undefined ? groupList(all) : aggregated(all, { core: false, version });
    case "group":
      return apiGroup(all, route.group);
    case "group-version":
      return resourceList(all, apiVersionOf(route));
    case "openapi":
      return openapiPaths(all);
    case "openapi-document":
      return openapiDocument(all, route);
    case "version":
      return serverVersion;
    case "health":
    case "openapi-v2":
    case "unknown":
      return undefined;
  }
}

function verbOf(method: string, { name, subresource }: ResourcePath, query: URLSearchParams): Verb {
  if (method === "GET") return name !== undefined ? "get" : isWatch(query) ? "watch" : "list";
  if (method === "POST" && (name === undefined || subresource !== undefined)) return "create";
  if (method === "PUT" && name !== undefined) return "update";
  if (method === "PATCH" && name !== undefined) return "patch";
  if (method === "DELETE" && subresource === undefined) return name === undefined ? "deletecollection" : "delete";
  throw verbNotAllowed();
}

/** Objects lie in a namespace or in none, as their kind says; across all namespaces one can only read. */
function outOfScope({ resource }: ServedKind, { namespace, name }: ResourcePath, verb: Verb): ApiError | undefined {
  if (resource.namespaced === (namespace !== undefined)) return undefined;
  if (!resource.namespaced || name !== undefined) return noSuchResource();
  return verb === "list" || verb === "watch" ? undefined : verbNotAllowed();
}

async function bodyOf(request: IncomingMessage, verb: Verb, kind: ServedKind): Promise<Pick<ApiRequest, "body">> {
  const contentType = request.headers["content-type"];
  switch (verb) {
    case "get":
    case "list":
    case "watch":
      return {};
    case "create":
    case "update":
      return { body: parseObject(await readBody(request), contentType, kind.resource.kind) };
    case "patch":
      return { body: parsePatch(await readBody(request)) };
    case "delete":
    case "deletecollection": {
      const bytes = await readBody(request);
      return bytes.length === 0 ? {} : { body: parseObject(bytes, contentType, "DeleteOptions") };
    }
  }
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(text);
}

// kubectl reads version 2 only for what it did not find in version 3, and then wants to be told that it is not there
// either: an empty document, which in protobuf is no bytes at all.
function sendEmptyOpenapi(request: IncomingMessage, response: ServerResponse): void {
  const asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  // The real server, too, answers with a dot: what is asked for is no media type by the letter.
  const contentType = asked.replace("@", ".");
  if (request.headers.accept?.includes(asked)) response.writeHead(200, { "Content-Type": contentType }).end();
  else sendDocument(response, { swagger: "2.0", info: { title: "Fettle", version: "v1" }, paths: {} }, plainJson);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error));
  sendStatus(response, refusal.status, plainJson);
}
