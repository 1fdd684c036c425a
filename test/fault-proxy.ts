// A proxy in front of an API server that breaks what a script tells it to, request by request. The same script and
// the same requests always give the same bytes: faults are placed by lines of the answer, never by time or by chunks.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";

export type Fault =
  /** The connection is reset before the server has seen the request. */
  | { kind: "reset" }
  /** The server carries the request out, and the connection is reset before its answer. */
  | { kind: "lose-answer" }
  /** The server carries the request out; its answer is kept back for ever, and `answered` is told. */
  | { kind: "keep-answer"; answered: () => void }
  /** The request is accepted and never answered. */
  | { kind: "half-open" }
  /** Refused by the proxy in the server's name. */
  | { kind: "refuse"; code: 400 | 429 | 500 | 503; retryAfterSeconds?: number }
  /** In the middle of the line after so many whole ones: the answer ends as if complete, breaks off, or falls silent. */
  | { kind: "truncate" | "cut" | "stall"; afterLines: number }
  /** So many bytes at a time, with a pause between. */
  | { kind: "slow"; bytes: number; pauseMs: number }
  /** Every line twice; on a watch, every event. */
  | { kind: "duplicate" };

export type Seen = {
  method: string;
  path: string;
  query: URLSearchParams;
  isWatch: boolean;
  /** Counted from 0 over all requests. */
  index: number;
};

export type Script = (request: Seen) => Fault | undefined;

export type FaultProxy = {
  url: string;
  seen: readonly Seen[];
  /** Replaces the script for requests that come from now on. */
  script(script: Script): void;
  /** Breaks every connection that is open now. */
  resetAll(): void;
  stop(): Promise<void>;
};

/** `upstream.ca` is PEM. Clients speak plain HTTP to the proxy, and send their own credentials. */
export async function faultProxy(
  upstream: { url: string; ca?: string },
  script: Script = () => undefined,
): Promise<FaultProxy> {
  const agent = new Agent({
    bodyTimeout: 0,
    headersTimeout: 0,
    connect: upstream.ca === undefined ? {} : { ca: upstream.ca },
  });
  const seen: Seen[] = [];
  let current = script;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://proxy");
    const one: Seen = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      isWatch: ["1", "true"].includes(url.searchParams.get("watch") ?? ""),
      index: seen.length,
    };
    seen.push(one);
    // Whatever fails on either side is for the client to see as a broken connection.
    serve({ agent, origin: upstream.url }, { request, response }, current(one)).catch(() => response.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    script: next => {
      current = next;
    },
    resetAll: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      await Promise.all([agent.destroy(), new Promise(resolve => server.close(resolve))]);
    },
  };
}

type Upstream = { agent: Agent; origin: string };
type Exchange = { request: IncomingMessage; response: ServerResponse };

async function serve(upstream: Upstream, { request, response }: Exchange, fault: Fault | undefined): Promise<void> {
  if (fault?.kind === "half-open") return;
  if (fault?.kind === "reset") return void request.socket.resetAndDestroy();
  if (fault?.kind === "refuse") return refuse(response, fault);
  if (fault?.kind === "keep-answer") {
    // Also when the client does not wait for it.
    try {
      const answer = await forward(upstream, request);
      await answer.body.dump();
    } finally {
      fault.answered();
    }
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = await forward(upstream, request, gone.signal);
  if (fault?.kind === "lose-answer") {
    // A watch would never be read to its end; its headers say that it has been carried out.
    answer.body.on("error", () => {}).destroy();
    request.socket.resetAndDestroy();
    return;
  }
  response.writeHead(answer.statusCode, endToEnd(answer.headers));
  response.flushHeaders();
  const end = await copy(answer.body, response, fault);
  if (end === "complete") response.end();
  if (end === "broken") response.destroy();
}

async function forward(
  { agent, origin }: Upstream,
  request: IncomingMessage,
  signal?: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const body: Buffer[] = [];
  for await (const chunk of request) body.push(chunk as Buffer);
  return agent.request({
    origin,
    path: request.url ?? "/",
    method: request.method as Dispatcher.HttpMethod,
    headers: endToEnd({ ...request.headers, host: undefined }),
    body: body.length === 0 ? null : Buffer.concat(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

// Lengths are dropped, because a fault may change them.
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);

function endToEnd(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name)) kept[name] = value;
  }
  return kept;
}

function refuse(response: ServerResponse, fault: Extract<Fault, { kind: "refuse" }>): void {
  const { code, retryAfterSeconds } = fault;
  const reason = { 400: "BadRequest", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable" }[code];
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "a fault",
    reason,
    code,
  };
  response.writeHead(code, {
    "content-type": "application/json",
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(status));
}

async function copy(
  body: AsyncIterable<Buffer>,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<"complete" | "broken" | "silent"> {
  let lines = 0;
  for await (const line of linesOf(body)) {
    if (fault !== undefined && "afterLines" in fault && lines++ === fault.afterLines) {
      await write(response, line.subarray(0, Math.ceil(line.length / 2)));
      return ({ truncate: "complete", cut: "broken", stall: "silent" } as const)[fault.kind];
    }
    if (fault?.kind === "slow") await drip(response, line, fault);
    else await write(response, line);
    if (fault?.kind === "duplicate") await write(response, line);
  }
  return "complete";
}

async function drip(response: ServerResponse, line: Buffer, pace: { bytes: number; pauseMs: number }): Promise<void> {
  for (let from = 0; from < line.length; from += pace.bytes) {
    await write(response, line.subarray(from, from + pace.bytes));
    await sleep(pace.pauseMs);
  }
}

/** Whole lines with their end; the last one may have none. */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}

function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => response.write(bytes, error => (error ? reject(error) : resolve())));
}

/** The fault for the first `times` requests that match, then none. */
export function first(times: number, matches: (request: Seen) => boolean, fault: Fault): Script {
  let left = times;
  return request => (left > 0 && matches(request) && left-- > 0 ? fault : undefined);
}
