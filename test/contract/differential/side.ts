// One server's part in a sequence: turns operations into requests with the versions and uids that this server gave,
// and remembers what it answers.

import { apiVersionOf, type Resource } from "../../../src/api/meta.ts";
import { endMarker, fullName, generateBase, type Names, sequenceLabel } from "./names.ts";
import type { Json, JsonObject, Operation, Query, Subject, UidChoice, VersionChoice } from "./operation.ts";
import type { Answer, HttpApi, Request, WatchLine, WatchReader } from "./server.ts";

export type Exchange = { request: Request; answer: Answer };
export type WatchRecord = { request: Request; refused?: Answer; lines?: readonly WatchLine[]; ended?: boolean };

const wrongUid = "00000000-0000-4000-8000-000000000000";
const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

type Open = { subject: Subject; request: Request; opened: Answer | WatchReader };

export class Side {
  readonly #api: HttpApi;
  readonly #names: Names;
  /** Every version seen of each object, oldest first, by subject and name. */
  readonly #seen = new Map<string, JsonObject[]>();
  readonly #watches: Open[] = [];
  #generatedCount = 0;
  #nextNumber = 9;
  #firstVersion = "";
  #lastVersion = "";

  constructor(api: HttpApi, names: Names) {
    this.#api = api;
    this.#names = names;
  }

  async begin(): Promise<void> {
    const { namespace } = this.#names;
    const metadata = { name: namespace, labels: { [sequenceLabel]: this.#names.prefix } };
    const body = { apiVersion: "v1", kind: "Namespace", metadata };
    const answer = await this.#api.send({ method: "POST", path: "/api/v1/namespaces", query: {}, body });
    if (answer.code !== 201) throw new Error(`no namespace for the sequence: ${JSON.stringify(answer.body)}`);
    this.#firstVersion = versionOf(answer.body) ?? "";
    this.#lastVersion = this.#firstVersion;
  }

  /** One exchange, or one for each page of a list. */
  async run(operation: Operation): Promise<Exchange[]> {
    if (operation.kind === "watch") {
      await this.#watch(operation);
      return [];
    }
    const request = this.#requestFor(operation);
    if (request.method === "GET" && "resourceVersion" in request.query) await this.#catchUp(operation.subject);
    if (operation.kind === "list") return this.#pages(request);
    const answer = await this.#api.send(request);
    this.#remember(operation, answer);
    return [{ request, answer }];
  }

  /** Ends every watch by an object that all of them select, and gives what they said. */
  async end(): Promise<WatchRecord[]> {
    for (const subject of new Set(this.#watches.map(watch => watch.subject))) {
      const body = this.#manifest(subject, {
        name: fullName(this.#names, endMarker),
        labels: { app: "x", tier: "gold" },
      });
      const marker = { ...subject.plain, ...body };
      const answer = await this.#api.send({
        method: "POST",
        path: this.#path(subject.resource),
        query: {},
        body: marker,
      });
      if (answer.code !== 201) throw new Error(`no end marker: ${JSON.stringify(answer.body)}`);
    }
    return Promise.all(this.#watches.map(async ({ request, opened }) => this.#read(request, opened)));
  }

  /** Objects in the namespace stay with it; the others would weigh on every later list. */
  async cleanUp(subjects: Iterable<Subject>): Promise<void> {
    for (const { resource } of new Set(subjects)) {
      if (resource.namespaced) continue;
      const path = this.#path(resource);
      const query = { labelSelector: `${sequenceLabel}=${this.#names.prefix}` };
      const found = await this.#api.send({ method: "GET", path, query });
      for (const item of ((found.body as JsonObject)["items"] ?? []) as JsonObject[]) {
        const one = `${path}/${metadataOf(item)["name"] as string}`;
        const body = { metadata: { finalizers: null } };
        await this.#api.send({ method: "PATCH", path: one, query: {}, type: patchTypes.merge, body });
        await this.#api.send({ method: "DELETE", path: one, query: { gracePeriodSeconds: "0" } });
      }
    }
  }

  async #read(request: Request, opened: Answer | WatchReader): Promise<WatchRecord> {
    if (!("readUntil" in opened)) return { request, refused: opened };
    const last = fullName(this.#names, endMarker);
    return { request, ...(await opened.readUntil(line => metadataOf(line.object)["name"] === last)) };
  }

  async #watch({ subject, query, from }: Extract<Operation, { kind: "watch" }>): Promise<void> {
    const path = this.#path(subject.resource);
    const asked: Query = { ...this.#scoped(subject, query) };
    if (from === "start") asked["resourceVersion"] = this.#firstVersion;
    else asked["resourceVersion"] = this.#lastVersion;
    if (from === "initial") {
      asked["sendInitialEvents"] = "true";
      asked["resourceVersionMatch"] = "NotOlderThan";
      asked["allowWatchBookmarks"] = "true";
    }
    const request: Request = { method: "GET", path, query: asked };
    await this.#catchUp(subject);
    this.#watches.push({ subject, request, opened: await this.#api.watch(request) });
  }

  // A real server answers who names a version, and takes any later one, from a cache that is some milliseconds behind.
  // A list that names none waits until that cache has all that was written.
  async #catchUp({ resource }: Subject): Promise<void> {
    const query = { labelSelector: `${sequenceLabel}=none` };
    await this.#api.send({ method: "GET", path: this.#path(resource), query });
  }

