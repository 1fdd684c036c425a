// From an answer to bytes: objects, lists, tables, statuses and watches, in the form that the client accepts.

import type { IncomingMessage, ServerResponse } from "node:http";
import { stringify } from "yaml";
import { apiVersionOf } from "../../api/meta.ts";
import type { Status } from "../../api/status.ts";
import type { ServedKind } from "../kind.ts";
import type { ApiResponse, Stored } from "../request.ts";
import type { Accepted } from "./accept.ts";
import { notAcceptable } from "./refusal.ts";
import { boolean } from "./query.ts";
import { includeObject, type ListMeta, partial, partialList, table, watchTable } from "./table.ts";
import { type EventLines, eventLine, streamWatch } from "./watch-stream.ts";

/** One request, once it is known to be about objects of a kind. */
export type Exchange = {
  response: ServerResponse;
  query: URLSearchParams;
  accepted: Accepted;
  kind: ServedKind;
  /** For the ages in tables. */
  now: () => number;
  lines: EventLines;
};

export function respond(answer: ApiResponse, exchange: Exchange): void {
  const { response, accepted } = exchange;
  switch (answer.kind) {
    case "object":
      setWarnings(response, answer.warnings);
      return sendObject(answer.code, answer.stored, exchange);
    case "list":
      return sendList(answer, exchange);
    case "status":
      setWarnings(response, answer.warnings);
      return sendStatus(response, answer.status, accepted);
    case "watch":
      return sendWatch(answer, exchange);
  }
}

export function sendStatus(response: ServerResponse, status: Status, accepted: Accepted): void {
  const seconds = status.details?.retryAfterSeconds;
  if (seconds !== undefined) response.setHeader("Retry-After", String(seconds));
  send(response, status.code ?? 200, encoded(status, accepted), accepted);
}

export function sendDocument(response: ServerResponse, document: unknown, accepted: Accepted): void {
  send(response, 200, encoded(document, accepted), accepted);
}

function send(response: ServerResponse, code: number, body: Uint8Array, { format }: Accepted): void {
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", `application/${format}`);
  response.writeHead(code, { "Cache-Control": "no-cache, private", "Content-Length": body.length });
  response.end(body);
}

/** People read what curl and browsers show; programs do not pay for it. */
export function wantsPretty(request: IncomingMessage, query: URLSearchParams): boolean {
  const asked = query.get("pretty");
  if (asked !== null && asked !== "") return boolean(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers["user-agent"] ?? "");
}

function encoded(value: unknown, { format, pretty }: Accepted): Buffer {
  if (format === "yaml") return Buffer.from(stringify(value, { sortMapEntries: true, aliasDuplicateObjects: false }));
  return Buffer.from(pretty ? JSON.stringify(value, undefined, 2) : JSON.stringify(value));
}

// RFC 9110's quoted string, one header field a warning, as client-go reads them.
function setWarnings(response: ServerResponse, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const quoted = warnings.map(text => `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll(/[^\x20-\x7e]/g, "?")}"`);
  response.setHeader(
    "Warning",
    quoted.map(text => `299 - ${text}`),
  );
}

function sendObject(code: number, stored: Stored, exchange: Exchange): void {
  const { response, accepted } = exchange;
  const isPlain = accepted.shape === "object" && accepted.format === "json" && !accepted.pretty;
  send(response, code, isPlain ? stored.json : encoded(shapedObject(stored, exchange), accepted), accepted);
}

function shapedObject({ object }: Stored, { accepted: { shape }, kind, query, now }: Exchange): unknown {
  if (shape === "object") return object;
  switch (shape.as) {
    case "PartialObjectMetadata":
      return partial(object, shape.version);
    case "PartialObjectMetadataList":
      throw notAcceptable(["application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"]);
    case "Table": {
      const { resourceVersion } = object.metadata;
      const form = { version: shape.version, include: includeObject(query.get("includeObject")), now: now() };
      return table(kind, [object], { resourceVersion }, form);
    }
  }
}

type ListAnswer = Extract<ApiResponse, { kind: "list" }>;

function sendList(answer: ListAnswer, exchange: Exchange): void {
  const { response, accepted } = exchange;
  const isPlain = accepted.shape === "object" && accepted.format === "json" && !accepted.pretty;
  const body = isPlain ? joinedList(answer, exchange.kind) : encoded(shapedList(answer, exchange), accepted);
  send(response, 200, body, accepted);
}

function shapedList(answer: ListAnswer, { accepted: { shape }, kind, query, now }: Exchange): unknown {
  const metadata = listMeta(answer, kind);
  if (shape === "object") return JSON.parse(joinedList(answer, kind).toString());
  const objects = answer.items.map(item => item.object);
  switch (shape.as) {
    case "Table":
      return table(kind, objects, metadata, {
        version: shape.version,
        include: includeObject(query.get("includeObject")),
        now: now(),
      });
    case "PartialObjectMetadataList":
      return partialList(objects, metadata, shape.version);
    case "PartialObjectMetadata":
      throw notAcceptable(["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"]);
  }
}

/** Lists of custom kinds say that nothing follows, those of the server's own leave it out. */
function listMeta({ resourceVersion, continue: next, remainingItemCount }: ListAnswer, kind: ServedKind): ListMeta {
  const token = next ?? (kind.strategic ? undefined : "");
  return {
    resourceVersion,
    ...(token !== undefined && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
  };
}

const comma = Buffer.from(",");

function joinedList(answer: ListAnswer, kind: ServedKind): Buffer {
  const apiVersion = apiVersionOf(kind.resource);
  const head = JSON.stringify({ kind: `${kind.resource.kind}List`, apiVersion, metadata: listMeta(answer, kind) });
  const parts: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  for (const [index, item] of answer.items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(kind.strategic ? withoutType(item, apiVersion, kind.resource.kind) : item.json);
  }
  parts.push(Buffer.from("]}"));
  return Buffer.concat(parts);
}

// The items of a built-in list do not repeat their apiVersion and kind. Mostly they stand first and are cut off.
function withoutType({ json, object }: Stored, apiVersion: string, kind: string): Uint8Array {
  const prefix = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`;
  const isFirst = json.subarray(0, prefix.length).toString("latin1") === prefix;
  if (isFirst) return Buffer.concat([Buffer.from("{"), json.subarray(prefix.length)]);
  const { apiVersion: _, kind: __, ...rest } = object;
  return Buffer.from(JSON.stringify(rest));
}

function sendWatch(answer: Extract<ApiResponse, { kind: "watch" }>, exchange: Exchange): void {
  const { response, accepted, lines } = exchange;
  // A stream is JSON lines, whatever else would be accepted.
  if (accepted.format !== "json") throw notAcceptable(["application/json;stream=watch", "application/json"]);
  const encode = accepted.shape === "object" ? lines.encode : shapedEvents(exchange);
  response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
  streamWatch(response, answer, encode);
}

function shapedEvents({ accepted: { shape }, kind, query, now }: Exchange): EventLines["encode"] {
  if (shape === "object") throw new Error("an object as it is needs no other shape");
  const include = includeObject(query.get("includeObject"));
  let isFirst = true;
  return ({ type, stored: { object } }) => {
    if (shape.as !== "Table") return eventLine(type, Buffer.from(JSON.stringify(partial(object, shape.version))));
    const event = { object, isBookmark: type === "BOOKMARK", isFirst };
    isFirst = false;
    const form = { version: shape.version, include, now: now() };
    return eventLine(type, Buffer.from(JSON.stringify(watchTable(kind, event, form))));
  };
}
