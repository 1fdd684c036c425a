// The API server as one process reaches it, with somebody looking at each request: the server cannot tell who asks, and
// invariants are about who.

import type { ApiServer } from "../api-server.ts";
import type { ApiRequest, ApiResponse } from "../request.ts";
import type { Process } from "./process.ts";

export type Watchman = {
  /** A process of the controller is about to write; the objects are still as they were. */
  before(request: ApiRequest, process: Process): void;
  /** It has read all there is of a kind, or a page of it. */
  listed(plural: string, process: Process): void;
  /** Who is writing now; undefined: not the controller. */
  writer: Process | undefined;
};

const reading = new Set(["get", "list", "watch"]);

export function observedServer(server: ApiServer, process: Process, watchman: Watchman): Pick<ApiServer, "handle"> {
  return {
    handle(request: ApiRequest): ApiResponse {
      if (request.verb === "list") watchman.listed(request.plural, process);
      if (reading.has(request.verb)) return server.handle(request);
      watchman.before(request, process);
      watchman.writer = process;
      try {
        return server.handle(request);
      } finally {
        watchman.writer = undefined;
      }
    },
  };
}
