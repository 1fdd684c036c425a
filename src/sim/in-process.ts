// KubeApi on the embedded server, without HTTP: every answer and every event comes over the clock, so a run on virtual
// time is the same each time. Objects are handed out frozen: whoever wants another one makes a copy.

import type { KubeObject, Manifest, Resource } from "../api/meta.ts";
import { ApiError, type Status } from "../api/status.ts";
import type {
  Clock,
  DeleteOptions,
  KubeApi,
  List,
  ListOptions,
  ObjectKey,
  PatchBody,
  WatchEvent,
  WatchHandlers,
  WatchOptions,
  WriteOptions,
} from "../control/ports.ts";
import type { ApiServer } from "./api-server.ts";
import { deepCopy, deepFreeze } from "./json-value.ts";
import type { ApiRequest, ApiResponse, RequestOptions, StoredEvent } from "./request.ts";

type Call = Omit<ApiRequest, "group" | "version" | "plural" | "options"> & { options?: RequestOptions };
type Limits = { signal?: AbortSignal; timeoutMs?: number };

export class InProcessApi implements KubeApi {
  readonly #server: Pick<ApiServer, "handle">;
  readonly #clock: Clock;

  constructor(server: Pick<ApiServer, "handle">, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  async get<T extends KubeObject>(resource: Resource, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { subresource, resourceVersion } = options;
    const call = { verb: "get", ...key, ...(subresource && { subresource }) } as const;
    return objectOf(await this.#call(resource, { options: only({ resourceVersion }), ...call }, options)) as T;
  }

  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<List<T>> {
    const { namespace, signal, ...query } = options;
    const call: Call = { verb: "list", ...only({ namespace }), options: query };
    const answer = refusedOr(await this.#call(resource, call, only({ signal })));
    if (answer.kind !== "list") throw unexpected(answer);
    const { resourceVersion, remainingItemCount } = answer;
    const items = answer.items.map(({ object }) => deepFreeze(object) as T);
    return { items, resourceVersion, ...only({ continue: answer.continue, remainingItemCount }) };
  }

  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    handlers: WatchHandlers<T>,
  ): { close(): void } {
    const { namespace, ...query } = options;
    const stream = new Stream(this.#clock, handlers);
    this.#clock.after(0, () => {
      if (stream.isClosed) return;
      const answer = this.#handle(resource, { verb: "watch", ...only({ namespace }), options: query });
      if (answer.kind === "watch") stream.follow(answer);
      else stream.close(answer.kind === "status" ? new ApiError(answer.status) : unexpected(answer));
    });
    return { close: () => stream.close(undefined) };
  }

  async create<T extends KubeObject>(
    resource: Resource,
    key: { name?: string; namespace?: string },
    object: Manifest,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write(resource, { verb: "create", ...key, body: deepCopy(object) }, options);
  }

  async update<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    object: Manifest,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write(resource, { verb: "update", ...key, body: deepCopy(object) }, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: PatchBody,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#write(resource, { verb: "patch", ...key, patchType: patch.type, body: patch.body }, options);
  }

  async delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<KubeObject | Status> {
    const answer = await this.#call(resource, { verb: "delete", ...key, ...deleteBody(options) }, options);
    if (answer.kind === "status" && answer.status.status === "Success") return answer.status;
    return objectOf(answer);
  }

  async deleteCollection(
    resource: Resource,
    selection: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { namespace, ...query } = selection;
    const call: Call = { verb: "deletecollection", ...only({ namespace }), ...deleteBody(options), options: query };
    refusedOr(await this.#call(resource, call, options));
  }

  async #write<T extends KubeObject>(resource: Resource, call: Call, options: WriteOptions): Promise<T> {
    const { subresource, fieldManager, fieldValidation, dryRun } = options;
    const query = only({ fieldManager, fieldValidation, dryRun });
    const asked = { options: query, ...only({ subresource }), ...call };
    const answer = await this.#call(resource, asked, options);
    // A binding and an eviction answer with a Status; whoever posts one does not look at it.
    if (answer.kind === "status" && answer.status.status === "Success") return answer.status as unknown as T;
    return objectOf(answer) as T;
  }

  #call(resource: Resource, call: Call, { signal }: Limits): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortReason(signal));
      const cancel = this.#clock.after(0, () => {
        signal?.removeEventListener("abort", abort);
        resolve(this.#handle(resource, call));
      });
      const abort = () => {
        cancel();
        // Only registered when there is a signal.
        reject(abortReason(signal as AbortSignal));
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #handle({ group, version, plural }: Resource, call: Call): ApiResponse {
    return this.#server.handle({ group, version, plural, ...call, options: call.options ?? {} });
  }
}

