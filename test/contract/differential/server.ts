// One API server over plain HTTP: requests as data in, answers as data out. No client of ours in between, so that what
// is compared is what the servers say.

import { Agent } from "undici";
import type { Json, JsonObject } from "./operation.ts";

export type Request = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query: Record<string, string>;
  type?: string;
  body?: Json;
  /** Bytes that need not be JSON, in place of `body`. */
  text?: string;
  accept?: string;
};
export type Answer = { code: number; warnings: readonly string[]; retryAfter: string; body: Json };
export type WatchLine = { type: string; object: JsonObject };

export type WatchReader = {
  /** The lines up to and with the first one that `isLast` accepts, or to the end of the stream. */
  readUntil(isLast: (line: WatchLine) => boolean): Promise<{ lines: readonly WatchLine[]; ended: boolean }>;
};

export type ApiAddress = { url: string; token: string; ca: string };

const watchReadWithinMs = 8000;

export class HttpApi {
  readonly #address: ApiAddress;
  readonly #agent: Agent;

  constructor(address: ApiAddress) {
    this.#address = address;
    this.#agent = new Agent({ connections: 64, bodyTimeout: 0, connect: { ca: address.ca } });
  }

  async send(request: Request): Promise<Answer> {
    const response = await this.#request(request);
    const text = await response.body.text();
    const { warning, "retry-after": retryAfter } = response.headers;
    return {
      code: response.statusCode,
      warnings: warning === undefined ? [] : [warning].flat(),
      retryAfter: String(retryAfter ?? ""),
      body: parsed(text),
    };
  }

  /** Resolves once the server has begun the stream; a refusal is an answer. */
  async watch(request: Request): Promise<Answer | WatchReader> {
    const response = await this.#request({ ...request, query: { ...request.query, watch: "true" } });
    if (response.statusCode !== 200) {
      const text = await response.body.text();
      return { code: response.statusCode, warnings: [], retryAfter: "", body: parsed(text) };
    }
    return { readUntil: isLast => readLines(response.body, isLast) };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #request({ method, path, query, type, body, text, accept = "application/json" }: Request) {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const search = new URLSearchParams(query).toString();
    return this.#agent.request({
      origin: this.#address.url,
      path: search === "" ? path : `${path}?${search}`,
      method,
      headers: {
        accept,
        authorization: `Bearer ${this.#address.token}`,
        "user-agent": "fettle-differential",
        ...(content === undefined ? {} : { "content-type": type ?? "application/json" }),
      },
      body: content ?? null,
    });
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

type Body = AsyncIterable<Buffer> & { destroy(): void };

async function readLines(body: Body, isLast: (line: WatchLine) => boolean) {
  const lines: WatchLine[] = [];
  const giveUp = setTimeout(() => body.destroy(), watchReadWithinMs);
  let rest = "";
  try {
    for await (const chunk of body) {
      const pieces = (rest + chunk.toString("utf8")).split("\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces) {
        const line = JSON.parse(piece) as WatchLine;
        lines.push(line);
        if (isLast(line)) return { lines, ended: false };
      }
    }
    return { lines, ended: true };
  } catch {
    return { lines, ended: true };
  } finally {
    clearTimeout(giveUp);
    body.destroy();
  }
}
