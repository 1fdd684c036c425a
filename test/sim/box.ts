// A small embedded cluster for tests: the built-in kinds, the namespace "default", virtual time.

import type { KubeObject } from "../../src/api/meta.ts";
import { ApiError, type Status } from "../../src/api/status.ts";
import { ApiServer, type ApiServerOptions } from "../../src/sim/api-server.ts";
import { VirtualClock } from "../../src/sim/clock.ts";
import { builtInKinds } from "../../src/sim/kinds/built-in-kinds.ts";
import { seededRandom } from "../../src/sim/random.ts";
import type { ApiRequest, ApiResponse, PatchType, RequestOptions, StoredEvent } from "../../src/sim/request.ts";

export const startAt = Date.parse("2026-01-01T00:00:00Z");

/** "pods", "nodepools.karpenter.sh", "foos.v2.example.com": the version is v1 unless it is given. */
type Where = { resource: string; namespace?: string; name?: string; subresource?: string };
type What = { body?: unknown; options?: RequestOptions; patchType?: PatchType };

export class Box {
  readonly clock = new VirtualClock(startAt);
  readonly server: ApiServer;

  constructor(options: Partial<ApiServerOptions> = {}) {
    this.server = new ApiServer({ clock: this.clock, random: seededRandom(1), kinds: builtInKinds, ...options });
    this.create({ resource: "namespaces" }, { metadata: { name: "default" } });
  }

  send(verb: ApiRequest["verb"], where: Where, what: What = {}): ApiResponse {
    const { resource, ...rest } = where;
    const [plural = "", ...parts] = resource.split(".");
    const version = /^v\d/.test(parts[0] ?? "") ? (parts.shift() as string) : "v1";
    // The server takes the body over; tests use theirs again.
    const body = what.body === undefined ? {} : { body: structuredClone(what.body) };
    return this.server.handle({
      verb,
      plural,
      version,
      group: parts.join("."),
      options: {},
      ...rest,
      ...what,
      ...body,
    });
  }

  /** The object in the answer; a refusal is thrown. */
  object(verb: ApiRequest["verb"], where: Where, what: What = {}): KubeObject {
    const answer = this.send(verb, where, what);
    if (answer.kind === "object") return answer.stored.object;
    throw answer.kind === "status" ? new ApiError(answer.status) : new Error(`answered with a ${answer.kind}`);
  }

  status(verb: ApiRequest["verb"], where: Where, what: What = {}): Status {
    const answer = this.send(verb, where, what);
    if (answer.kind !== "status") throw new Error(`answered with a ${answer.kind}`);
    return answer.status;
  }

  get(where: Where): KubeObject {
    return this.object("get", where);
  }

  has(where: Where): boolean {
    return this.send("get", where).kind === "object";
  }

  create(where: Where, body: unknown, options: RequestOptions = {}): KubeObject {
    return this.object("create", where, { body, options });
  }

  patch(where: Where, body: unknown, options: RequestOptions = {}): KubeObject {
    return this.object("patch", where, { body, options, patchType: "merge" });
  }

  list(where: Where, options: RequestOptions = {}) {
    const answer = this.send("list", where, { options });
    if (answer.kind !== "list") throw answer.kind === "status" ? new ApiError(answer.status) : new Error(answer.kind);
    return { ...answer, names: answer.items.map(({ object }) => object.metadata.name) };
  }

  watch(where: Where, options: RequestOptions = {}): Watched {
    const answer = this.send("watch", where, { options });
    if (answer.kind !== "watch") throw answer.kind === "status" ? new ApiError(answer.status) : new Error(answer.kind);
    const watched: Watched = {
      events: [],
      seen: () => watched.events.splice(0).map(said),
      ended: undefined,
      stop: () => {},
    };
    watched.stop = answer.start({
      events: events => watched.events.push(...events),
      end: error => {
        watched.ended = { error };
      },
    });
    return watched;
  }
}

export type Watched = {
  events: StoredEvent[];
  /** "ADDED a", and forgets them. */
  seen(): string[];
  ended: { error: Status | undefined } | undefined;
  stop(): void;
};

function said({ type, stored }: StoredEvent): string {
  return `${type} ${stored.object.metadata.name ?? stored.object.metadata.resourceVersion}`;
}

export const configMap = (name: string, more: object = {}) => ({ metadata: { name, ...more } });

export function pod(name: string, { nodeName, ...metadata }: { nodeName?: string; [field: string]: unknown } = {}) {
  const spec = { containers: [{ name: "main", image: "app" }], ...(nodeName && { nodeName }) };
  return { metadata: { name, ...metadata }, spec };
}
