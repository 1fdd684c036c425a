// When the next turn is: soon after something changed, so that a burst makes one turn, and otherwise when the earliest
// instant comes for which somebody asked. Where turns are long, or nothing that they decide could be begun yet, they are
// rarer, and each takes in more of what changed.

import type { Instant, Millis } from "../api/time.ts";
import type { Clock } from "./ports.ts";

const burstMs: Millis = 10;
/** After a long turn: so many times as long as it took, so that most of the time is left to what it began. */
const restShare = 2;
const restMaxMs: Millis = 100;
/** Instants are wall time, timers are not: a clock that was set, or a machine that slept, is noticed within this. */
const waitMaxMs: Millis = 60_000;

export class Loop {
  readonly #clock: Clock;
  readonly #turn: () => Instant | undefined;
  readonly #crowdedMs: () => Millis;
  #cancel = (): void => {};
  /** By the monotonic clock; undefined: no timer runs. */
  #timerAt: number | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  /** By the monotonic clock: no turn before, but for an instant that comes. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isTurning = false;
  #isWoken = false;
  #isStopped = false;

  /** `turn` returns when it wants to be called again at the latest; `crowdedMs` says how long it can be spared. */
  constructor(clock: Clock, turn: () => Instant | undefined, crowdedMs: () => Millis = () => 0) {
    this.#clock = clock;
    this.#turn = turn;
    this.#crowdedMs = crowdedMs;
  }

  /** A turn is due for another reason than time. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Something changed. */
  wake(): void {
    this.#isWoken = true;
    // Also if it was woken before: by now there may be room.
    if (!this.#isTurning) this.#schedule(this.#soon());
  }

  /** No turn for so long, whatever happens. */
  pause(forMs: Millis): void {
    this.#notBefore = this.#clock.monotonic() + forMs;
    this.#schedule(forMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #schedule(inMs: Millis): void {
    const now = this.#clock.monotonic();
    const at = Math.max(now + Math.max(0, Math.min(inMs, waitMaxMs)), this.#notBefore);
    if (this.#isStopped || (this.#timerAt !== undefined && this.#timerAt <= at && this.#timerAt >= this.#notBefore))
      return;
    this.#cancel();
    this.#timerAt = at;
    this.#cancel = this.#clock.after(at - now, () => this.#run());
  }

  #run(): void {
    this.#timerAt = undefined;
    this.#isWoken = false;
    const startedAt = this.#clock.monotonic();
    this.#isTurning = true;
    const nextAt = this.#turn();
    this.#isTurning = false;
    const endedAt = this.#clock.monotonic();
    this.#restsUntil = endedAt + Math.min(restMaxMs, restShare * (endedAt - startedAt));
    if (this.#isWoken) this.#schedule(this.#soon());
    // Never at once: whoever asks for an instant that has passed, again and again, must not stop the clock.
    this.#schedule(nextAt === undefined ? waitMaxMs : Math.max(this.#soon(), nextAt - this.#clock.now()));
  }

  #soon(): Millis {
    return Math.max(burstMs, this.#restsUntil - this.#clock.monotonic(), this.#crowdedMs());
  }
}
