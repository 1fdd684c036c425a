// What comes by a watch in a trickle is left in the socket for a moment, so that more of it is read at once: where other
// processes are busy on the same cores, waking up for one event costs several times what the event does. A stream that
// brings much, as a list does, is never held up: its bytes must not pile up behind a buffer that is full.

import type { Millis } from "../api/time.ts";

/** In a window: less than a socket and its stream take in while nobody reads. */
const muchBytes = 96 * 1024;
/** In the window before: then it is a list, or a flood, and goes on. */
const floodBytes = 256 * 1024;

export class Trickle {
  readonly #windowMs: Millis;
  #endsAt = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #bytesBefore = 0;

  constructor(windowMs: Millis) {
    this.#windowMs = windowMs;
  }

  /** So many bytes have been read: how long the next ones may wait. The first ones of a window never do. */
  restMs(bytes: number, now: number): Millis {
    if (now >= this.#endsAt) {
      this.#bytesBefore = now < this.#endsAt + this.#windowMs ? this.#bytes : 0;
      this.#bytes = 0;
      // At the same instants for all streams: then one waking serves them all.
      this.#endsAt = (Math.floor(now / this.#windowMs) + 1) * this.#windowMs;
    }
    this.#bytes += bytes;
    const isTrickle = this.#bytes < muchBytes && this.#bytesBefore < floodBytes;
    return isTrickle ? this.#endsAt - now : 0;
  }
}
