// Whether our clock and the API server's are far apart, by the Date of its answers: tolerations and time-outs are
// counted by ours from times that the server and the nodes wrote, so a clock that is ahead makes everything due at once.

import { type Instant, type Millis, minuteMs, secondMs } from "../api/time.ts";
import type { Clock } from "../control/ports.ts";

/** Clocks that are kept differ by milliseconds; tolerations and time-outs are minutes. */
const apartMaxMs: Millis = minuteMs;
/** Of several servers behind one address one may be wrong: as long as it answers from time to time, nobody knows which. */
const quietMs: Millis = minuteMs;

export class ServerClock {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  #aheadMs: Millis | undefined;
  #lastApart = Number.NEGATIVE_INFINITY;
  #looked: { readonly now: Instant; readonly monotonic: Millis };
  /** Our time right after a jump: who was asked before cannot tell. */
  #jumpedTo: Instant = Number.NEGATIVE_INFINITY;
  #changed: (aheadMs: Millis | undefined) => void = () => {};

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
    this.#looked = { now: clock.now(), monotonic: clock.monotonic() };
  }

  /** Our time, for whoever acts by it: one that has jumped is not believed before an answer has borne it out. */
  now(): Instant {
    const looked = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const jumpMs = looked.now - this.#looked.now - (looked.monotonic - this.#looked.monotonic);
    this.#looked = looked;
    if (Math.abs(jumpMs) <= apartMaxMs) return looked.now;
    this.#jumpedTo = looked.now;
    if (this.#aheadMs === undefined) this.#found(jumpMs);
    return looked.now;
  }

  /** How far we are ahead as it was found, negative: behind; undefined: not apart. Told at once, and when it changes. */
  onChange(changed: (aheadMs: Millis | undefined) => void): void {
    this.#changed = changed;
    changed(this.#aheadMs);
  }

  /** `date` is the header of an answer that has just come to a request sent at `sentAt`. */
  answered(date: string | undefined, sentAt: Instant): void {
    const written = Date.parse(date ?? "");
    const receivedAt = this.now();
    if (Number.isNaN(written) || sentAt < this.#jumpedTo || sentAt > receivedAt) return;
    const aheadMs = aheadBy(written, { sentAt, receivedAt });
    const isApart = Math.abs(aheadMs) > apartMaxMs;
    const monotonic = this.#clock.monotonic();
    if (isApart) this.#lastApart = monotonic;
    if (isApart && this.#aheadMs === undefined) this.#found(aheadMs);
    else if (this.#aheadMs !== undefined && monotonic - this.#lastApart >= quietMs) this.#found(undefined);
  }

  #found(aheadMs: Millis | undefined): void {
    this.#aheadMs = aheadMs;
    this.#changed(aheadMs);
  }
}

/** At least: it was written between the two, within the second that it names. */
function aheadBy(written: Instant, { sentAt, receivedAt }: { sentAt: Instant; receivedAt: Instant }): Millis {
  const aheadMs = sentAt - (written + secondMs);
  const behindMs = written - receivedAt;
  return aheadMs > 0 ? aheadMs : -Math.max(0, behindMs);
}
