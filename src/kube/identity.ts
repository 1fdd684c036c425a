// As whom we speak, and over which TLS: reads certificates and tokens, runs the credential plugin, and looks again when
// a file may have been rotated, a credential expires or the server says 401.

import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock } from "../control/ports.ts";
import { ConfigError } from "./errors.ts";
import { type ExecCredential, runExecPlugin } from "./exec-plugin.ts";
import type { ClusterConfig, Impersonation } from "./kubeconfig.ts";
import type { Material } from "./kubeconfig-fields.ts";

// The kubelet rotates a pod's token and CA in place; a minute is what client-go allows a stale token too.
const FILES_AGAIN_MS = 60_000;

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export type TlsMaterial = {
  ca?: string;
  cert?: string;
  key?: string;
  serverName?: string;
  insecure: boolean;
};

export type Identity = {
  headers: Readonly<Record<string, string | string[]>>;
  /** The same object as before while nothing in it has changed. */
  tls: TlsMaterial;
  /** What must not be shown anywhere. */
  secrets: readonly string[];
};

export type IdentitySource = {
  current(): Promise<Identity>;
  /** The server said 401 to this one. True if asking `current` again can give another. */
  refused(identity: Identity): boolean;
};

export type IdentityContext = { clock: Clock; env: Readonly<Record<string, string | undefined>> };

export function identitySource(config: ClusterConfig, context: IdentityContext): IdentitySource {
  const plugin = pluginSource(config, context);
  let known: Identity | undefined;
  let filesReadAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<Identity> | undefined;

  const load = async (): Promise<Identity> => {
    const startedAt = context.clock.monotonic();
    try {
      const next = await loadIdentity(config, plugin);
      known = known === undefined ? next : unchanged(known, next);
      filesReadAt = startedAt;
      return known;
    } catch (error) {
      // A file caught in the middle of its rotation: the last good one serves until the next look.
      if (known === undefined || plugin?.expired() === true) throw error;
      filesReadAt = startedAt;
      return known;
    } finally {
      loading = undefined;
    }
  };

  return {
    current() {
      const fresh = context.clock.monotonic() - filesReadAt < FILES_AGAIN_MS && plugin?.expired() !== true;
      if (known !== undefined && fresh) return Promise.resolve(known);
      loading ??= load();
      return loading;
    },
    refused(identity) {
      if (identity === known) {
        plugin?.forget();
        filesReadAt = Number.NEGATIVE_INFINITY;
      }
      return plugin !== undefined || config.user.tokenFile !== undefined;
    },
  };
}

type PluginSource = { current(ca: string | undefined): Promise<ExecCredential>; expired(): boolean; forget(): void };

// A user with credentials of its own does not need its plugin, as in client-go.
function pluginSource(config: ClusterConfig, { clock, env }: IdentityContext): PluginSource | undefined {
  const { exec, token, tokenFile, basic, clientCertificate } = config.user;
  if (exec === undefined || token !== undefined || tokenFile !== undefined) return undefined;
  if (basic !== undefined || clientCertificate !== undefined) return undefined;
  let held: ExecCredential | undefined;
  const expired = (): boolean => held === undefined || (held.expiresAt !== undefined && clock.now() >= held.expiresAt);
  return {
    async current(ca) {
      const valid = held === undefined || expired() ? await runExecPlugin(exec, { clock, config, ca, env }) : held;
      held = valid;
      return valid;
    },
    expired,
    forget() {
      held = undefined;
    },
  };
}

async function loadIdentity(config: ClusterConfig, plugin: PluginSource | undefined): Promise<Identity> {
  const { protocol, hostname } = new URL(config.server);
  const secure = protocol === "https:";
  const ca = secure && config.ca !== undefined ? await read(config.ca, "certificate authority", config) : undefined;
  const serverTls: TlsMaterial = {
    insecure: config.insecureSkipTlsVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(config.tlsServerName === undefined ? {} : { serverName: config.tlsServerName }),
  };
  const asUser = config.impersonate === undefined ? {} : impersonationHeaders(config.impersonate);
  // Nothing that proves who we are goes over a connection that others can read.
  if (!secure && !LOOPBACK.test(hostname)) return { headers: asUser, tls: serverTls, secrets: [] };

  const { clientCertificate } = config.user;
  const issued = await plugin?.current(ca);
  const cert =
    clientCertificate === undefined ? issued?.cert : await read(clientCertificate.cert, "client certificate", config);
  const key = clientCertificate === undefined ? issued?.key : await read(clientCertificate.key, "client key", config);
  const tls = { ...serverTls, ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
  checkTls(tls, config);
  const authorization = await authorizationOf(config, issued?.token);
  return {
    headers: { ...asUser, ...(authorization === undefined ? {} : { authorization: authorization.header }) },
    tls,
    secrets: authorization?.secrets ?? [],
  };
}

type Authorization = { header: string; secrets: readonly string[] };

async function authorizationOf(config: ClusterConfig, issued: string | undefined): Promise<Authorization | undefined> {
  const { basic, token, tokenFile } = config.user;
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${basic.password}`).toString("base64");
    return { header: `Basic ${pair}`, secrets: [pair, basic.password] };
  }
  // A readable file wins over the token beside it, which is only where to begin.
  const bearer = tokenFile === undefined ? (token ?? issued) : await tokenIn(tokenFile, token, config);
  if (bearer === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(bearer)) {
    throw new ConfigError(
      `The token of ${config.source} holds characters that no token has: check it for line breaks.`,
    );
  }
  return { header: `Bearer ${bearer}`, secrets: [bearer] };
}

async function tokenIn(file: string, otherwise: string | undefined, config: ClusterConfig): Promise<string> {
  try {
    const token = (await read({ file }, "token file", config)).trim();
    if (token !== "") return token;
  } catch (error) {
    if (otherwise === undefined) throw error;
  }
  if (otherwise !== undefined) return otherwise;
  throw new ConfigError(`The token file ${file} (${config.source}) is empty.`);
}

async function read(material: Material, what: string, config: ClusterConfig): Promise<string> {
  if ("data" in material) return material.data;
  try {
    return await readFile(material.file, "utf8");
  } catch (cause) {
    throw new ConfigError(`The ${what} ${material.file} (${config.source}) cannot be read: check path and rights.`, {
      cause,
    });
  }
}

// Node takes a CA that is no certificate without a word and then trusts nobody, so it is read here first.
function checkTls({ ca, cert, key }: TlsMaterial, { source }: ClusterConfig): void {
  const attempt = (what: string, check: () => void): void => {
    try {
      check();
    } catch {
      throw new ConfigError(`The ${what} of ${source} is not usable: it must be PEM and, for a key, unencrypted.`);
    }
  };
  if (ca !== undefined) attempt("certificate authority", () => new X509Certificate(ca));
  if (cert !== undefined && key !== undefined)
    attempt("client certificate or key", () => createSecureContext({ cert, key }));
}

// One header a value: the server does not split at commas.
function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "impersonate-user": user };
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  if (groups.length > 0) headers["impersonate-group"] = [...groups];
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  }
  return headers;
}

function unchanged(known: Identity, next: Identity): Identity {
  const tls = sameTls(known.tls, next.tls) ? known.tls : next.tls;
  const sameHeaders = JSON.stringify(known.headers) === JSON.stringify(next.headers);
  return tls === known.tls && sameHeaders ? known : { ...next, tls };
}

function sameTls(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}
