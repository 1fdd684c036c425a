// Lists: which revision is meant, which objects of it are selected, and where the next page begins.

import type { ApiError } from "../api/status.ts";
import type { ServedKind } from "./kind.ts";
import { after, continueToken, expiredContinue, parseContinueToken } from "./paging.ts";
import { badRequest, expired, failure, tooLargeVersion } from "./refusal.ts";
import type { ApiResponse, RequestOptions } from "./request.ts";
import type { Selection } from "./selection.ts";
import { collectionOf, presented } from "./served-kinds.ts";
import type { Collection, Store } from "./store.ts";
import type { StoredObject } from "./stored.ts";

type ListResponse = Extract<ApiResponse, { kind: "list" }>;

/** Where a list starts and as of when. `revision` undefined: now. */
type Span = { revision: number | undefined; startKey: string; limit: number };

export function list(store: Store, kind: ServedKind, selection: Selection, options: RequestOptions): ListResponse {
  const span = spanOf(store, options);
  const collection = collectionOf(store, kind);
  const revision = span.revision ?? store.revision;
  const entries = entriesAt(collection, selection, span);
  if (entries === undefined) throw tooOld(options, span.startKey);

  const items: StoredObject[] = [];
  let lastKey = "";
  let more = false;
  for (const key of entries.keys) {
    // As the server does: a full page before objects that do not match still offers a next one.
    more = span.limit > 0 && items.length >= span.limit;
    if (more) break;
    const item = presented(kind, entries.get(key));
    if (selection.matches(item)) items.push(item);
    lastKey = key;
  }
  const response: ListResponse = { kind: "list", items, resourceVersion: String(revision) };
  if (more) {
    const startKey = after(lastKey.slice(selection.prefix.length));
    response.continue = continueToken({ revision, startKey });
    // With selectors nobody knows how many of the rest match.
    if (selection.isEverything)
      response.remainingItemCount = countFrom(collection, selection.prefix, { ...span, startKey });
  }
  return response;
}

/** The numeric value of a resourceVersion, 0 for none. */
export function parseVersion(text: string | undefined): number {
  if (text === undefined || text === "" || text === "0") return 0;
  if (!/^\d+$/.test(text)) {
    throw new RangeError(
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  }
  return Number(text);
}

/** Where a single object is read or a watch begins, the server does not classify a version that is none. */
export function versionOrFailure(resourceVersion: string | undefined): number {
  try {
    return parseVersion(resourceVersion);
  } catch (error) {
    throw failure((error as RangeError).message);
  }
}

/** A read that must not be older than a version that does not exist yet. */
export function refuseVersion({ revision }: Store, { resourceVersion }: RequestOptions): void {
  const asked = versionOrFailure(resourceVersion);
  if (asked > revision) throw tooLargeVersion(asked, revision);
}

function spanOf(store: Store, options: RequestOptions): Span {
  const { resourceVersion = "", limit = 0 } = options;
  if (options.continue !== undefined && options.continue !== "") {
    const position = parseContinueToken(options.continue);
    if (resourceVersion !== "" && resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    if ((position.revision ?? 0) > store.revision) throw tooLargeVersion(position.revision ?? 0, store.revision);
    return { ...position, limit };
  }
  const asked = parsedOrRefused(resourceVersion);
  if (asked > store.revision) throw tooLargeVersion(asked, store.revision);
  const exact = options.resourceVersionMatch === "Exact" || (!options.resourceVersionMatch && limit > 0 && asked > 0);
  // With resourceVersion=0 the server reads its cache and ignores the limit.
  return { revision: exact ? asked : undefined, startKey: "", limit: resourceVersion === "0" ? 0 : limit };
}

function parsedOrRefused(resourceVersion: string): number {
  try {
    return parseVersion(resourceVersion);
  } catch (error) {
    throw badRequest(`invalid resource version: ${(error as RangeError).message}`);
  }
}

function tooOld(options: RequestOptions, startKey: string): ApiError {
  if (options.continue) return expiredContinue(startKey);
  return expired("The resourceVersion for the provided list is too old.");
}

/** Keys in order; no pairs of both, since lists of thousands are made all the time. */
type Entries = { keys: Iterable<string>; get(key: string): StoredObject };

/** The objects as of a revision; undefined when that is no longer known. */
function entriesAt(collection: Collection, selection: Selection, span: Span): Entries | undefined {
  const { prefix } = selection;
  const from = prefix + span.startKey;
  if (span.revision === undefined) return current(collection, selection, from);
  if (span.revision < collection.history.completeSince) return undefined;
  const before = collection.history.undo(span.revision);
  // The index knows only what is so now.
  return before.size === 0 ? current(collection, selection, from) : asBefore(collection, before, { prefix, from });
}

function countFrom(collection: Collection, prefix: string, span: Span): number {
  const before = span.revision === undefined ? undefined : collection.history.undo(span.revision);
  if (before === undefined || before.size === 0) return collection.keys.countFrom(prefix, prefix + span.startKey);
  let count = 0;
  for (const _ of asBefore(collection, before, { prefix, from: prefix + span.startKey }).keys) count++;
  return count;
}

function current(collection: Collection, selection: Selection, from: string): Entries {
  const keys = collection.selected(selection, from);
  return {
    keys: selection.indexed === undefined ? keys : withNext(keys, { collection, selection, from }),
    get: key => collection.get(key) as StoredObject, // keys and objects are one set
  };
}

type Left = { collection: Collection; selection: Selection; from: string };

/** Of those that the index leaves out the next one stands for all: that there are some makes another page. */
function* withNext(keys: Iterable<string>, { collection, selection, from }: Left): Generator<string> {
  let last: string | undefined;
  for (const key of keys) {
    yield key;
    last = key;
  }
  for (const key of collection.keys.range(selection.prefix, last === undefined ? from : after(last))) {
    yield key;
    return;
  }
}

function asBefore(
  collection: Collection,
  before: ReadonlyMap<string, StoredObject | undefined>,
  { prefix, from }: { prefix: string; from: string },
): Entries {
  const find = (key: string) => (before.has(key) ? before.get(key) : collection.get(key));
  const gone = [...before.keys()]
    .filter(key => key >= from && key.startsWith(prefix) && collection.get(key) === undefined)
    .sort();
  return {
    keys: existing(merged(collection.keys.range(prefix, from), gone), key => find(key) !== undefined),
    get: key => find(key) as StoredObject, // of those that were there
  };
}

function* existing(keys: Iterable<string>, isThere: (key: string) => boolean): Generator<string> {
  for (const key of keys) if (isThere(key)) yield key;
}

/** Two lists in order, as one. */
function* merged(keys: Iterable<string>, others: readonly string[]): Generator<string> {
  let next = 0;
  for (const key of keys) {
    for (let other = others[next]; other !== undefined && other < key; other = others[++next]) yield other;
    yield key;
  }
  yield* others.slice(next);
}
