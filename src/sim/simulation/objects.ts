// The objects of the simulated cluster as they are stored: how a scenario names them and how invariants read them,
// without any cache or view in between.

import { apiVersionOf, type KubeObject, type Manifest, type Resource } from "../../api/meta.ts";
import { matches } from "../../api/selector.ts";
import { parseSelector } from "../../api/selector-text.ts";
import { ApiError } from "../../api/status.ts";
import type { ApiServer } from "../api-server.ts";
import type { ApiRequest } from "../request.ts";
import { collectionOf } from "../served-kinds.ts";
import type { Objects } from "./scenario.ts";

export class ClusterObjects {
  readonly #server: ApiServer;

  constructor(server: ApiServer) {
    this.#server = server;
  }

  /** Of a kind by its name; undefined: the cluster serves none so called. */
  resource(kind: string, apiVersion?: string): Resource | undefined {
    for (const { resource } of this.#server.kinds.stored()) {
      if (resource.kind === kind && (apiVersion === undefined || apiVersionOf(resource) === apiVersion))
        return resource;
    }
    return undefined;
  }

  /** "nodes", "nodeclaims.karpenter.sh": in the order of their names. */
  *all<T extends KubeObject = KubeObject>(collection: string): Generator<T> {
    for (const { object } of this.#server.store.collection(collection).all()) yield object as T;
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
    for (const key of name === undefined ? collection.keys.range(prefix) : [prefix + name]) {
      const object = collection.get(key)?.object;
      if (object !== undefined && matches(parsed.value, object.metadata.labels)) found.push(object);
    }
    return found.sort(byAge).slice(0, count);
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

// As times of one form sort as texts, and by code unit: by locale it takes longer than all the rest.
function byAge({ metadata: { creationTimestamp: a } }: KubeObject, { metadata: { creationTimestamp: b } }: KubeObject) {
  return a < b ? -1 : a > b ? 1 : 0;
}
