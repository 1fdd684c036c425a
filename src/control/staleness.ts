// Whether the picture is too old to take anything away by it: a kind that is not listed whole, or whose watch has been
// silent for longer than a healthy one can be, bookmarks included.

import type { Millis } from "../api/time.ts";
import type { Staleness } from "../snapshot/picture.ts";
import type { WatchedKind } from "./feeds.ts";
import type { Clock } from "./ports.ts";

/** Bookmarks come each minute. */
const silenceMaxMs: Millis = 75_000;
/** How soon it is noticed that a kind is in step again, or not yet listed. */
const lookAgainMs: Millis = 1_000;

export function stalenessOf(kinds: readonly WatchedKind[]): Staleness | undefined {
  const unlisted = kinds.find(({ fed }) => !fed.synced);
  if (unlisted !== undefined) {
    const { resource } = unlisted;
    return { resource: resource.plural, message: `The list of ${resource.plural} is not complete.` };
  }
  const silent = kinds.find(({ fed }) => fed.ageMs() > silenceMaxMs);
  if (silent === undefined) return undefined;
  const { plural } = silent.resource;
  const message = `The watch of ${plural} has brought nothing for more than ${silenceMaxMs / 1000} s, not even a bookmark.`;
  return { resource: plural, message };
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
    const oldestMs = Math.max(...kinds.map(({ fed }) => fed.ageMs()));
    const inMs = this.#last === undefined ? Math.max(lookAgainMs, silenceMaxMs + 1 - oldestMs) : lookAgainMs;
    this.#cancel = clock.after(inMs, () => this.#look());
  }
}
