// A clock that moves only when a test says so; wall and monotonic time can be moved apart, as suspend and NTP do.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/control/ports.ts";

type Timer = { at: number; run: () => void };

export class ManualClock implements Clock {
  #wall = Date.parse("2026-11-15T12:00:00Z");
  #monotonic = 1000;
  #timers: Timer[] = [];

  now = (): number => this.#wall;
  monotonic = (): number => this.#monotonic;

  after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { at: this.#monotonic + Math.max(0, delayMs), run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter(one => one !== timer);
    };
  };

  get waiting(): number {
    return this.#timers.length;
  }

  /** Runs what falls due, in order, with each promise settled before the next timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (;;) {
      await nextTurn();
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.filter(one => one !== next);
      this.pause(next.at - this.#monotonic);
      next.run();
    }
    this.pause(end - this.#monotonic);
    await nextTurn();
  }

  /** Time passes and nothing of this process runs: SIGSTOP, a long garbage collection. */
  pause(ms: number): void {
    this.#monotonic += Math.max(0, ms);
    this.#wall += Math.max(0, ms);
  }

  /** The wall clock alone is set; suspend looks like this too, since the monotonic clock sleeps with the machine. */
  setWallForward(ms: number): void {
    this.#wall += ms;
  }
}
