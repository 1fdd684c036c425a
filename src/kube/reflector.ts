// Keeps a WatchCache of one kind in step with the API server for as long as it runs: lists as a stream (paged where the
// server cannot), watches from there, and comes back after every failure. Decides nothing about the objects.
// While the picture may be incomplete `synced` is false; how old it may be says `ageMs`.

import type { KubeObject, Resource } from "../api/meta.ts";
import { isOlder } from "../api/resource-version.ts";
import { ApiError } from "../api/status.ts";
import type { Millis } from "../api/time.ts";
import type { Clock, KubeApi, ListOptions, ObjectKey, WatchEvent } from "../control/ports.ts";
import { backoff } from "./backoff.ts";
import { DecodeError, SilenceError } from "./errors.ts";
import { type CacheHandlers, type Project, WatchCache } from "./watch-cache.ts";
import { afterWatch, isGone, type NextWatch } from "./watch-end.ts";

const PAGE_ITEMS_MAX = 500;
// Bookmarks come every minute, a little late under load: a stream silent for this long is given up, whatever TCP says.
const SILENCE_MAX_MS = 65_000;
// A list may take its time before its first object comes.
const LIST_SILENCE_MAX_MS = 90_000;
// The first list after a silence may have gone into the same hole; each further one is given more time, up to the above.
const PROBE_SILENCE_MAX_MS = 15_000;
// After an outage a watch goes on where it was, and on a busy kind something comes at once.
const RESUMED_SILENCE_MAX_MS = 5_000;
// As long as an API server lets watches live that do not say so themselves: what a dead one would hide, bookmarks show.
const WATCH_MIN_SECONDS = 1_800;
const BACKOFF = { minMs: 800, maxMs: 30_000 };
const LIST_COMPLETE = "k8s.io/initial-events-end";

export type ReflectorOptions<T> = {
  api: Pick<KubeApi, "list" | "watch">;
  clock: Clock;
  resource: Resource;
  selection?: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">;
  gatherMs?: Millis;
  project: Project<T>;
  handlers: CacheHandlers<T> & {
    /** The picture is complete: after the first list and after each later one. */
    synced?(): void;
  };
  random?: () => number;
};

/** Since the start; for metrics. */
export type ReflectorCounts = {
  /** Watches opened. */
  connects: number;
  /** Lists completed, the first one included. */
  lists: number;
  /** 410s: our place in the stream was too old. */
  gone: number;
  decodeErrors: number;
  /** Watches given up because nothing came. */
  silences: number;
  /** Changes that a later list showed and no event had: after a gap expected, else proof of a lossy watch. */
  missed: number;
};

type Session = {
  watch?: { close(): void };
  listing: boolean;
  /**
   * Lists again after a silence. A watch from our version would leave us in doubt until its first bookmark, a minute
   * later; a kind on which nothing happens for so long is seldom a large one. What we have stands until it is whole.
   */
  probing: boolean;
  startedAt: number;
  lastAt: number;
};

