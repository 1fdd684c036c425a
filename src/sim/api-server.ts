// The embedded API server: one request in, one answer out. It routes to the verbs and turns refusals into Statuses;
// what each verb means is in its own module.

import type { KubeObject } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import type { Clock } from "../control/ports.ts";
import { type Backend, find, get, type Target } from "./backend.ts";
import { Bookmarks } from "./bookmarks.ts";
import { isCrd } from "./crd.ts";
import { CrdController } from "./crd-controller.ts";
import { crdRules } from "./crd-rules.ts";
import { decodeBody, refuseOtherVersion } from "./decode.ts";
import { deleteResponse, remove } from "./delete.ts";
import { deleteOptionsOf } from "./delete-options.ts";
import { DisruptionBudgets } from "./disruption-budgets.ts";
import { EventExpiry } from "./event-expiry.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import type { ServedKind } from "./kind.ts";
import { list, refuseVersion, versionOrFailure } from "./list.ts";
import { NamespaceController } from "./namespace-controller.ts";
import { isNamespace, requireNamespace } from "./namespaces.ts";
import { dedupeOwners, settleNamespace } from "./object-meta.ts";
import { refuseOptions } from "./options.ts";
import { patched } from "./patch.ts";
import type { Random } from "./random.ts";
import { badRequest, noSuchResource, verbNotAllowed } from "./refusal.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";
import { selectionOf } from "./selection.ts";
import { collectionOf, ServedKinds } from "./served-kinds.ts";
import { Siblings } from "./siblings.ts";
import { Store, type StoreOptions } from "./store.ts";
import type { StoredObject } from "./stored.ts";
import { handleSubresource } from "./subresources.ts";
import { watch } from "./watch.ts";
import { checkName, create, update } from "./write.ts";

/** Watches without a time-out of their own end after one to two times this, as on a real server. */
const watchTimeoutMinMs = 30 * 60_000;

export type ApiServerOptions = {
  clock: Clock;
  random: Random;
  kinds: Iterable<ServedKind>;
  store?: StoreOptions;
  /** False: an API server alone, without garbage collection, namespace deletion and the status of disruption budgets. */
  controllers?: boolean;
};

export class ApiServer {
  readonly kinds: ServedKinds;
  readonly store: Store;
  readonly #backend: Backend;
  readonly #bookmarks: Bookmarks;