type GetOptions = NonNullable<Parameters<KubeApi["get"]>[2]>;

/** Events in order, a batch a tick; what a handler throws ends the watch. */
class Stream<T extends KubeObject> {
  readonly #clock: Clock;
  readonly #handlers: WatchHandlers<T>;
  #pending: StoredEvent[] = [];
  #ended: { status: Status | undefined } | undefined;
  #isScheduled = false;
  #cancel: () => void = () => {};
  isClosed = false;

  constructor(clock: Clock, handlers: WatchHandlers<T>) {
    this.#clock = clock;
    this.#handlers = handlers;
  }

  follow(watch: Extract<ApiResponse, { kind: "watch" }>): void {
    this.#cancel = watch.start({
      events: events => {
        for (const event of events) this.#pending.push(event); // too many for a spread, at times
        // A bookmark alone comes from a timer of its own, thousands of times a day: it needs no second one.
        if (this.#pending.length === 1 && events[0]?.type === "BOOKMARK" && !this.#isScheduled) this.#deliver();
        else this.#schedule();
      },
      end: status => {
        this.#ended = { status };
        this.#schedule();
      },
    });
    // Whoever wanted no more than the first bookmark.
    if (this.isClosed) this.#cancel();
  }

  close(error: Error | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#cancel();
    this.#handlers.end(error);
  }

  #schedule(): void {
    if (this.#isScheduled || this.isClosed) return;
    this.#isScheduled = true;
    this.#clock.after(0, () => this.#deliver());
  }

  #deliver(): void {
    this.#isScheduled = false;
    const events = this.#pending;
    this.#pending = [];
    try {
      for (const event of events) {
        if (this.isClosed) return;
        this.#handlers.event(delivered(event));
      }
      if (this.#ended === undefined || this.isClosed) return;
      if (this.#ended.status !== undefined) this.#handlers.event({ type: "ERROR", object: this.#ended.status });
      this.close(undefined);
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** What kind of object it is, only the caller knows. */
function delivered({ type, stored }: StoredEvent): WatchEvent<never> {
  const object: unknown = deepFreeze(stored.object);
  return { type, object: object as never };
}

function objectOf(answer: ApiResponse): KubeObject {
  if (answer.kind === "object") return deepFreeze(answer.stored.object);
  refusedOr(answer);
  throw unexpected(answer);
}

function refusedOr(answer: ApiResponse): ApiResponse {
  if (answer.kind === "status" && answer.status.status === "Failure") throw new ApiError(answer.status);
  return answer;
}

function unexpected({ kind }: ApiResponse): Error {
  return new Error(`The embedded API answered with a ${kind} where none can be.`);
}

function deleteBody({ preconditions, gracePeriodSeconds, propagationPolicy, dryRun }: DeleteOptions): { body: object } {
  return { body: only({ preconditions, gracePeriodSeconds, propagationPolicy, dryRun: dryRun ? ["All"] : undefined }) };
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("The call was aborted.");
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
function only<T extends object>(fields: T): Present<T> {
  const present: Present<T> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) present[key] = value as Exclude<T[typeof key], undefined>;
  }
  return present;
}