export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #cache: WatchCache<T>;
  readonly #backoff;
  readonly #random: () => number;
  readonly #counts: ReflectorCounts = { connects: 0, lists: 0, gone: 0, decodeErrors: 0, silences: 0, missed: 0 };
  #session: Session | undefined;
  #cancelTimer = (): void => {};
  #stopped = false;
  #synced = false;
  #streaming = true;
  #healthy = true;
  /** The last watch was silent for too long, and nothing has come since. */
  #doubtful = false;
  #incompleteCount = 0;
  /** In a row, since something last came. */
  #silentProbes = 0;
  #resourceVersion: string | undefined;
  #lastEventAt: number;
  #lastError: Error | undefined;

  /** Begins at once; the handlers are called from a later tick. */
  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#cache = new WatchCache(options.project, options.handlers);
    this.#backoff = backoff(BACKOFF, this.#random);
    this.#lastEventAt = options.clock.monotonic();
    this.#after(0);
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  values(): IterableIterator<T> {
    return this.#cache.values();
  }

  get size(): number {
    return this.#cache.size;
  }

  /** Complete as of `resourceVersion`. False before the first list, and from a lost place to the end of the next. */
  get synced(): boolean {
    return this.#synced;
  }

  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** By the monotonic clock; bookmarks are events too. */
  get lastEventAt(): number {
    return this.#lastEventAt;
  }

  ageMs(): number {
    return this.#options.clock.monotonic() - this.#lastEventAt;
  }

  /** What ended the last watch or list, until one works again. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  get counts(): Readonly<ReflectorCounts> {
    return this.#counts;
  }

  stop(): void {
    this.#stopped = true;
    this.#leave();
  }

  #connect(): void {
    const probing = this.#resourceVersion !== undefined && this.#doubtful;
    const listing = this.#resourceVersion === undefined || probing;
    if (listing && !this.#streaming) {
      void this.#list(probing);
      return;
    }
    const { api, clock, resource, selection, gatherMs } = this.#options;
    const now = clock.monotonic();
    const session: Session = { listing, probing, startedAt: now, lastAt: now };
    this.#session = session;
    this.#counts.connects++;
    this.#watchSilence(session);
    if (listing) this.#cache.beginListing();
    const watch = api.watch(
      resource,
      {
        ...selection,
        ...(gatherMs === undefined ? {} : { gatherMs }),
        allowWatchBookmarks: true,
        // Jittered, so that the watches of many processes do not all end together.
        timeoutSeconds: Math.floor(WATCH_MIN_SECONDS * (1 + this.#random())),
        // Without a version the list is as new as etcd: never the past of an API server that lags behind.
        ...(listing || this.#resourceVersion === undefined
          ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
          : { resourceVersion: this.#resourceVersion }),
      },
      {
        event: event => {
          if (this.#session === session) this.#take(event, session);
        },
        end: error => {
          if (this.#session === session) this.#ended(session, error, false);
        },
      },
    );
    session.watch = watch;
    if (this.#session !== session) watch.close();
  }

  #take(event: WatchEvent<KubeObject>, session: Session): void {
    this.#heard(session);
    switch (event.type) {
      case "ERROR":
        this.#ended(session, new ApiError(event.object), true);
        return;
      case "BOOKMARK": {
        const { resourceVersion, annotations } = event.object.metadata;
        this.#cache.bookmarked();
        if (!session.listing) this.#advance(resourceVersion);
        else if (annotations?.[LIST_COMPLETE] === "true") this.#listComplete(resourceVersion, session);
        else return;
        // Put off by each: it looks where one is missing, not once a minute between them.
        this.#cancelTimer();
        this.#watchSilence(session);
        return;
      }
      case "DELETED":
        this.#cache.removed(event.object);
        break;
      case "ADDED":
      case "MODIFIED":
        if (!session.listing) this.#cache.changed(event.object);
        else if (this.#cache.listed(event.object)) this.#countMissed(1);
    }
    if (!session.listing) this.#advance(event.object.metadata.resourceVersion);
  }

  // Of a picture that stands, a part of a new list says nothing yet: what it lacks is known at its end.
  #heard(session: Session): void {
    session.lastAt = this.#options.clock.monotonic();
    if (!session.listing || !session.probing) this.#lastEventAt = session.lastAt;
  }

  #advance(resourceVersion: string): void {
    this.#working();
    // A repeated or late event must not move our place back.
    if (this.#resourceVersion === undefined || !isOlder(resourceVersion, this.#resourceVersion)) {
      this.#resourceVersion = resourceVersion;
    }
  }

  #listComplete(resourceVersion: string, session: Session): void {
    session.listing = false;
    this.#heard(session);
    this.#countMissed(this.#cache.endListing());
    this.#counts.lists++;
    this.#incompleteCount = 0;
    this.#resourceVersion = resourceVersion;
    this.#synced = true;
    this.#working();
    this.#options.handlers.synced?.();
  }

  #working(): void {
    this.#healthy = true;
    this.#doubtful = false;
    this.#silentProbes = 0;
    this.#lastError = undefined;
    this.#backoff.reset();
  }

  #countMissed(count: number): void {
    if (this.#counts.lists > 0) this.#counts.missed += count;
  }

  async #list(probing: boolean): Promise<void> {
    const now = this.#options.clock.monotonic();
    const abort = new AbortController();
    const watch = { close: () => abort.abort() };
    const session: Session = { watch, listing: true, probing, startedAt: now, lastAt: now };
    this.#session = session;
    try {
      const resourceVersion = await this.#pages(session, abort.signal);
      if (resourceVersion === undefined) return;
      this.#listComplete(resourceVersion, session);
      this.#session = undefined;
      this.#after(0);
    } catch (error) {
      if (this.#session === session) this.#ended(session, asError(error), false);
    }
  }

  /** The list's version; undefined if nobody waits for it any more. */
  async #pages(session: Session, signal: AbortSignal): Promise<string | undefined> {
    const { api, resource, selection } = this.#options;
    let place: { limit?: number; continue?: string } = { limit: PAGE_ITEMS_MAX };
    this.#cache.beginListing();
    for (;;) {
      try {
        const page = await api.list(resource, { ...selection, ...place, signal });
        if (this.#session !== session) return undefined;
        this.#heard(session);
        for (const item of page.items) if (this.#cache.listed(item)) this.#countMissed(1);
        if (page.continue === undefined) return page.resourceVersion;
        place = { limit: PAGE_ITEMS_MAX, continue: page.continue };
      } catch (error) {
        // The pages took longer than the server keeps their version: once more from the start, in one piece.
        if (!isGone(error) || place.continue === undefined) throw error;
        this.#counts.gone++;
        place = {};
        this.#cache.beginListing();
      }
    }
  }

  #ended(session: Session, error: Error | undefined, inBand: boolean): void {
    const livedMs = this.#options.clock.monotonic() - session.startedAt;
    this.#leave();
    const duringList = session.listing && !session.probing;
    if (duringList && (error === undefined || error instanceof SilenceError)) this.#incompleteCount++;
    if (error instanceof DecodeError) this.#counts.decodeErrors++;
    if (isGone(error)) this.#counts.gone++;
    this.#lastError = error;
    const next = afterWatch({
      error,
      inBand,
      duringList,
      isStreaming: this.#streaming,
      livedMs,
      incompleteCount: this.#incompleteCount,
      healthy: this.#healthy,
    });
    this.#healthy = false;
    if (next.giveUpStreaming) this.#streaming = false;
    if (next.relist) {
      this.#resourceVersion = undefined;
      this.#synced = false;
    }
    this.#after(this.#delayMs(next.delay));
  }

  #delayMs(delay: NextWatch["delay"]): number {
    if (delay === "none") return 0;
    const ownMs = this.#backoff.nextMs();
    return delay === "backoff" ? ownMs : Math.max(ownMs, delay.atLeastMs * (1 + this.#random() / 4));
  }

  // One timer looks when the silence could be too long, instead of one set anew with every change.
  #watchSilence(session: Session): void {
    const { clock } = this.#options;
    const leftMs = this.#silentAt(session) - clock.monotonic();
    if (leftMs > 0) {
      this.#cancelTimer = clock.after(leftMs, () => this.#watchSilence(session));
      return;
    }
    this.#counts.silences++;
    this.#doubtful = true;
    if (session.probing && session.listing) this.#silentProbes++;
    const message = `The watch was silent for ${Math.round(this.ageMs() / 1000)} s.`;
    this.#ended(session, new SilenceError(message, { sent: true }), false);
  }

  /** When silence so far would be too long. A long watch is not given a new minute by having been opened anew. */
  #silentAt({ listing, probing, startedAt, lastAt }: Session): number {
    if (!listing) return Math.max(this.#lastEventAt + SILENCE_MAX_MS, startedAt + RESUMED_SILENCE_MAX_MS);
    const patienceMs = PROBE_SILENCE_MAX_MS * 2 ** this.#silentProbes;
    return lastAt + (probing ? Math.min(patienceMs, LIST_SILENCE_MAX_MS) : LIST_SILENCE_MAX_MS);
  }

  #after(delayMs: number): void {
    if (this.#stopped) return;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#connect());
  }

  #leave(): void {
    this.#cancelTimer();
    const session = this.#session;
    this.#session = undefined;
    session?.watch?.close();
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