  constructor({ clock, random, kinds, store, controllers = true }: ApiServerOptions) {
    this.kinds = new ServedKinds([...kinds].map(withOwnRules));
    this.store = new Store(store);
    for (const kind of this.kinds.all()) {
      if (kind.indexedField !== undefined) collectionOf(this.store, kind).indexBy(kind.indexedField);
    }
    this.#backend = { store: this.store, kinds: this.kinds, clock, random, siblings: new Siblings() };
    this.#bookmarks = new Bookmarks(clock, this.store);
    new CrdController(this.#backend).start();
    new EventExpiry(this.#backend).start();
    if (!controllers) return;
    new GarbageCollector(this.#backend).start();
    new NamespaceController(this.#backend).start();
    new DisruptionBudgets(this.#backend).start();
  }

  /** Never throws for what a client sent: a refusal is an answer. */
  handle(request: ApiRequest): ApiResponse {
    // Warnings reach the client also when the write is refused in the end.
    const warnings: string[] = [];
    try {
      return this.#answer(request, warnings);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { kind: "status", code: error.code, status: error.status, warnings };
    }
  }

  #answer(request: ApiRequest, warnings: string[]): ApiResponse {
    const kind = this.kinds.find(request);
    if (kind === undefined) throw noSuchResource();
    if (kind.resource.namespaced && request.namespace === undefined && !allNamespaces(request)) throw noSuchResource();
    if (request.verb === "deletecollection" && isNamespace(kind)) throw verbNotAllowed();
    refuseOptions(request);
    if (request.subresource !== undefined) return handleSubresource(this.#backend, kind, { request, warnings });
    switch (request.verb) {
      case "get":
        return this.#get(targetOf(kind, request), request);
      case "list":
        return list(this.store, kind, selectionOf(kind, request), request.options);
      case "watch":
        return this.#watch(kind, request);
      case "create":
        return this.#create(kind, request, warnings);
      case "update":
        return this.#update(targetOf(kind, request), request, warnings);
      case "patch":
        return this.#patch(targetOf(kind, request), request, warnings);
      case "delete":
        return this.#delete(targetOf(kind, request), request);
      case "deletecollection":
        return this.#deleteCollection(kind, request);
    }
  }

  #get(target: Target, { options }: ApiRequest): ApiResponse {
    refuseVersion(this.store, options);
    return answer(get(this.#backend, target));
  }

  #watch(kind: ServedKind, request: ApiRequest): ApiResponse {
    versionOrFailure(request.options.resourceVersion);
    const { store } = this;
    const { clock, random } = this.#backend;
    const { timeoutSeconds = 0 } = request.options;
    const timeoutMs = timeoutSeconds !== 0 ? timeoutSeconds * 1000 : watchTimeoutMinMs * (1 + random() / 2 ** 32);
    const watched = { store, clock, bookmarks: this.#bookmarks, kind, selection: selectionOf(kind, request) };
    return watch(watched, request.options, timeoutMs);
  }

  #create(kind: ServedKind, { namespace, name, body, options }: ApiRequest, warnings: string[]): ApiResponse {
    if (name !== undefined) throw verbNotAllowed();
    const { object, warnings: found } = decodeBody(kind, body, { validation: options.fieldValidation });
    warnings.push(...found);
    refuseOtherVersion(kind, object);
    settleNamespace(object, kind, namespace);
    warnings.push(...dedupeOwners(object));
    const stored = create(this.#backend, { kind, namespace }, object, { dryRun: options.dryRun === true, warnings });
    return answer(stored, { code: 201, warnings });
  }

  #update(target: Target, { body, options }: ApiRequest, warnings: string[]): ApiResponse {
    const { object, warnings: found } = decodeBody(target.kind, body, {
      validation: options.fieldValidation,
      existing: find(this.#backend, target)?.object,
    });
    warnings.push(...found);
    refuseOtherVersion(target.kind, object);
    settleNamespace(object, target.kind, target.namespace);
    checkName(object, target.name);
    warnings.push(...dedupeOwners(object));
    requireNamespace(this.#backend, target);
    const { uid } = object.metadata;
    const written = update(this.#backend, target, () => object, { dryRun: options.dryRun === true, uid, warnings });
    return answer(written.stored, { code: written.created ? 201 : 200, warnings });
  }

  #patch(target: Target, request: ApiRequest, warnings: string[]): ApiResponse {
    const { stored } = update(
      this.#backend,
      target,
      existing => {
        // A patch never creates, so it is always given what exists.
        const outcome = patched(target.kind, existing as KubeObject, request);
        warnings.push(...outcome.warnings);
        settleNamespace(outcome.object, target.kind, target.namespace);
        checkName(outcome.object, target.name);
        warnings.push(...dedupeOwners(outcome.object, { isPatch: true }));
        return outcome.object;
      },
      { dryRun: request.options.dryRun === true, isPatch: true, warnings },
    );
    return answer(stored, { warnings });
  }

  #delete(target: Target, request: ApiRequest): ApiResponse {
    const options = deleteOptionsOf(request);
    return deleteResponse(target, remove(this.#backend, target, options), options);
  }

  #deleteCollection(kind: ServedKind, request: ApiRequest): ApiResponse {
    const options = deleteOptionsOf(request);
    const selected = list(this.store, kind, selectionOf(kind, request), request.options);
    for (const { object } of selected.items) {
      const { namespace, name } = object.metadata;
      remove(this.#backend, { kind, namespace, name }, options);
    }
    return selected;
  }
}

/** What a CustomResourceDefinition means is known here, not where its shape is. */
function withOwnRules(kind: ServedKind): ServedKind {
  return isCrd(kind) ? { ...kind, rules: { ...kind.rules, ...crdRules } } : kind;
}

/** Only reading crosses namespaces. */
function allNamespaces({ verb, name }: ApiRequest): boolean {
  return (verb === "list" || verb === "watch") && name === undefined;
}

function targetOf(kind: ServedKind, { namespace, name }: ApiRequest): Target {
  if (name === undefined || name === "") throw badRequest("name must be provided");
  return { kind, namespace: kind.resource.namespaced ? namespace : undefined, name };
}

function answer(stored: StoredObject, more: { code?: 200 | 201; warnings?: readonly string[] } = {}): ApiResponse {
  return { kind: "object", code: more.code ?? 200, stored, warnings: more.warnings ?? [] };
}
