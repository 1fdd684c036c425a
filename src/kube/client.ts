// The Kubernetes API over HTTP: each verb of KubeApi as one request. Decides nothing about what is asked.

import { apiVersionOf, type KubeObject, type Manifest, type Resource } from "../api/meta.ts";
import { ApiError, type Status } from "../api/status.ts";
import type { Instant } from "../api/time.ts";
import type {
  Clock,
  DeleteOptions,
  Fence,
  KubeApi,
  List,
  ListOptions,
  PatchBody,
  WatchHandlers,
  WatchOptions,
  WriteOptions,
} from "../control/ports.ts";
import { type Caller, type CallerParts, caller, httpRequest } from "./caller.ts";
import { connections } from "./connections.ts";
import { DecodeError } from "./errors.ts";
import { identitySource } from "./identity.ts";
import type { ClusterConfig } from "./kubeconfig.ts";
import { collectionPath, inNamespace, objectPath } from "./path.ts";
import { openWatch, type WatchStream } from "./watch-stream.ts";

// Bookmarks come every minute on an idle watch; the reflector's own watchdog is a little quicker than this.
const SILENCE_MAX_MS = 100_000;

export type ConnectOptions = {
  clock: Clock;
  /** With it every write is held to the leader's lease. The elector's own client has none. */
  fence?: Fence;
  userAgent?: string;
  /** Owner of the fields that we write; Kubernetes shows it in managedFields. */
  fieldManager?: string;
  /** Compressed answers: worth it over slow links only. */
  gzip?: boolean;
  /** What a credential plugin inherits; without PATH only one named by its path is found. */
  env?: Readonly<Record<string, string | undefined>>;
  onWarning?: (text: string, path: string) => void;
  /** Told the Date of each answer, and when by our clock its request was sent. */
  onDate?: (date: string | undefined, sentAt: Instant) => void;
  random?: () => number;
};

export type Connection = KubeApi & {
  /** GET of any path that answers JSON: /version, discovery, OpenAPI. */
  raw(path: string): Promise<unknown>;
  /** Ends watches in good order and fails what is under way. */
  close(): Promise<void>;
};

/** Nothing is read or opened before the first request; what is broken in `config` rejects that one (ConfigError). */
export function connect(config: ClusterConfig, options: ConnectOptions): Connection {
  const parts: CallerParts = {
    connections: connections(config),
    identities: identitySource(config, { clock: options.clock, env: options.env ?? {} }),
    clock: options.clock,
    fence: options.fence,
    random: options.random ?? Math.random,
    basePath: new URL(config.server).pathname.replace(/\/+$/, ""),
    headers: {
      accept: "application/json",
      "user-agent": options.userAgent ?? "fettle",
      ...(options.gzip === true ? { "accept-encoding": "gzip" } : {}),
    },
    onWarning: options.onWarning ?? (() => {}),
    onDate: options.onDate ?? (() => {}),
  };
  const call = caller(parts);
  const watches = new Set<WatchStream>();

  return {
    ...reads(call),
    ...writes(call, options.fieldManager ?? "fettle"),
    watch<T extends KubeObject>(resource: Resource, watchOptions: WatchOptions, handlers: WatchHandlers<T>) {
      const watching = { parts, resource, options: watchOptions, handlers: handlers as WatchHandlers<KubeObject> };
      const watch = startWatch(watching, () => watches.delete(watch));
      watches.add(watch);
      return watch;
    },
    raw: path => call({ method: "GET", path }),
    async close() {
      for (const watch of watches) watch.close();
      await parts.connections.close();
    },
  };
}

function reads(call: Caller): Pick<KubeApi, "get" | "list"> {
  return {
    async get<T>(...[resource, key, options = {}]: Parameters<KubeApi["get"]>) {
      const { subresource, resourceVersion, signal, timeoutMs } = options;
      const path = objectPath(resource, key, subresource);
      return (await call({ method: "GET", path, query: { resourceVersion }, signal, timeoutMs })) as T;
    },
    async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}) {
      const { namespace, signal, ...query } = options;
      return listOf<T>(
        await call({ method: "GET", path: collectionPath(resource, namespace), query, signal }),
        resource,
      );
    },
  };
}

