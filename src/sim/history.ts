// The recent changes of one collection: what a watch from an old resourceVersion replays and what a list at an exact
// one is rebuilt from. Bounded by count and by bytes; what fell out is "too old".

import type { StoredEvent } from "./request.ts";
import type { StoredObject } from "./stored.ts";

export type Change = {
  type: "ADDED" | "MODIFIED" | "DELETED";
  revision: number;
  key: string;
  /** The object as written; for DELETED its last state, carrying the revision of the deletion. */
  stored: StoredObject;
  /** What it replaced. */
  previous: StoredObject | undefined;
  /** The event for those who watch everything, made once. */
  event?: StoredEvent;
};

export type HistoryBounds = { changeCountMax: number; bytesMax: number };

type Entry = { change: Change; bytes: number };

export class History {
  #entries: (Entry | undefined)[] = [];
  /** Entries before this index have fallen out; they are cut off in bulk. */
  #first = 0;
  #bytes = 0;
  /** A watch may start at this revision or later. */
  #completeSince: number;
  readonly #bounds: HistoryBounds;

  constructor(completeSince: number, bounds: HistoryBounds) {
    this.#completeSince = completeSince;
    this.#bounds = bounds;
  }

  get completeSince(): number {
    return this.#completeSince;
  }

  add(change: Change): void {
    const bytes = change.stored.bytes;
    this.#entries.push({ change, bytes });
    this.#bytes += bytes;
    while (this.#entries.length - this.#first > this.#bounds.changeCountMax || this.#bytes > this.#bounds.bytesMax) {
      this.#dropOldest();
    }
    if (this.#first > 1024 && this.#first > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Forgets everything up to and including `revision`, as etcd's compaction does. */
  compact(revision: number): void {
    while ((this.#entries[this.#first]?.change.revision ?? Number.POSITIVE_INFINITY) <= revision) this.#dropOldest();
    this.#completeSince = Math.max(this.#completeSince, revision);
  }

  /** Changes after `revision`, oldest first. */
  *after(revision: number): Generator<Change> {
    for (let index = this.#firstAfter(revision); index < this.#entries.length; index++) {
      yield (this.#entries[index] as Entry).change; // index < length
    }
  }

  /** What each key changed since `revision` held then; undefined: it did not exist. */
  undo(revision: number): Map<string, StoredObject | undefined> {
    const before = new Map<string, StoredObject | undefined>();
    for (const change of this.after(revision)) {
      if (!before.has(change.key)) before.set(change.key, change.previous);
    }
    return before;
  }

  #dropOldest(): void {
    const oldest = this.#entries[this.#first];
    if (oldest === undefined) return;
    this.#completeSince = oldest.change.revision;
    this.#bytes -= oldest.bytes;
    // Released at once: the slot itself goes with the next cut.
    this.#entries[this.#first++] = undefined;
  }

  #firstAfter(revision: number): number {
    let low = this.#first;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as Entry).change.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
