// Whether the picture is too old to take anything away by it: a kind that is not listed whole, that we may not watch any
// more, or whose watch has been silent for longer than a healthy one can be, bookmarks included.

import { ApiError } from "../api/status.ts";
import type { Millis } from "../api/time.ts";
import type { Staleness } from "../snapshot/picture.ts";
import type { WatchedKind } from "./feeds.ts";
import type { Clock, Fed } from "./ports.ts";

/** Bookmarks come each minute; after 65 s without one the feed asks again, which takes it some seconds. */
const silenceMaxMs: Millis = 75_000;
/** How soon it is noticed that a kind is in step again, or not yet listed. */
const lookAgainMs: Millis = 1_000;

export function stalenessOf(kinds: readonly WatchedKind[]): Staleness | undefined {
  return first(kinds, unlisted) ?? first(kinds, forbidden) ?? first(kinds, silent);
}

function first(kinds: readonly WatchedKind[], doubt: (kind: WatchedKind) => string | undefined): Staleness | undefined {
  for (const kind of kinds) {
    const message = doubt(kind);
    if (message !== undefined) return { resource: kind.resource.plural, message };
  }
  return undefined;
}

function unlisted({ resource, fed }: WatchedKind): string | undefined {
  if (fed.synced) return undefined;
  const why = fed.lastError ? `: ${fed.lastError.message}` : ".";
  return `The list of ${resource.plural} is not complete${why}`;
}

/** Nothing will come until somebody gives us the permission back: there is no use in waiting for the silence. */
function forbidden({ resource, fed: { lastError } }: WatchedKind): string | undefined {
  if (!isForbidden(lastError)) return undefined;
  return `The API server does not let us watch ${resource.plural}: ${lastError.message}`;
}

export function isForbidden(error: Error | undefined): error is ApiError {
  return error instanceof ApiError && (error.code === 401 || error.code === 403);
}

export function isSilent(fed: Pick<Fed, "ageMs">): boolean {
  return fed.ageMs() > silenceMaxMs;
}

/** How long until it is, if nothing comes. */
export function silentIn(fed: Pick<Fed, "ageMs">): Millis {
  return silenceMaxMs + 1 - fed.ageMs();
}

function silent({ resource, fed }: WatchedKind): string | undefined {
  if (!isSilent(fed)) return undefined;
  return `The watch of ${resource.plural} has brought nothing for more than ${silenceMaxMs / 1000} s, not even a bookmark.`;
}

/** Looks from time to time, and whenever it is asked; tells only of changes. */
export class StalenessWatch {
  readonly #options: { clock: Clock; kinds: readonly WatchedKind[]; changed: (now: Staleness | undefined) => void };
  #last: Staleness | undefined;
  #cancel = (): void => {};

  constructor(options: { clock: Clock; kinds: readonly WatchedKind[]; changed: (now: Staleness | undefined) => void }) {
    this.#options = options;
    this.#look();
  }

  look(): void {
    const { kinds, changed } = this.#options;
    const found = stalenessOf(kinds);
    if (found?.message === this.#last?.message) return;
    this.#last = found;
    changed(found);
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    this.look();
    const { clock, kinds } = this.#options;
    const silentInMs = Math.min(...kinds.map(({ fed }) => silentIn(fed)));
    const inMs = this.#last === undefined ? Math.max(lookAgainMs, silentInMs) : lookAgainMs;
    this.#cancel = clock.after(inMs, () => this.#look());
  }
}
