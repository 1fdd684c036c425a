// What kubectl asks first: which groups, versions and kinds there are. Each group by itself, and all of them at once in
// the aggregated form. Made from the served kinds and nothing else.

import { apiVersionOf } from "../../api/meta.ts";
import type { Subresource } from "../../control/ports.ts";
import type { ServedKind } from "../kind.ts";

type Json = Record<string, unknown>;
type Kinds = Iterable<ServedKind>;

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/** The same, in the order in which the real server lists those of custom kinds. */
const customVerbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

// The order in which kubectl prefers a group when two have a kind of the same name: as the real server lists them.
const builtInGroups = [
  "apps",
  "events.k8s.io",
  "batch",
  "policy",
  "storage.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
];

/** GET /api. */
export function coreVersions(serverAddress: string): Json {
  const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
}

/** GET /apis. */
export function groupList(kinds: Kinds): Json {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groupNames(kinds).map(name => group(kinds, name)) };
}

/** GET /apis/{group}; undefined if no kind of it is served. */
export function apiGroup(kinds: Kinds, name: string): Json | undefined {
  return groupNames(kinds).includes(name) ? { kind: "APIGroup", apiVersion: "v1", ...group(kinds, name) } : undefined;
}

/** GET /api/v1, GET /apis/{group}/{version}; undefined if no kind of it is served. */
export function resourceList(kinds: Kinds, groupVersion: string): Json | undefined {
  const served = kindsOf(kinds, groupVersion);
  if (served.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion,
    resources: served.flatMap(kind => [resourceOf(kind), ...kind.subresources.map(sub => subresourceOf(kind, sub))]),
  };
}

/** GET /api and GET /apis as `APIGroupDiscoveryList`. */
export function aggregated(kinds: Kinds, { core, version }: { core: boolean; version: string }): Json {
  const names = core ? [""] : groupNames(kinds);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: names.map(name => ({
      metadata: name === "" ? {} : { name },
      versions: versionsOf(kinds, name).map(served => ({
        version: served,
        resources: kindsOf(kinds, apiVersionOf({ group: name, version: served })).map(aggregatedResource),
        freshness: "Current",
      })),
    })),
  };
}

function groupNames(kinds: Kinds): string[] {
  const names = new Set([...kinds].map(kind => kind.resource.group));
  const custom = [...names].filter(name => name !== "" && !builtInGroups.includes(name)).sort();
  return [...builtInGroups.filter(name => names.has(name)), ...custom];
}

function group(kinds: Kinds, name: string): Json {
  const versions = versionsOf(kinds, name).map(version => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function versionsOf(kinds: Kinds, group: string): string[] {
  const versions = [...kinds].filter(kind => kind.resource.group === group).map(kind => kind.resource.version);
  return [...new Set(versions)].sort(byStability);
}

function kindsOf(kinds: Kinds, groupVersion: string): ServedKind[] {
  return [...kinds]
    .filter(kind => apiVersionOf(kind.resource) === groupVersion)
    .sort((a, b) => (a.resource.plural < b.resource.plural ? -1 : 1));
}

/** v2 before v1 before v1beta2 before v1alpha1 before what is no version, as Kubernetes orders them. */
export function byStability(a: string, b: string): number {
  const [rankA, rankB] = [stability(a), stability(b)];
  for (const [index, value] of rankA.entries()) {
    if (value !== rankB[index]) return rankB[index]! - value; // both have three places
  }
  return a < b ? -1 : Number(a > b);
}

function stability(version: string): [level: number, major: number, minor: number] {
  const [, major, level = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return [0, 0, 0];
  return [{ alpha: 1, beta: 2 }[level] ?? 3, Number(major), Number(minor)];
}

function resourceOf(kind: ServedKind): Json {
  return {
    name: kind.resource.plural,
    singularName: kind.singular,
    namespaced: kind.resource.namespaced,
    kind: kind.resource.kind,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
  };
}

// Namespaces are deleted one by one, in the real server too.
function verbsOf(kind: ServedKind): string[] {
  if (!kind.strategic) return customVerbs;
  return kind.resource.kind === "Namespace" ? verbs.filter(verb => verb !== "deletecollection") : verbs;
}

type SubresourceKind = { group?: string; version?: string; kind: string; verbs: string[] };

function subresourceKind(kind: ServedKind, subresource: Subresource): SubresourceKind {
  const change = ["get", "patch", "update"];
  switch (subresource) {
    case "status":
      return { kind: kind.resource.kind, verbs: change };
    case "scale":
      return { group: "autoscaling", version: "v1", kind: "Scale", verbs: change };
    case "eviction":
      return { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] };
    case "binding":
      return { kind: "Binding", verbs: ["create"] };
  }
}

function subresourceOf(kind: ServedKind, subresource: Subresource): Json {
  const { resource } = kind;
  const name = `${resource.plural}/${subresource}`;
  return { name, singularName: "", namespaced: resource.namespaced, ...subresourceKind(kind, subresource) };
}

function aggregatedResource(kind: ServedKind): Json {
  const { group, version, plural, namespaced } = kind.resource;
  return {
    resource: plural,
    responseKind: { group, version, kind: kind.resource.kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(kind.subresources.length > 0 && {
      subresources: kind.subresources.map(subresource => {
        const { verbs, ...responseKind } = { group, version, ...subresourceKind(kind, subresource) };
        return { subresource, responseKind, verbs };
      }),
    }),
  };
}
