// Who wants to be looked at again, and when. Setting, taking away and asking for the next instant cost the logarithm of
// how many wait. Ties come in the order in which they were set.

import type { Instant } from "../api/time.ts";

type Wake<K> = { readonly key: K; readonly at: Instant; readonly order: number };

export class Wakes<K> {
  readonly #wakeByKey = new Map<K, Wake<K>>();
  /** A binary heap. One that was set anew or taken away stays in it until its time: it is known by not being the key's. */
  #heap: Wake<K>[] = [];
  #order = 0;

  get size(): number {
    return this.#wakeByKey.size;
  }

  /** Undefined: it need not be woken. */
  set(key: K, at: Instant | undefined): void {
    if (this.#wakeByKey.get(key)?.at === at) return;
    if (at === undefined) {
      this.#wakeByKey.delete(key);
      return;
    }
    const wake = { key, at, order: this.#order++ };
    this.#wakeByKey.set(key, wake);
    push(this.#heap, wake);
    if (this.#heap.length > 64 + 2 * this.#wakeByKey.size) this.#compact();
  }

  get next(): Instant | undefined {
    this.#dropStale();
    return this.#heap[0]?.at;
  }

  /** Those due at `now`, earliest first; they no longer wait. */
  take(now: Instant): K[] {
    const due: K[] = [];
    for (;;) {
      this.#dropStale();
      const first = this.#heap[0];
      if (first === undefined || first.at > now) return due;
      pop(this.#heap);
      this.#wakeByKey.delete(first.key);
      due.push(first.key);
    }
  }

  clear(): void {
    this.#wakeByKey.clear();
    this.#heap = [];
  }

  #dropStale(): void {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#wakeByKey.get(first.key) === first) return;
      pop(this.#heap);
    }
  }

  #compact(): void {
    this.#heap = [];
    for (const wake of this.#wakeByKey.values()) push(this.#heap, wake);
  }
}

function isBefore<K>(a: Wake<K>, b: Wake<K>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push<K>(heap: Wake<K>[], wake: Wake<K>): void {
  let at = heap.push(wake) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Wake<K>; // parent < at, so it exists
    if (!isBefore(wake, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = wake;
}

function pop<K>(heap: Wake<K>[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    // Both indices are below heap.length where they are read.
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Wake<K>, heap[child] as Wake<K>)) child++;
    if (!isBefore(heap[child] as Wake<K>, last)) break;
    heap[at] = heap[child] as Wake<K>;
    at = child;
  }
  heap[at] = last;
}
