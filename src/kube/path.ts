// Where an object is served: Resource, key and options → the request's path. Pure.

import type { Resource } from "../api/meta.ts";
import type { ObjectKey, Subresource } from "../control/ports.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The collection; a namespaced kind without a namespace means all namespaces. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root =
    resource.group === ""
      ? `/api/${resource.version}`
      : `/apis/${segment(resource.group)}/${segment(resource.version)}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : "";
  return `${root}${scope}/${segment(resource.plural)}`;
}

export function objectPath(resource: Resource, key: ObjectKey, subresource?: Subresource): string {
  const path = `${collectionPath(resource, inNamespace(resource, key.namespace))}/${segment(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** A single object of a namespaced kind has no path without its namespace: better refused here than sent elsewhere. */
export function inNamespace(resource: Resource, namespace: string | undefined): string | undefined {
  if (!resource.namespaced) return undefined;
  if (namespace === undefined) throw new TypeError(`${resource.kind} is namespaced: say in which namespace.`);
  return namespace;
}

export function withQuery(path: string, query: Query): string {
  let text = path;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text += `${text === path ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

// An empty name would turn the delete of one object into the delete of all of them; dots would climb the path.
function segment(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`"${name}" is not a name in a request path.`);
  return encodeURIComponent(name);
}
