// Events are kept for an hour after they were last written, as on a real API server; else a box that runs for weeks would
// hold little else. The old ones go when new ones come: no timer is kept for them.

import type { Backend } from "./backend.ts";
import type { Change } from "./history.ts";

const collectionName = "events";
const keptMs = 60 * 60_000;

type Written = { readonly key: string; readonly revision: number; readonly at: number };

export class EventExpiry {
  readonly #backend: Backend;
  /** In the order in which they were written, from `#first` on. */
  #written: Written[] = [];
  #first = 0;
  #isScheduled = false;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  start(): void {
    this.#backend.store.onChange(({ name }, change) => {
      if (name === collectionName && change.type !== "DELETED") this.#note(change);
    });
  }

  #note({ key, revision }: Change): void {
    const { clock } = this.#backend;
    this.#written.push({ key, revision, at: clock.now() });
    if (this.#isScheduled || !this.#isOver(this.#written[this.#first])) return;
    this.#isScheduled = true;
    // Not at once: who watches is told of this write first.
    clock.after(0, () => this.#expire());
  }

  #expire(): void {
    this.#isScheduled = false;
    for (let next = this.#written[this.#first]; this.#isOver(next); next = this.#written[this.#first]) {
      this.#first++;
      this.#drop(next);
    }
    if (this.#first * 2 < this.#written.length) return;
    this.#written = this.#written.slice(this.#first);
    this.#first = 0;
  }

  /** Unless it has been written again since. */
  #drop({ key, revision }: Written): void {
    const { store } = this.#backend;
    const events = store.collection(collectionName);
    if (events.get(key)?.object.metadata.resourceVersion === String(revision)) store.remove(events, key);
  }

  #isOver(written: Written | undefined): written is Written {
    return written !== undefined && written.at + keptMs <= this.#backend.clock.now();
  }
}
