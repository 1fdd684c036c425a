// What a random sequence is made of: operations as plain data, the same for every server. What differs from server to
// server (versions, uids, generated names) is named by where it was seen.

import type { Resource } from "../../../src/api/meta.ts";

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };
export type JsonObject = { [field: string]: Json };

/** A kind that sequences work on. */
export type Subject = {
  resource: Resource;
  /** All but apiVersion, kind and metadata of an object that is always accepted. */
  plain: JsonObject;
};

/** Which of the versions seen so far of an object a write carries. */
export type VersionChoice = "latest" | "oldest" | "none" | "malformed";
export type UidChoice = "right" | "wrong" | "none";

export type Query = { [parameter: string]: string };

type OnObject = { subject: Subject; name: string; query: Query };

export type Operation =
  | { kind: "create"; subject: Subject; name: string; generate: boolean; body: JsonObject; query: Query }
  /** The latest seen object with `change` merged into it. */
  | (OnObject & { kind: "update"; change: JsonObject; version: VersionChoice; uid: UidChoice; subresource: string })
  | (OnObject & { kind: "patch"; type: "merge" | "json" | "strategic"; body: Json; subresource: string })
  | (OnObject & { kind: "delete"; options: JsonObject; version: VersionChoice; uid: UidChoice })
  | { kind: "delete-collection"; subject: Subject; query: Query; options: JsonObject }
  | (OnObject & { kind: "get"; subresource: string; version: VersionChoice })
  /** All pages; `version` is of the object last written. */
  | { kind: "list"; subject: Subject; query: Query; version: VersionChoice; exact: boolean }
  /** Read to its end when the sequence has ended. */
  | { kind: "watch"; subject: Subject; query: Query; from: "now" | "start" | "initial" }
  /** A POST to a subresource: eviction, binding. */
  | (OnObject & { kind: "post"; subresource: string; body: JsonObject });

export type Sequence = { operations: readonly Operation[] };
