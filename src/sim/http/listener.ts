// The embedded API on a loopback port over TLS. Knows how to start, where it listens and how to stop; what it answers is
// the dispatcher's matter.

import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../control/ports.ts";
import { serverCertificate } from "./certificate.ts";
import { type Api, Dispatcher } from "./dispatch.ts";

export type Listening = {
  /** https://127.0.0.1:port */
  url: string;
  port: number;
  /** PEM of the authority that signed the server's certificate. */
  ca: string;
  token: string;
  /** Ends every connection, watches too. */
  close(): Promise<void>;
};

export type ListenOptions = {
  api: Api;
  /** For ages in tables. */
  clock: Pick<Clock, "now">;
  /** Wall time, for the certificate: TLS clients judge it by theirs. */
  now: number;
  token: string;
  /** Absent or 0 takes one that is free. */
  port?: number;
};

const host = "127.0.0.1";

/** Rejects with the system's error (EADDRINUSE, EACCES) if the port cannot be had. */
export async function listen({ api, clock, now, token, port = 0 }: ListenOptions): Promise<Listening> {
  const { ca, cert, key } = serverCertificate(now);
  const dispatcher = new Dispatcher({ api, token, now: () => clock.now() });
  const server = createServer(
    { cert, key, keepAlive: true, noDelay: true, keepAliveTimeout: 75_000 },
    (request, response) => {
      void dispatcher.handle(request, response);
    },
  );
  server.on("tlsClientError", answerPlainHttp);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  // A TCP server has an address once it listens.
  const bound = (server.address() as AddressInfo).port;
  return { url: `https://${host}:${bound}`, port: bound, ca, token, close: () => close(server) };
}

/** Who forgot the "s" of https is told, rather than cut off. Only the socket below the failed TLS can still say it. */
function answerPlainHttp(error: NodeJS.ErrnoException, secured: TLSSocket & { _parent?: Socket }): void {
  if (error.code !== "ERR_SSL_HTTP_REQUEST") return;
  secured._parent?.write("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