function writes(call: Caller, fieldManager: string): Omit<KubeApi, "get" | "list" | "watch"> {
  const write = async <T>(
    method: "POST" | "PUT" | "PATCH",
    path: string,
    { body, options = {}, contentType }: { body: unknown; options?: WriteOptions | undefined; contentType?: string },
  ): Promise<T> => {
    const { subresource, signal, timeoutMs, dryRun, fieldValidation } = options;
    const query = {
      fieldManager: options.fieldManager ?? fieldManager,
      fieldValidation,
      dryRun: dryRun ? "All" : undefined,
    };
    const answers429 = subresource === "eviction";
    const content = contentType === undefined ? {} : { contentType };
    return (await call({ method, path, query, body, signal, timeoutMs, answers429, ...content })) as T;
  };

  return {
    create(resource, { name, namespace }, object, options) {
      const subresource = options?.subresource;
      const path =
        subresource === undefined
          ? collectionPath(resource, inNamespace(resource, namespace))
          : objectPath(resource, { name: name ?? "", ...(namespace === undefined ? {} : { namespace }) }, subresource);
      return write("POST", path, { body: object, options });
    },
    update: (resource, key, object, options) =>
      write("PUT", objectPath(resource, key, options?.subresource), { body: object, options }),
    patch: (resource, key, patch, options) =>
      write("PATCH", objectPath(resource, key, options?.subresource), {
        body: patch.body,
        options,
        contentType: PATCH_TYPES[patch.type],
      }),
    async delete(resource, key, options = {}) {
      const { signal, timeoutMs } = options;
      const body = deleteOptions(options);
      return (await call({ method: "DELETE", path: objectPath(resource, key), body, signal, timeoutMs })) as
        | KubeObject
        | Status;
    },
    async deleteCollection(resource, { namespace, ...query }, options = {}) {
      const { signal, timeoutMs } = options;
      const path = collectionPath(resource, namespace);
      await call({ method: "DELETE", path, query, body: deleteOptions(options), signal, timeoutMs });
    },
  };
}

const PATCH_TYPES: Readonly<Record<PatchBody["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

function deleteOptions({ preconditions, gracePeriodSeconds, propagationPolicy, dryRun }: DeleteOptions): unknown {
  return {
    kind: "DeleteOptions",
    apiVersion: "v1",
    preconditions,
    gracePeriodSeconds,
    propagationPolicy,
    dryRun: dryRun ? ["All"] : undefined,
  };
}

type RawList = {
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items?: Manifest[] | null;
};

// Items of built-in kinds come without kind and apiVersion, which the list itself has.
function listOf<T extends KubeObject>(answer: unknown, resource: Resource): List<T> {
  const { metadata, items } = answer as RawList;
  if (metadata === undefined || items === undefined)
    throw new DecodeError(`The server's list of ${resource.plural} is none.`);
  const apiVersion = apiVersionOf(resource);
  for (const item of items ?? []) {
    item.apiVersion ??= apiVersion;
    item.kind ??= resource.kind;
  }
  return {
    items: (items ?? []) as T[],
    resourceVersion: metadata.resourceVersion ?? "",
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  };
}

type Watching = {
  parts: CallerParts;
  resource: Resource;
  options: WatchOptions;
  handlers: WatchHandlers<KubeObject>;
};

// The stream begins once we know as whom; until then closing only has to be remembered.
function startWatch({ parts, resource, options, handlers }: Watching, onEnd: () => void): WatchStream {
  const { namespace, gatherMs = 0, ...query } = options;
  const path = collectionPath(resource, namespace);
  let stream: WatchStream | undefined;
  let ended = false;
  const end = (error: Error | undefined): void => {
    if (ended) return;
    ended = true;
    onEnd();
    handlers.end(error);
  };
  const open = async (): Promise<void> => {
    const identity = await parts.identities.current();
    if (ended) return;
    stream = openWatch<KubeObject>(parts.connections.watches(identity.tls), {
      request: httpRequest(parts, { method: "GET", path, query: { ...query, watch: true } }, identity),
      secrets: identity.secrets,
      clock: parts.clock,
      gatherMs,
      silenceMaxMs: options.allowWatchBookmarks === true ? SILENCE_MAX_MS : 0,
      handlers: {
        event: event => handlers.event(event),
        end(error) {
          if (error instanceof ApiError && error.code === 401) parts.identities.refused(identity);
          end(error);
        },
      },
    });
  };
  open().catch(end);
  return {
    close() {
      if (stream === undefined) end(undefined);
      else stream.close();
    },
  };
}
