// What the shell needs from outside. Each port has a production adapter and one on the virtual clock.

import type { KubeObject, Manifest, Resource } from "../api/meta.ts";
import type { NodeClaim } from "../api/node-claim.ts";
import type { Status } from "../api/status.ts";
import type { Millis } from "../api/time.ts";
import type { NodeClassRef, ProviderView } from "../snapshot/picture.ts";
import type { Instance, ListedInstance, ProviderError } from "../snapshot/instance.ts";

/** An instant in milliseconds since the epoch, or a duration in milliseconds. */
export type Clock = {
  /** Wall time: for what is written into objects. */
  now(): number;
  /** Never jumps: for waiting, leases and time-outs. */
  monotonic(): number;
  /** Runs once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
};

export type ObjectKey = { name: string; namespace?: string };

export type ListOptions = {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
  signal?: AbortSignal;
};

export type List<T> = {
  items: T[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
};

export type WatchOptions = {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "NotOlderThan";
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
  /** Not for the server: events may wait for so long, so that more of them come at once. */
  gatherMs?: Millis;
};

export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | {
      type: "BOOKMARK";
      object: { metadata: { resourceVersion: string; annotations?: Record<string, string> } };
    }
  | { type: "ERROR"; object: Status };

export type WatchHandlers<T> = {
  /** Called synchronously, in stream order. A throw ends the watch and is handed to `end`. */
  event(event: WatchEvent<T>): void;
  /** Exactly once: `undefined` when the server ended the stream in good order or `close` was called. */
  end(error: Error | undefined): void;
};

export type Subresource = "status" | "scale" | "eviction" | "binding";

export type WriteOptions = {
  subresource?: Subresource;
  fieldManager?: string;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  dryRun?: boolean;
  signal?: AbortSignal;
  /** At most this long; a fenced client makes it shorter than what is left of its lease. */
  timeoutMs?: number;
};

export type PatchBody =
  | { type: "merge"; body: unknown }
  | { type: "json"; body: readonly JsonPatchOperation[] }
  | { type: "strategic"; body: unknown };

export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

export type DeleteOptions = Omit<WriteOptions, "subresource" | "fieldValidation"> & {
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
};

/** The leader's lease as its writes see it. */
export type Fence = {
  /** Of the term we hold; undefined: we hold none. A write belongs to the term in which it was decided. */
  readonly epoch: number | undefined;
  /** For how long no other process can hold the lease; 0 or less: we do not hold it. */
  remainingMs(): number;
  /**
   * A write goes to the socket now. Call the result once its answer has come; a write without one keeps the lease from
   * being given back before its time, since it may still land.
   */
  enter(): () => void;
};

/**
 * A Kubernetes API, by HTTP (src/kube) or in process (src/sim). A refusal by the server rejects with ApiError
 * (src/api/status.ts); anything that leaves the result unknown (reset, time-out) rejects with another Error.
 */
export type KubeApi = {
  get<T extends KubeObject = KubeObject>(
    resource: Resource,
    key: ObjectKey,
    options?: { subresource?: Subresource; resourceVersion?: string; signal?: AbortSignal; timeoutMs?: number },
  ): Promise<T>;
  list<T extends KubeObject = KubeObject>(resource: Resource, options?: ListOptions): Promise<List<T>>;
  watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: WatchOptions,
    handlers: WatchHandlers<T>,
  ): { close(): void };
  /** POST. With a subresource (`eviction`, `binding`) `key.name` is the parent and `object` its body. */
  create<T extends KubeObject = KubeObject>(
    resource: Resource,
    key: { name?: string; namespace?: string },
    object: Manifest,
    options?: WriteOptions,
  ): Promise<T>;
  update<T extends KubeObject = KubeObject>(
    resource: Resource,
    key: ObjectKey,
    object: Manifest,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends KubeObject = KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: PatchBody,
    options?: WriteOptions,
  ): Promise<T>;
  /** The object as it is now while finalizers or grace hold it, else the server's Status. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<KubeObject | Status>;
  deleteCollection(
    resource: Resource,
    selection: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">,
    options?: DeleteOptions,
  ): Promise<void>;
};

/** Keeps one kind in step with the API for as long as it runs (src/kube/reflector.ts). */
export type Feed = <T>(options: {
  resource: Resource;
  selection?: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">;
  /** Each event is wanted at once. Others may wait a moment, so that more of them come together. */
  isUrgent?: boolean;
  /** Without it the process is ready all the same: whoever asked for it says what is missing. */
  isOptional?: boolean;
  /** Returning `previous` says that nothing of interest has changed: no handler is called. */
  project: (raw: KubeObject, previous: T | undefined) => T;
  handlers: {
    added(value: T): void;
    updated(value: T, previous: T): void;
    deleted(value: T): void;
    synced?(): void;
  };
}) => Fed;

export type Fed = {
  readonly synced: boolean;
  /** Since the last event or bookmark. */
  ageMs(): number;
  /** What ended the last watch or list, until one works again. */
  readonly lastError?: Error | undefined;
  stop(): void;
};

export type LaunchRequest = {
  claim: NodeClaim;
  /** The claim's, or the provider's default. */
  nodeClass: NodeClassRef;
  /** Tag of the cluster; with the claim's uid it makes a second call find the first one's instance. */
  cluster: string;
};

export type CallOptions = { signal?: AbortSignal };

/** Where machines come from. Errors are values; a rejected promise means the same as Unknown. */
export type InstanceProvider = {
  readonly view: ProviderView;
  /** Told whenever something in `view` has changed. */
  onChange(changed: () => void): void;
  /** Launches the instance of a claim, or finds the one that an earlier call launched. */
  create(request: LaunchRequest, options?: CallOptions): Promise<Instance | ProviderError>;
  get(providerID: string, options?: CallOptions): Promise<Instance | "gone" | ProviderError>;
  /** Those of the cluster, or an error: never a part of them. */
  list(cluster: string, options?: CallOptions): Promise<readonly ListedInstance[] | ProviderError>;
  /** Asks for its end, as often as one likes. */
  delete(providerID: string, options?: CallOptions): Promise<"terminating" | "gone" | ProviderError>;
  /**
   * Asks for a reboot, once for each token (the uid of the action that wants it): with one that it has taken before, the
   * provider answers `rebooting` and does nothing, however long ago that was and whoever asked. What it has taken stands
   * with the instance before the machine goes down, so that a caller who was killed in between may ask again.
   */
  reboot(providerID: string, token: string, options?: CallOptions): Promise<"rebooting" | "gone" | ProviderError>;
  stop(): void;
};
