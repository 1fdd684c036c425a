// The minute's bookmarks of all watches of a server, on one timer: an idle cluster has dozens of watches, and a day of
// virtual time would be little else than their timers. There is no timer while nobody wants one.

import { apiVersionOf } from "../api/meta.ts";
import type { Clock } from "../control/ports.ts";
import type { ServedKind } from "./kind.ts";
import type { StoredEvent } from "./request.ts";
import type { Store } from "./store.ts";

const everyMs = 60_000;

export class Bookmarks {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #sends = new Set<() => void>();
  readonly #latestByKind = new WeakMap<ServedKind, { revision: number; event: StoredEvent }>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, store: Store) {
    this.#clock = clock;
    this.#store = store;
  }

  /** `send` is called within a minute, and every minute from then on, until the answer is called. */
  follow(send: () => void): () => void {
    this.#sends.add(send);
    this.#cancel ??= this.#clock.after(everyMs, () => this.#tick());
    return () => {
      this.#sends.delete(send);
      if (this.#sends.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  /** Of the version now: the same event for all who watch a kind, as long as nothing is written. */
  of(kind: ServedKind): StoredEvent {
    const { revision } = this.#store;
    const latest = this.#latestByKind.get(kind);
    if (latest?.revision === revision) return latest.event;
    const event = bookmark(this.#store, kind, {});
    this.#latestByKind.set(kind, { revision, event });
    return event;
  }

  #tick(): void {
    this.#cancel = this.#clock.after(everyMs, () => this.#tick());
    // Whoever hears of it may close its watch, or begin another.
    for (const send of Array.from(this.#sends)) if (this.#sends.has(send)) send();
  }
}

export function bookmark(store: Store, { resource }: ServedKind, metadata: object): StoredEvent {
  const object = {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    // An object with nothing but a version: that is all its readers use.
    metadata: { resourceVersion: String(store.revision), ...metadata } as never,
  };
  return { type: "BOOKMARK", stored: store.unstored(object) };
}
