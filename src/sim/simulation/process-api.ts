// The API as one process of the controller has it: every call takes a while, may fail on either side of the server, and
// dies with the process. What the server did is the same in any case; only what the process hears of it differs.

import type { KubeObject, Manifest, Resource } from "../../api/meta.ts";
import { ApiError, type Status } from "../../api/status.ts";
import type {
  Clock,
  DeleteOptions,
  KubeApi,
  List,
  ListOptions,
  ObjectKey,
  PatchBody,
  WatchHandlers,
  WatchOptions,
  WriteOptions,
} from "../../control/ports.ts";
import type { Random } from "../random.ts";
import type { ActiveFaults, Span } from "./active-faults.ts";
import type { Process } from "./process.ts";
import type { apiFaultKinds } from "./scenario.ts";
import type { WatchLines } from "./watch-lines.ts";

export type ApiFault = Span & {
  readonly fault: (typeof apiFaultKinds)[number];
  readonly verbs?: readonly string[];
  readonly resources?: readonly string[];
  readonly delayMs: number;
  readonly retryAfterSeconds?: number;
};

export type ProcessApiParts = {
  /** The server without anything in between. */
  api: KubeApi;
  clock: Clock;
  process: Process;
  random: Random;
  faults: ActiveFaults<ApiFault>;
  watches: WatchLines;
  /** The longest that one leg of a call takes without a fault. */
  latencyMaxMs: number;
  /** Hears when each answer was written, by the server's clock, and when it was asked for, by the process's. */
  dated?: (writtenAt: number, sentAt: number) => void;
};

type Call = { verb: string; resource: string; signal: AbortSignal | undefined };

const resetAfterMs = 5_000;
const reading = new Set(["get", "list"]);

export class ProcessApi implements KubeApi {
  readonly #parts: ProcessApiParts;

  constructor(parts: ProcessApiParts) {
    this.#parts = parts;
  }

  get<T extends KubeObject>(resource: Resource, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    return this.#call(callOf("get", resource, options), () => this.#parts.api.get<T>(resource, key, options));
  }

  list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<List<T>> {
    return this.#call(callOf("list", resource, options), () => this.#parts.api.list<T>(resource, options));
  }

  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    handlers: WatchHandlers<T>,
  ): { close(): void } {
    const { api, process, watches } = this.#parts;
    const { plural } = resource;
    return watches.open({ process, plural, handlers }, inner =>
      api.watch<T>(resource, watches.begun(plural, options), inner),
    );
  }

  create<T extends KubeObject>(
    resource: Resource,
    key: { name?: string; namespace?: string },
    object: Manifest,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = callOf("create", resource, options);
    return this.#call(call, () => this.#parts.api.create<T>(resource, key, object, options));
  }

  update<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    object: Manifest,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = callOf("update", resource, options);
    return this.#call(call, () => this.#parts.api.update<T>(resource, key, object, options));
  }

  patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: PatchBody,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = callOf("patch", resource, options);
    return this.#call(call, () => this.#parts.api.patch<T>(resource, key, patch, options));
  }

  delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<KubeObject | Status> {
    return this.#call(callOf("delete", resource, options), () => this.#parts.api.delete(resource, key, options));
  }

  deleteCollection(
    resource: Resource,
    selection: Parameters<KubeApi["deleteCollection"]>[1],
    options: DeleteOptions = {},
  ): Promise<void> {
    const call = callOf("delete", resource, options);
    return this.#call(call, () => this.#parts.api.deleteCollection(resource, selection, options));
  }

  /** The signal ends the waiting, not the request: what has left is at the server or lost. */
  #call<T>(call: Call, request: () => Promise<T>): Promise<T> {
    const { clock, process } = this.#parts;
    const sentAt = process.now();
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const aborted = () => reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      if (signal?.aborted) return aborted();
      if (process.isFenced && !reading.has(call.verb)) return reject(new Error("The lease is lost: nothing is sent."));
      signal?.addEventListener("abort", aborted, { once: true });
      const answered = (answer: () => void, delayMs: number) => {
        process.after(delayMs, () => {
          signal?.removeEventListener("abort", aborted);
          answer();
        });
      };
      clock.after(this.#legMs(), () => void this.#arrive(call, request, { answered, resolve, reject, sentAt }));
    });
  }

  async #arrive<T>(call: Call, request: () => Promise<T>, back: WayBack<T>): Promise<void> {
    const { process, faults } = this.#parts;
    if (process.isDead) return;
    const struck = faults.isEmpty ? undefined : faults.strike(fault => concerns(fault, call));
    const refusal = struck && refusalOf(struck, call);
    if (refusal !== undefined) return back.answered(() => back.reject(refusal), this.#legMs());
    if (struck?.fault === "LostRequest") return back.answered(() => back.reject(reset()), resetAfterMs);
    const cut = reading.has(call.verb) ? undefined : process.writes();
    if (cut === "before") return process.die();
    const outcome = await request().then(
      value => () => back.resolve(value),
      (error: unknown) => () => back.reject(error),
    );
    if (cut === "after") return process.die();
    if (struck?.fault === "LostAnswer") return back.answered(() => back.reject(reset()), resetAfterMs);
    if (struck?.fault === "Garbled") return back.answered(() => back.reject(garbled()), this.#legMs());
    const { clock, dated } = this.#parts;
    const writtenAt = clock.now();
    const heard = () => {
      dated?.(writtenAt, back.sentAt);
      outcome();
    };
    back.answered(heard, this.#legMs() + (struck?.fault === "Slow" ? struck.delayMs : 0));
  }

  #legMs(): number {
    const { latencyMaxMs, random } = this.#parts;
    return Math.floor((random() / 2 ** 32) * latencyMaxMs);
  }
}

type GetOptions = NonNullable<Parameters<KubeApi["get"]>[2]>;
type WayBack<T> = {
  answered(answer: () => void, delayMs: number): void;
  resolve(value: T): void;
  reject(error: unknown): void;
  readonly sentAt: number;
};

function callOf(
  verb: string,
  { plural }: Resource,
  { signal, ...rest }: { signal?: AbortSignal; subresource?: string },
): Call {
  const { subresource } = rest;
  return { verb, resource: subresource === undefined ? plural : `${plural}/${subresource}`, signal };
}

function concerns({ verbs, resources, fault }: ApiFault, { verb, resource }: Call): boolean {
  // Who creates or reads has nothing to be in conflict with.
  if (fault === "Conflict" && (reading.has(verb) || verb === "create")) return false;
  if (verbs !== undefined && !verbs.includes(verb)) return false;
  const [plural = ""] = resource.split("/");
  return resources === undefined || resources.includes(resource) || resources.includes(plural);
}

function refusalOf({ fault, retryAfterSeconds }: ApiFault, { verb, resource }: Call): ApiError | undefined {
  switch (fault) {
    case "TooManyRequests":
      return refused(429, fault, "too many requests, please try again later", retryAfterSeconds);
    case "InternalError":
      return refused(500, fault, `an error on the server has prevented the request from succeeding (${resource})`);
    case "Forbidden":
      return refused(403, fault, `${verb} of ${resource} is not allowed`);
    case "Conflict":
      return refused(409, fault, "the object has been modified; please apply your changes to the latest version");
    default:
      return undefined;
  }
}

function refused(code: number, reason: string, message: string, retryAfterSeconds?: number): ApiError {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    reason,
    message,
    ...details,
  });
}

function garbled(): Error {
  return new Error("The answer is cut off in the middle.");
}

function reset(): Error {
  return new Error("The connection was reset before an answer came.");
}
