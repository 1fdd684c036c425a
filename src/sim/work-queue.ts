// What a controller of the box has still to look at: each key once, in the order in which it came, on the clock.

import type { Clock } from "../control/ports.ts";

export class WorkQueue {
  readonly #clock: Clock;
  readonly #sync: (key: string) => void;
  readonly #keys = new Set<string>();
  #isScheduled = false;

  constructor(clock: Clock, sync: (key: string) => void) {
    this.#clock = clock;
    this.#sync = sync;
  }

  add(key: string): void {
    this.#keys.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.after(0, () => this.#drain());
  }

  addAfter(key: string, delayMs: number): void {
    this.#clock.after(delayMs, () => this.add(key));
  }

  /** What comes in meanwhile waits for the next turn, so that no controller can keep the others out. */
  #drain(): void {
    this.#isScheduled = false;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#sync(key);
  }
}
