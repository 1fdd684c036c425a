// URLs as Go's net/url reads them: more lenient about paths than browsers, stricter about where a URL must begin.

export type GoUrl = { scheme: string; host: string; path: string; query: string };

/** As ParseRequestURI: an absolute URL or an absolute path; the error is Go's. */
export function requestUriError(text: string): string | undefined {
  const parsed = parseUrl(text);
  return typeof parsed === "string" ? `parse ${JSON.stringify(text)}: ${parsed}` : undefined;
}

/** The parts, without the fragment; a string is what is wrong. Only texts that ParseRequestURI takes are taken. */
export function parseUrl(text: string): GoUrl | string {
  // Control characters are exactly what must be refused here.
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(text)) return "net/url: invalid control character in URL";
  if (text === "") return "empty url";
  if (text.startsWith(":")) return "missing protocol scheme";
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? "";
  const rest = scheme === "" ? text : text.slice(scheme.length + 1);
  const [before = "", ...queries] = rest.split("?");
  const query = queries.join("?");
  if (!before.startsWith("/"))
    return scheme === "" ? "invalid URI for request" : { scheme: scheme.toLowerCase(), host: "", path: "", query };
  const authority = scheme !== "" && before.startsWith("//") ? (/^\/\/([^/]*)/.exec(before)?.[1] ?? "") : undefined;
  const path = authority === undefined ? before : before.slice(authority.length + 2);
  const complaint = (authority === undefined ? undefined : authorityError(authority)) ?? escapeError(path);
  if (complaint !== undefined) return complaint;
  const host = authority?.slice(authority.lastIndexOf("@") + 1).replace(/#.*$/, "") ?? "";
  const [cleanPath = "", fragment] = path.split("#");
  const cleanQuery = fragment === undefined ? (query.split("#")[0] ?? "") : "";
  return { scheme: scheme.toLowerCase(), host, path: cleanPath, query: cleanQuery };
}

function authorityError(authority: string): string | undefined {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return "net/url: invalid userinfo";
  const host = authority.slice(at + 1);
  const port = /^(\[[^\]]*\]|[^:]*)(.*)$/.exec(host);
  if (host.startsWith("[") && !host.includes("]")) return "missing ']' in host";
  const rest = port?.[2] ?? "";
  if (!/^(:\d*)?$/.test(rest)) return `invalid port ${JSON.stringify(rest)} after host`;
  const odd = /[\x20#@\\^`{|}%]/.exec(port?.[1] ?? "");
  return odd === null ? undefined : `invalid character ${JSON.stringify(odd[0])} in host name`;
}

function escapeError(text: string): string | undefined {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text);
  return bad === null ? undefined : `invalid URL escape ${JSON.stringify(bad[0])}`;
}

export function hostnameOf({ host }: GoUrl): string {
  return /^\[([^\]]*)\]/.exec(host)?.[1] ?? host.replace(/:\d*$/, "");
}

export function portOf({ host }: GoUrl): string {
  return /:(\d*)$/.exec(host)?.[1] ?? "";
}

/** As written where that is a valid encoding, else encoded anew. */
export function escapedPath({ path }: GoUrl): string {
  if (/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]]|%[0-9A-Fa-f]{2})*$/.test(path)) return path;
  const decoded = unescaped(path) ?? path;
  return encodeURI(decoded).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Pairs that cannot be read are left out, as Go's Query() does. */
export function queryValues({ query }: GoUrl): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const [key = "", ...rest] = pair.split("=");
    const name = unescaped(key.replaceAll("+", " "));
    const value = unescaped(rest.join("=").replaceAll("+", " "));
    if (name !== undefined && value !== undefined) values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
