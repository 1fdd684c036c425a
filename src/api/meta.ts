// The shape that every Kubernetes object shares, and where a kind is served.

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type ObjectMeta = {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  /** RFC 3339, whole seconds. */
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
  selfLink?: string;
};

/** Any object as the API serves it. Typed kinds are type aliases, so that they are assignable to this one. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
};

/** What a person or a client writes: the server fills in the rest of the metadata. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: Partial<ObjectMeta>;
  [field: string]: unknown;
};

/** Where a kind is served: all that a URL needs. The core group is the empty string. */
export type Resource = {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
};

export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** "karpenter.sh/v1" → group and version; "v1" is the core group. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