  #requestFor(operation: Exclude<Operation, { kind: "watch" }>): Request {
    const { subject, query } = operation;
    const collection = this.#path(subject.resource);
    const named = (name: string, subresource: string) =>
      `${collection}/${fullName(this.#names, name)}${subresource === "" ? "" : `/${subresource}`}`;
    switch (operation.kind) {
      case "create":
        return { method: "POST", path: collection, query, body: this.#created(operation) };
      case "update":
        return {
          method: "PUT",
          path: named(operation.name, operation.subresource),
          query,
          body: this.#updated(operation),
        };
      case "patch": {
        const { name, subresource, type, body } = operation;
        return {
          method: "PATCH",
          path: named(name, subresource),
          query,
          type: patchTypes[type],
          body: this.#filled(body),
        };
      }
      case "delete":
        return { method: "DELETE", path: named(operation.name, ""), query, body: this.#deleteOptions(operation) };
      case "delete-collection":
        return { method: "DELETE", path: collection, query: this.#scoped(subject, query), body: operation.options };
      case "get": {
        const version = this.#version(operation, operation.version);
        const asked = version === undefined ? query : { ...query, resourceVersion: version };
        return { method: "GET", path: named(operation.name, operation.subresource), query: asked };
      }
      case "list":
        return { method: "GET", path: collection, query: this.#listQuery(operation) };
      case "post":
        return {
          method: "POST",
          path: named(operation.name, operation.subresource),
          query,
          body: this.#filled({ ...operation.body, metadata: { name: fullName(this.#names, operation.name) } }),
        };
    }
  }

  #created({ subject, name, generate, body }: Extract<Operation, { kind: "create" }>): JsonObject {
    const own = generate
      ? { generateName: generateBase(this.#names, ++this.#generatedCount) }
      : { name: fullName(this.#names, name) };
    const metadata = { ...own, ...((body["metadata"] ?? {}) as JsonObject) };
    return this.#filled({ ...body, ...this.#manifest(subject, metadata), ...wrongly(body) }) as JsonObject;
  }

  #updated(operation: Extract<Operation, { kind: "update" }>): JsonObject {
    const { subject, name, change, version, uid, subresource } = operation;
    const latest = this.#seen.get(keyOf(subject, name, subresource))?.at(-1);
    const base = latest ?? { ...subject.plain, ...this.#manifest(subject, { name: fullName(this.#names, name) }) };
    const body = merged(structuredClone(base), this.#filled(change)) as JsonObject;
    const metadata = metadataOf(body);
    set(metadata, "resourceVersion", this.#version(operation, version));
    set(metadata, "uid", this.#uid(operation, uid));
    return body;
  }

  #deleteOptions(operation: Extract<Operation, { kind: "delete" }>): JsonObject {
    const preconditions: JsonObject = {};
    set(preconditions, "resourceVersion", this.#version(operation, operation.version));
    set(preconditions, "uid", this.#uid(operation, operation.uid));
    const options = { kind: "DeleteOptions", apiVersion: "v1", ...operation.options };
    return Object.keys(preconditions).length === 0 ? options : { ...options, preconditions };
  }

  #listQuery({ subject, query, version, exact }: Extract<Operation, { kind: "list" }>): Query {
    const asked: Query = { ...this.#scoped(subject, query) };
    const found = version === "latest" ? this.#lastVersion : version === "oldest" ? this.#firstVersion : undefined;
    if (version === "malformed") asked["resourceVersion"] = "yesterday";
    if (found === undefined) return asked;
    return { ...asked, resourceVersion: found, resourceVersionMatch: exact ? "Exact" : "NotOlderThan" };
  }

  async #pages(request: Request): Promise<Exchange[]> {
    const exchanges: Exchange[] = [];
    for (let next: Request | undefined = request; next !== undefined; ) {
      const answer: Answer = await this.#api.send(next);
      exchanges.push({ request: next, answer });
      const token = answer.code === 200 ? metadataOf(answer.body as JsonObject)["continue"] : undefined;
      // A page after the first carries its version in the token.
      const { resourceVersion: _version, resourceVersionMatch: _match, ...query } = next.query;
      next = typeof token === "string" && token !== "" ? { ...next, query: { ...query, continue: token } } : undefined;
    }
    return exchanges;
  }

  #remember(operation: Exclude<Operation, { kind: "watch" | "list" }>, { code, body }: Answer): void {
    const version = versionOf(body);
    if (code >= 300 || version === undefined || (body as JsonObject)["kind"] === "Status") return;
    if (operation.query["dryRun"] !== undefined || !("name" in operation)) return;
    const subresource = "subresource" in operation && operation.subresource === "scale" ? "scale" : "";
    const key = keyOf(operation.subject, operation.name, subresource);
    this.#seen.set(key, [...(this.#seen.get(key) ?? []), body as JsonObject]);
    if (operation.kind !== "get") this.#lastVersion = version;
  }

  #version({ subject, name }: { subject: Subject; name: string }, choice: VersionChoice): string | undefined {
    const seen = this.#seen.get(keyOf(subject, name, ""));
    if (choice === "malformed") return "yesterday";
    if (choice === "none" || seen === undefined) return undefined;
    return versionOf((choice === "latest" ? seen.at(-1) : seen[0]) ?? null);
  }

  #uid({ subject, name }: { subject: Subject; name: string }, choice: UidChoice): string | undefined {
    if (choice === "wrong") return wrongUid;
    const latest = choice === "right" ? this.#seen.get(keyOf(subject, name, ""))?.at(-1) : undefined;
    return latest && (metadataOf(latest)["uid"] as string | undefined);
  }

  #manifest({ resource }: Subject, metadata: JsonObject): JsonObject {
    const labels = { [sequenceLabel]: this.#names.prefix, ...((metadata["labels"] ?? {}) as JsonObject) };
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { ...metadata, labels } };
  }

  #path({ group, version, plural, namespaced }: Resource): string {
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    return namespaced ? `${root}/namespaces/${this.#names.namespace}/${plural}` : `${root}/${plural}`;
  }

  // Cluster-scoped kinds are shared with other sequences; the label keeps their objects apart.
  #scoped({ resource }: Subject, query: Query): Query {
    if (resource.namespaced) return this.#filled(query) as Query;
    const own = `${sequenceLabel}=${this.#names.prefix}`;
    const { labelSelector } = query;
    return this.#filled({ ...query, labelSelector: labelSelector ? `${own},${labelSelector}` : own }) as Query;
  }

  /** "@next" is a number that was not used before; @a stands for the full name of object "a", @uid:a for its uid (of any subject), @ns for the namespace. */
  #filled(value: Json): Json {
    const numbered = JSON.stringify(value).replaceAll('"@next"', () => String(++this.#nextNumber));
    const text = numbered.replaceAll(/@(uid:)?(ns|[a-c])\b/g, (_, uid: string | undefined, name: string) => {
      if (name === "ns") return this.#names.namespace;
      return uid === undefined ? fullName(this.#names, name) : this.#anyUid(name);
    });
    return JSON.parse(text) as Json;
  }

  #anyUid(name: string): string {
    for (const [key, seen] of this.#seen) {
      if (key.endsWith(`/${name}/`)) return (metadataOf(seen.at(-1) ?? {})["uid"] as string | undefined) ?? wrongUid;
    }
    return wrongUid;
  }
}

const keyOf = ({ resource }: Subject, name: string, subresource: string) => `${resource.plural}/${name}/${subresource}`;

// What a body says of its own kind or version wins: that is how a wrong one is sent.
function wrongly(body: JsonObject): JsonObject {
  return Object.fromEntries(
    ["apiVersion", "kind"].flatMap(field => (field in body ? [[field, body[field] as Json]] : [])),
  );
}

export function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) ? metadata : {};
}

function versionOf(body: Json): string | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  return metadataOf(body)["resourceVersion"] as string | undefined;
}

function set(target: JsonObject, field: string, value: string | undefined): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

/** RFC 7386, in place. */
export function merged(target: Json, change: Json): Json {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const result: JsonObject = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete result[field];
    else result[field] = merged(result[field] ?? null, value);
  }
  return result;
}
