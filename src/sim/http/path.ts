// Which thing a URL path speaks of. Splits and decodes; whether such a kind is served is not decided here.

export type ResourcePath = {
  group: string;
  version: string;
  plural: string;
  namespace?: string;
  name?: string;
  subresource?: string;
};

type ObjectPath = Omit<ResourcePath, "group" | "version">;

export type Route =
  | { kind: "resource"; path: ResourcePath }
  | { kind: "core-versions" }
  | { kind: "groups" }
  | { kind: "group"; group: string }
  | { kind: "group-version"; group: string; version: string }
  | { kind: "version" }
  | { kind: "health" }
  | { kind: "openapi" }
  | { kind: "openapi-v2" }
  | { kind: "openapi-document"; group: string; version: string }
  | { kind: "unknown" };

const unknown: Route = { kind: "unknown" };

/** `pathname` as in the request line, still percent-encoded. */
export function routeOf(pathname: string): Route {
  const parts = decodedParts(pathname);
  if (parts === undefined) return unknown;
  const [first = "", ...rest] = parts;
  switch (first) {
    case "api":
      return rest.length === 0 ? { kind: "core-versions" } : versionRoute("", rest);
    case "apis":
      return groupRoute(rest);
    case "openapi":
      return openapiRoute(rest);
    case "version":
      return rest.length === 0 ? { kind: "version" } : unknown;
    case "healthz":
    case "livez":
    case "readyz":
      return rest.length === 0 || (rest.length === 1 && rest[0] === "ping") ? { kind: "health" } : unknown;
    default:
      return unknown;
  }
}

/** Decoded as a whole, as the server does it: an encoded slash parts as any other. */
function decodedParts(pathname: string): string[] | undefined {
  try {
    return decodeURIComponent(pathname).replace(/^\//, "").replace(/\/+$/, "").split("/");
  } catch {
    return undefined;
  }
}

function groupRoute([group, ...rest]: readonly string[]): Route {
  if (group === undefined) return { kind: "groups" };
  return rest.length === 0 ? { kind: "group", group } : versionRoute(group, rest);
}

function versionRoute(group: string, [version = "", ...rest]: readonly string[]): Route {
  if (rest.length === 0) return { kind: "group-version", group, version };
  const path = resourcePath(rest);
  return path === undefined ? unknown : { kind: "resource", path: { group, version, ...path } };
}

// namespaces/{name}, its status and finalize are the Namespace itself; anything else after the name lies inside it.
function resourcePath(parts: readonly string[]): ObjectPath | undefined {
  const [first, namespace, third] = parts;
  if (first === "namespaces" && namespace !== undefined && third !== undefined && !isOfNamespace(parts)) {
    const inside = objectPath(parts.slice(2));
    return inside && { namespace, ...inside };
  }
  return objectPath(parts);
}

const isOfNamespace = (parts: readonly string[]): boolean =>
  parts.length === 3 && (parts[2] === "status" || parts[2] === "finalize");

function objectPath(parts: readonly string[]): ObjectPath | undefined {
  const [plural, name, ...subresource] = parts;
  if (plural === undefined || parts.includes("")) return undefined;
  return {
    plural,
    ...(name === undefined ? {} : { name }),
    // Only proxy paths go deeper, and those are refused by their first part.
    ...(subresource[0] === undefined ? {} : { subresource: subresource[0] }),
  };
}

function openapiRoute([version, ...rest]: readonly string[]): Route {
  if (version === "v2" && rest.length === 0) return { kind: "openapi-v2" };
  if (version !== "v3") return unknown;
  if (rest.length === 0) return { kind: "openapi" };
  const route = rest[0] === "api" ? versionRoute("", rest.slice(1)) : groupRoute(rest.slice(1));
  return route.kind === "group-version" ? { ...route, kind: "openapi-document" } : unknown;
}
