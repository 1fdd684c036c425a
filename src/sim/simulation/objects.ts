// The objects of the simulated cluster as they are stored: how a scenario names them and how invariants read them,
// without any cache or view in between.

import { apiVersionOf, type KubeObject, type Manifest, type Resource } from "../../api/meta.ts";
import { matches, type Selector } from "../../api/selector.ts";
import { parseSelector } from "../../api/selector-text.ts";
import { ApiError } from "../../api/status.ts";
import type { ApiServer } from "../api-server.ts";
import type { ApiRequest } from "../request.ts";
import { collectionOf } from "../served-kinds.ts";
import type { Collection } from "../store.ts";
import type { StoredObject } from "../stored.ts";
import { ObjectIndex } from "./object-index.ts";
import type { Objects } from "./scenario.ts";

export class ClusterObjects {
  readonly #server: ApiServer;
  /** By collection, and by what they are asked for; made when somebody asks. */
  readonly #indexes = new Map<string, Map<string, ObjectIndex>>();

  constructor(server: ApiServer) {
    this.#server = server;
    server.store.onChange(({ name }, change) => {
      for (const index of this.#indexes.get(name)?.values() ?? []) index.changed(change);
    });
  }

  /** Of a kind by its name; undefined: the cluster serves none so called. */
  resource(kind: string, apiVersion?: string): Resource | undefined {
    for (const { resource } of this.#server.kinds.stored()) {
      if (resource.kind === kind && (apiVersion === undefined || apiVersionOf(resource) === apiVersion))
        return resource;
    }
    return undefined;
  }

  /** Of all kinds whose plural ends so, whoever has installed them. */
  *ofPlural(end: string): Generator<KubeObject> {
    for (const { resource } of this.#server.kinds.stored()) {
      if (resource.plural.endsWith(end)) yield* this.all(`${resource.plural}.${resource.group}`);
    }
  }

  /** "nodes", "nodeclaims.karpenter.sh": in the order of their names. */
  *all<T extends KubeObject = KubeObject>(collection: string): Generator<T> {
    for (const { object } of this.#server.store.collection(collection).all()) yield object as T;
  }

  podsOn<T extends KubeObject = KubeObject>(nodeName: string): T[] {
    const pods = this.#server.store.collection("pods");
    const keys = this.#index(pods, "node", ({ object }) => nodeOf(object)).keys(nodeName);
    return keys.flatMap(key => (pods.get(key)?.object as T | undefined) ?? []);
  }

  get(collection: string, key: string): KubeObject | undefined {
    return this.#server.store.collection(collection).get(key)?.object;
  }

  /** Those that a scenario means, the oldest first. */
  find({ kind, name, namespace = "default", selector = "", count }: Objects): KubeObject[] {
    const served = [...this.#server.kinds.stored()].find(({ resource }) => resource.kind === kind);
    if (served === undefined) throw new Error(`the cluster serves no kind ${kind}`);
    const parsed = parseSelector(selector);
    if (!parsed.ok) throw new Error(parsed.error);
    const collection = collectionOf(this.#server.store, served);
    const prefix = served.resource.namespaced ? `${namespace}/` : "";
    const found: KubeObject[] = [];
    for (const key of name === undefined ? this.#keys(collection, prefix, parsed.value) : [prefix + name]) {
      const object = collection.get(key)?.object;
      if (object !== undefined && matches(parsed.value, object.metadata.labels)) found.push(object);
    }
    return found.sort(byAge).slice(0, count);
  }

  /** Of all that may match, in order: by a label whose value the selector names, if it names one. */
  #keys(collection: Collection, prefix: string, selector: Selector): Iterable<string> {
    const exact = selector.find(({ operator }) => operator === "=" || operator === "==");
    const [value] = exact?.values ?? [];
    if (exact === undefined || value === undefined) return collection.keys.range(prefix);
    const index = this.#index(collection, `label ${exact.key}`, ({ labels }) => labels?.[exact.key]);
    return index.keys(value).filter(key => key.startsWith(prefix));
  }

  #index(collection: Collection, what: string, valueOf: (stored: StoredObject) => string | undefined): ObjectIndex {
    const known = this.#indexes.get(collection.name) ?? new Map<string, ObjectIndex>();
    this.#indexes.set(collection.name, known);
    const index = known.get(what) ?? new ObjectIndex(collection, valueOf);
    known.set(what, index);
    return index;
  }

  /** What a person does with kubectl: a refusal is thrown as ApiError. */
  request(object: Pick<KubeObject, "kind"> & Manifest, request: Partial<ApiRequest> & Pick<ApiRequest, "verb">): void {
    const resource = this.resource(object.kind, object.apiVersion);
    if (resource === undefined) {
      const message = `the cluster serves no ${object.kind} of ${object.apiVersion}`;
      const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
      throw new ApiError({ ...head, code: 404, reason: "NotFound", message });
    }
    const { group, version, plural, namespaced } = resource;
    const namespace = namespaced ? { namespace: object.metadata.namespace ?? "default" } : {};
    const answer = this.#server.handle({ group, version, plural, ...namespace, options: {}, ...request });
    if (answer.kind === "status" && answer.status.status === "Failure") throw new ApiError(answer.status);
  }

  /** Made, or merged into what is there. */
  apply(manifest: Manifest): void {
    try {
      this.request(manifest, { verb: "create", body: structuredClone(manifest) });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
      this.patch(manifest, manifest);
    }
  }

  patch(object: Manifest, merge: object, subresource?: "status"): void {
    const { name = "" } = object.metadata;
    const part = subresource === undefined ? {} : { subresource };
    this.request(object, { verb: "patch", name, patchType: "merge", body: structuredClone(merge), ...part });
  }

  delete(object: Manifest): void {
    this.request(object, { verb: "delete", name: object.metadata.name ?? "", body: {} });
  }
}

function nodeOf(pod: KubeObject): string | undefined {
  return (pod.spec as { nodeName?: string } | undefined)?.nodeName;
}

// As times of one form sort as texts, and by code unit: by locale it takes longer than all the rest.
function byAge({ metadata: { creationTimestamp: a } }: KubeObject, { metadata: { creationTimestamp: b } }: KubeObject) {
  return a < b ? -1 : a > b ? 1 : 0;
}
