// The proxy that a machine's environment names, by the rules that Go's programs follow: whoever has set one for kubectl
// has set it for us. A kubeconfig's own proxy-url goes before it.

import { BlockList, isIP } from "node:net";
import { ConfigError } from "./errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** undefined: straight to the server. */
export function environmentProxy(server: string, env: Env): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isSecure = protocol === "https:";
  const [name, written] = firstSet(env, isSecure ? ["HTTPS_PROXY", "https_proxy"] : ["HTTP_PROXY", "http_proxy"]);
  if (name === undefined || isExempt(env, { host: bare(hostname), port: port || (isSecure ? "443" : "80") })) {
    return undefined;
  }
  return proxyUrl(name, written);
}

function firstSet(env: Env, names: readonly string[]): [string, string] | [undefined, ""] {
  const name = names.find(each => env[each]);
  return name === undefined ? [undefined, ""] : [name, env[name] ?? ""];
}

/** The value itself may hold a password, and is not repeated. */
function proxyUrl(name: string, written: string): string {
  const text = written.includes("://") ? written : `http://${written}`;
  const isKnown = URL.canParse(text) && ["http:", "https:", "socks5:"].includes(new URL(text).protocol);
  if (!isKnown) throw new ConfigError(`${name} is not the URL of a proxy: write http://host:port, or unset it.`);
  return text;
}

type Destination = { readonly host: string; readonly port: string };

function isExempt(env: Env, to: Destination): boolean {
  if (to.host === "localhost" || isIn("127.0.0.0/8", to.host) || isIn("::1/128", to.host)) return true;
  const [, written] = firstSet(env, ["NO_PROXY", "no_proxy"]);
  const entries = written.split(",").map(entry => entry.trim().toLowerCase());
  return entries.some(entry => entry !== "" && exempts(entry, to));
}

/** `*`, an address, a network, a name with all below it, or only those below with a dot before; each may name a port. */
function exempts(entry: string, { host, port }: Destination): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isIn(entry, host);
  const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const plain = bare(name);
  if (isIP(plain) !== 0 || isIP(host) !== 0) return plain === host;
  const domain = plain.replace(/^\*?\./, "");
  return host.endsWith(`.${domain}`) || (host === domain && domain === plain);
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isIn(network: string, host: string): boolean {
  const [address = "", prefix = ""] = network.split("/");
  const family = isIP(address);
  const length = Number(prefix);
  if (family === 0 || isIP(host) !== family || !(length >= 0 && length <= (family === 4 ? 32 : 128))) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(address, length, type);
  return list.check(host, type);
}
