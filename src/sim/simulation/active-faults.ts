// The faults that are in force, by kind of call, each with its end. A fault that strikes only a share of the calls is
// drawn by chance from the seed.

import type { Clock } from "../../control/ports.ts";
import type { Random } from "../random.ts";

export type Span = {
  /** Of monotonic time. */
  readonly until: number;
  /** Of 1; absent: every call. */
  readonly share?: number;
};

export class ActiveFaults<F extends Span> {
  readonly #clock: Clock;
  readonly #random: Random;
  #faults: F[] = [];
  #quietSince = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  add(fault: F): void {
    this.#faults.push(fault);
    this.#quietSince = Math.max(this.#quietSince, fault.until);
  }

  /** When the last of them ended, or will have. */
  get quietSince(): number {
    return this.#quietSince;
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  /** The one that strikes a call, the latest first. */
  strike(concerns: (fault: F) => boolean): F | undefined {
    if (this.#faults.length === 0) return undefined;
    const now = this.#clock.monotonic();
    this.#faults = this.#faults.filter(({ until }) => until > now);
    return this.#faults.findLast(
      fault => concerns(fault) && (fault.share === undefined || this.#random() / 2 ** 32 < fault.share),
    );
  }
}
