// One request to the embedded API server and its answer: what HTTP, the in-process client and tests all speak.

import type { KubeObject } from "../api/meta.ts";
import type { Status } from "../api/status.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export type PatchType = "merge" | "json" | "strategic";

/** Query parameters as the HTTP API spells them, already parsed. */
export type RequestOptions = {
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
  dryRun?: boolean;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  fieldManager?: string;
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
};

export type ApiRequest = {
  verb: Verb;
  group: string;
  version: string;
  plural: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  options: RequestOptions;
  patchType?: PatchType;
  /** Parsed JSON. Owned by the server from here on: it may be changed in place. */
  body?: unknown;
};

/**
 * An object at one resourceVersion, never changed once stored. `json` is its wire form, kept or made once;
 * `object` is parsed on demand and must not be changed by whoever reads it.
 */
export type Stored = {
  readonly object: KubeObject;
  readonly json: Buffer;
};

export type StoredEvent = {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  stored: Stored;
};

export type ApiResponse =
  | { kind: "object"; code: 200 | 201 | 202; stored: Stored; warnings: readonly string[] }
  | {
      kind: "list";
      items: readonly Stored[];
      resourceVersion: string;
      continue?: string;
      remainingItemCount?: number;
    }
  | { kind: "status"; code: number; status: Status; warnings: readonly string[] }
  | {
      kind: "watch";
      /** Events in order; one call may carry several. `end` closes the stream, with a Status as its last event or none. */
      start(sink: { events(events: readonly StoredEvent[]): void; end(error: Status | undefined): void }): () => void;
    };
