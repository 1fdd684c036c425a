// An HTTP(S) server on the loopback whose every answer a test writes itself, and which remembers what it was asked.

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ClusterConfig } from "../../src/kube/kubeconfig.ts";
import { type ServerCertificate, serverCertificate } from "../../src/sim/http/certificate.ts";

export type Asked = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
  /** Over TLS: the name asked for, the serial number of the client's certificate, and whether it came with a session. */
  tls?: { serverName: string | undefined; clientSerial: string | undefined; isResumed: boolean };
};

export type Answer = (response: ServerResponse, asked: Asked) => void;

export type ScriptedServer = {
  url: string;
  /** Of a TLS server; its certificate serves for a client too. */
  certificate: ServerCertificate | undefined;
  config: ClusterConfig;
  asked: Asked[];
  connectionCount(): number;
  close(): Promise<void>;
};

/** `answers` are given in order, the last one again and again. */
export async function scriptedServer(
  answers: readonly Answer[],
  options: { tls?: boolean; user?: ClusterConfig["user"] } = {},
): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://server");
      const one: Asked = {
        method: request.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        ...(request.socket instanceof TLSSocket ? { tls: tlsOf(request.socket) } : {}),
      };
      asked.push(one);
      answers[Math.min(asked.length, answers.length) - 1]?.(response, one);
    });
  };
  const made = options.tls === true ? serverCertificate(Date.now()) : undefined;
  const server =
    made === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ ...made, requestCert: true, rejectUnauthorized: false }, handle);
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const url = `${made === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    certificate: made,
    asked,
    config: {
      source: "the test",
      server: url,
      namespace: "default",
      insecureSkipTlsVerify: false,
      user: options.user ?? {},
      ...(made === undefined ? {} : { ca: { data: made.ca } }),
    },
    connectionCount: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function tlsOf(socket: TLSSocket): NonNullable<Asked["tls"]> {
  const name = "servername" in socket && typeof socket.servername === "string" ? socket.servername : undefined;
  return {
    serverName: name,
    clientSerial: socket.getPeerCertificate().serialNumber,
    isResumed: socket.isSessionReused(),
  };
}

export function json(code: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return response => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

export function status(code: number, reason: string, headers: Record<string, string> = {}): Answer {
  const body = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `${reason}!`,
    reason,
    code,
  };
  return json(code, body, headers);
}

/** The connection is reset after the request has been read. */
export const reset: Answer = response => {
  const { socket } = response;
  // A TLS socket has no reset of its own; the client sees a broken connection either way.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
};
