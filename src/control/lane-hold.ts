// Who waits though there is room: commands of one sort, while others that matter more are under way or stand in line, but
// not for ever. Times are those of the clock that never jumps.

import type { Millis } from "../api/time.ts";
import type { Command, CommandKind } from "../decide/decision.ts";

/** Each is another one, whatever its command. */
type Errand = { readonly command: Command };

export class LaneHold {
  readonly #kinds: ReadonlySet<CommandKind>;
  readonly #maxMs: Millis;
  readonly #underWay = new Set<Errand>();
  #since: Millis | undefined;

  /** While commands of these kinds are under way somebody waits, so long at most: one that hangs stops nobody else. */
  constructor(kinds: ReadonlySet<CommandKind>, maxMs: Millis) {
    this.#kinds = kinds;
    this.#maxMs = maxMs;
  }

  /** When those who wait go on whatever happens; undefined: nobody has begun to wait. */
  get endsAt(): Millis | undefined {
    return this.#since === undefined ? undefined : this.#since + this.#maxMs;
  }

  holds(now: Millis): boolean {
    return this.#underWay.size > 0 && (this.endsAt === undefined || now < this.endsAt);
  }

  taken(errand: Errand, now: Millis): void {
    if (!this.#kinds.has(errand.command.kind)) return;
    // Of those who waited then nobody is left.
    const isLongAgo = this.#since !== undefined && now - this.#since > 2 * this.#maxMs;
    if (this.#underWay.size === 0 && isLongAgo) this.#since = undefined;
    this.#underWay.add(errand);
  }

  ended(errand: Errand): void {
    this.#underWay.delete(errand);
  }

  /** Somebody is not served. */
  waits(now: Millis): void {
    this.#since ??= now;
  }

  /** Somebody is. Where such commands never end for long, those who wait would else wait anew for each. */
  served(): void {
    if (this.#underWay.size === 0) this.#since = undefined;
  }

  /** Nobody waits any more. */
  reset(): void {
    this.#since = undefined;
  }
}
