// The sockets to one API server: a bounded pool for calls and one without bound for watches, each of which keeps its
// connection. New TLS material (a rotated certificate or CA) gets new pools; the old ones end with their requests.

import { createSecureContext } from "node:tls";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { TlsMaterial } from "./identity.ts";
import type { ClusterConfig } from "./kubeconfig.ts";

// HTTP/1.1: measured faster than undici 7's HTTP/2, and a watch cannot starve a call on the same connection.
/** Nearly one for each lane: a server has seldom more in hand. */
export const callConnectionsMax = 40;
const HEADERS_TIMEOUT_MS = 30_000;
const CALL_BODY_TIMEOUT_MS = 30_000;
// Under the idle limit of API servers (90 s) and the usual load balancers (60 s), so that we hang up first: a write that
// meets the server's hang-up has an unknown result.
const IDLE_MAX_MS = 20_000;

type Pools = { tls: TlsMaterial; calls: Dispatcher; watches: Dispatcher };

/** Queues a request for a socket; all that follows is told to the handler. */
export type Dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => void;

export type Connections = {
  calls(tls: TlsMaterial): Dispatch;
  watches(tls: TlsMaterial): Dispatch;
  close(): Promise<void>;
};

export function connections(config: Pick<ClusterConfig, "server" | "proxyUrl">): Connections {
  let open: Pools | undefined;
  let closed = false;
  const retired = new Set<Pools>();
  const { origin } = new URL(config.server);
  const dispatchTo = (pool: Dispatcher): Dispatch => {
    return (options, handler) => void pool.dispatch({ ...options, origin }, handler);
  };

  const poolsFor = (tls: TlsMaterial): Pools => {
    if (open !== undefined && (open.tls === tls || closed)) return open;
    if (open !== undefined) retire(open, retired);
    open = { tls, calls: dispatcher(config, tls, callConnectionsMax), watches: dispatcher(config, tls, undefined) };
    return open;
  };

  return {
    calls: tls => dispatchTo(poolsFor(tls).calls),
    watches: tls => dispatchTo(poolsFor(tls).watches),
    async close() {
      closed = true;
      const pools = open === undefined ? [...retired] : [open, ...retired];
      await Promise.all(pools.flatMap(({ calls, watches }) => [calls.destroy(), watches.destroy()]));
    },
  };
}

function retire(pools: Pools, retired: Set<Pools>): void {
  retired.add(pools);
  const ended = Promise.all([pools.calls.close(), pools.watches.close()]);
  // Closing fails only if it was destroyed meanwhile, which is what we want too.
  ended.then(
    () => retired.delete(pools),
    () => retired.delete(pools),
  );
}

function dispatcher(
  { server, proxyUrl }: Pick<ClusterConfig, "server" | "proxyUrl">,
  tls: TlsMaterial,
  connectionsMax: number | undefined,
): Dispatcher {
  const options = {
    pipelining: 1,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: CALL_BODY_TIMEOUT_MS,
    keepAliveTimeout: IDLE_MAX_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    allowH2: false,
    ...(connectionsMax === undefined ? {} : { connections: connectionsMax }),
  };
  if (proxyUrl === undefined) return new Pool(new URL(server).origin, { ...options, connect: connector(tls) });
  // Without the tunnel for http:// servers, as Go's transport speaks to a proxy; https:// is always tunnelled.
  return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connectOptions(tls), proxyTunnel: false });
}

/**
 * Connections after the first one go on with its session: a burst opens many at once, and whole handshakes were much of its
 * beginning. undici remembers the last session too, but lets it be collected while nothing else holds it. Where a handshake
 * fails both forget it: what stands before a server may refuse what it did not hand out itself.
 */
function connector(tls: TlsMaterial): buildConnector.connector {
  const terms = connectOptions(tls);
  let connect = buildConnector(terms);
  const last: { session?: Buffer } = {};
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        delete last.session;
        connect = buildConnector(terms);
        return callback(error, null);
      }
      socket.on("session", (session: Buffer) => (last.session = session));
      callback(null, socket);
    });
  };
}

/** What is secret is read once for all connections: to read the authority for each was much of the work of a burst. */
function connectOptions({ ca, cert, key, serverName, insecure }: TlsMaterial) {
  const secureContext = createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  return {
    rejectUnauthorized: !insecure,
    secureContext,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
