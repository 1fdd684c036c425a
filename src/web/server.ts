// What a cluster asks of a running controller over HTTP: is it alive, is it ready, how does it do, what does it refuse.
// Reads only, and knows nothing of what it answers with.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// As an import of it would, all its exports would be read, and with them a second HTTP client that node has built in.
const { createServer } = process.getBuiltinModule("node:http");

export type Answers = {
  /** Undefined: ready; else what it still waits for. */
  notReady(): string | undefined;
  metrics(): Promise<{ contentType: string; text: string }>;
  /** What stands refused, of all or of one kind and name. */
  refusals(question: { kind?: string; name?: string }): unknown;
};

export type Serving = { readonly port: number; close(): Promise<void> };

/** Rejects with the system's error (EADDRINUSE, EACCES) if the port cannot be had. */
export async function serve(answers: Answers, { host, port }: { host?: string; port: number }): Promise<Serving> {
  const server = createServer((request, response) => void respond(answers, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
  // A TCP server has an address once it listens.
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function respond(answers: Answers, { method = "", url = "" }: IncomingMessage, response: ServerResponse) {
  const { code, contentType = "text/plain", text } = await answer(answers, method, url);
  response.writeHead(code, { "content-type": contentType, "cache-control": "no-store" });
  response.end(method === "HEAD" ? undefined : text);
}

type Answer = { code: number; contentType?: string; text: string };

async function answer(answers: Answers, method: string, url: string): Promise<Answer> {
  if (method !== "GET" && method !== "HEAD") return { code: 405, text: "Only GET.\n" };
  const [path, query = ""] = url.split("?", 2);
  switch (path) {
    // That it answers at all shows that its loop turns.
    case "/healthz":
      return { code: 200, text: "ok\n" };
    case "/readyz": {
      const missing = answers.notReady();
      return missing === undefined ? { code: 200, text: "ok\n" } : { code: 503, text: `${missing}\n` };
    }
    case "/metrics":
      return { code: 200, ...(await answers.metrics()) };
    case "/refusals":
      return refusals(answers, new URLSearchParams(query));
    default:
      return { code: 404, text: "There are /healthz, /readyz, /metrics and /refusals.\n" };
  }
}

const questions: readonly string[] = ["kind", "name"];

function refusals(answers: Answers, query: URLSearchParams): Answer {
  // A misspelt question must not be answered with everything.
  const unknown = [...query.keys()].find(key => !questions.includes(key));
  if (unknown !== undefined) {
    return { code: 400, text: `There is no ${JSON.stringify(unknown)}: ask as /refusals?kind=Node&name=worker-1.\n` };
  }
  const text = `${JSON.stringify(answers.refusals(Object.fromEntries(query)), undefined, 2)}\n`;
  return { code: 200, contentType: "application/json", text };
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
