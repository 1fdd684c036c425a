// Watches: where a stream begins, what each change means to a selection, bookmarks and the end. Events are made once
// per change and version; every watcher hands on the same object and the same bytes.

import type { ApiError, Status } from "../api/status.ts";
import type { Clock } from "../control/ports.ts";
import { bookmark, type Bookmarks } from "./bookmarks.ts";
import type { Change } from "./history.ts";
import type { ServedKind } from "./kind.ts";
import { parseVersion } from "./list.ts";
import { expired, tooLargeVersion } from "./refusal.ts";
import type { ApiResponse, RequestOptions, StoredEvent } from "./request.ts";
import type { Selection } from "./selection.ts";
import { collectionOf, presented } from "./served-kinds.ts";
import type { Collection, Store, Watcher } from "./store.ts";
import type { StoredObject } from "./stored.ts";

export type WatchResponse = Extract<ApiResponse, { kind: "watch" }>;
type Sink = Parameters<WatchResponse["start"]>[0];

const bookmarkBeforeEndMs = 2_000;
const initialEventsEnd = "k8s.io/initial-events-end";

export type Watched = {
  store: Store;
  clock: Clock;
  bookmarks: Bookmarks;
  kind: ServedKind;
  selection: Selection;
};

export function watch(watched: Watched, options: RequestOptions, timeoutMs: number): WatchResponse {
  const from = startOf(options);
  if (timeoutMs < 0) return { kind: "watch", start: endedBeforeItBegan };
  return { kind: "watch", start: sink => new Watch(watched, options, sink).begin(from, timeoutMs) };
}

// The real server ends it with or without an error, whichever of its two timers is looked at first.
function endedBeforeItBegan(sink: Sink): () => void {
  sink.end(undefined);
  return () => {};
}

/** "initial": the objects as they are now come first. */
type Start = { kind: "initial"; notOlderThan: number } | { kind: "now" } | { kind: "after"; revision: number };

// Without a version a watch begins with what exists, whether asked for by sendInitialEvents or, as ever, not.
function startOf({ sendInitialEvents, resourceVersion }: RequestOptions): Start {
  const revision = parseVersion(resourceVersion);
  if (sendInitialEvents ?? revision === 0) return { kind: "initial", notOlderThan: revision };
  return revision === 0 ? { kind: "now" } : { kind: "after", revision };
}

class Watch {
  readonly #watched: Watched;
  readonly #collection: Collection;
  readonly #sink: Sink;
  readonly #hasBookmarks: boolean;
  readonly #cancels: (() => void)[] = [];
  #seen = 0;

  constructor(watched: Watched, options: RequestOptions, sink: Sink) {
    this.#watched = watched;
    this.#collection = collectionOf(watched.store, watched.kind);
    this.#sink = sink;
    this.#hasBookmarks = options.allowWatchBookmarks === true;
  }

  begin(from: Start, timeoutMs: number): () => void {
    const { clock, store } = this.#watched;
    const refused = this.#first(from);
    if (refused !== undefined) {
      this.#sink.end(refused.status);
      return () => {};
    }
    // A version from the future is waited for in silence: nothing older than it is sent.
    this.#seen = from.kind === "after" ? Math.max(from.revision, store.revision) : store.revision;
    const watcher: Watcher = { change: change => this.#change(change), end: () => this.#end(undefined) };
    this.#collection.watchers.add(watcher);
    this.#cancels.push(() => this.#collection.watchers.delete(watcher));
    this.#cancels.push(clock.after(timeoutMs, () => this.#end(undefined)));
    if (this.#hasBookmarks) this.#bookmarkUntil(timeoutMs);
    return () => this.#stop();
  }

  #first(from: Start): ApiError | undefined {
    const { store } = this.#watched;
    if (from.kind === "now") return undefined;
    if (from.kind === "initial") {
      if (from.notOlderThan > store.revision) return tooLargeVersion(from.notOlderThan, store.revision);
      this.#send(this.#initialEvents());
      return undefined;
    }
    const { completeSince } = this.#collection.history;
    if (from.revision < completeSince) {
      return expired(`too old resource version: ${from.revision} (${completeSince})`);
    }
    this.#send([...this.#collection.history.after(from.revision)].flatMap(change => this.#eventOf(change) ?? []));
    return undefined;
  }

  #initialEvents(): StoredEvent[] {
    const { kind, selection } = this.#watched;
    const events: StoredEvent[] = [];
    for (const key of this.#collection.selected(selection)) {
      const stored = this.#collection.get(key);
      const shown = stored && presented(kind, stored);
      if (shown && selection.matches(shown)) events.push({ type: "ADDED", stored: shown });
    }
    const { store } = this.#watched;
    if (this.#hasBookmarks) events.push(bookmark(store, kind, { annotations: { [initialEventsEnd]: "true" } }));
    return events;
  }

  #change(change: Change): void {
    if (change.revision <= this.#seen) return;
    this.#seen = change.revision;
    const event = this.#eventOf(change);
    if (event !== undefined) this.#send([event]);
  }

  /** What a change means here: an object that enters the selection is added, one that leaves it is deleted. */
  #eventOf(change: Change): StoredEvent | undefined {
    const { kind, selection, store } = this.#watched;
    if (!change.key.startsWith(selection.prefix)) return undefined;
    const shown = presented(kind, change.stored);
    if (selection.isEverything) return wholeEvent(change, shown);
    const isIn = change.type !== "DELETED" && selection.matches(shown);
    const wasIn = change.previous !== undefined && selection.matches(presented(kind, change.previous));
    if (isIn) return { type: wasIn ? "MODIFIED" : "ADDED", stored: shown };
    if (!wasIn || change.previous === undefined) return undefined;
    if (change.type === "DELETED") return { type: "DELETED", stored: shown };
    // It left: its state while it still belonged, at the version at which it no longer does.
    const { object } = presented(kind, change.previous);
    const metadata = { ...object.metadata, resourceVersion: String(change.revision) };
    return { type: "DELETED", stored: store.unstored({ ...object, metadata }) };
  }

  #bookmarkUntil(timeoutMs: number): void {
    const { bookmarks, clock, kind } = this.#watched;
    const send = () => this.#send([bookmarks.of(kind)]);
    this.#cancels.push(bookmarks.follow(send));
    const lastInMs = timeoutMs - bookmarkBeforeEndMs;
    if (lastInMs >= 1) this.#cancels.push(clock.after(lastInMs, send));
  }

  #send(events: readonly StoredEvent[]): void {
    if (events.length > 0) this.#sink.events(events);
  }

  #end(status: Status | undefined): void {
    this.#stop();
    this.#sink.end(status);
  }

  #stop(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }
}

/** One event for all who watch everything: what they make of it can be kept with it. */
function wholeEvent(change: Change, shown: StoredObject): StoredEvent {
  if (shown !== change.stored) return { type: change.type, stored: shown };
  change.event ??= { type: change.type, stored: shown };
  return change.event;
}
