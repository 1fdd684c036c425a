// Offerings that had no capacity a short while ago: what a claim could have become when the provider could not launch
// it. Kept in memory only: after a restart they are tried once more.

import type { NodeRequirement } from "../api/node-selector.ts";
import { instanceTypeKey } from "../api/node.ts";
import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import type { ClaimView } from "./views.ts";

/** Every offering that meets the requirements is avoided until then. */
export type Shortage = { readonly requirements: readonly NodeRequirement[]; readonly until: Instant };

/** Whether the cloud or the account has none left: nothing more of it can be had for a while, so others are tried. */
export const shortageReasons: readonly string[] = ["InsufficientCapacity", "QuotaExceeded"];
/** As upstream's providers remember it. */
const avoidedMs: Millis = 3 * minuteMs;

export class Shortages {
  readonly #byClaim = new Map<string, Shortage>();

  /** Only of claims that say which types they may become: of others too much would be avoided. */
  note({ uid, spec, conditions }: ClaimView): void {
    const launched = conditions.find(({ type }) => type === "Launched");
    const isShort = launched?.status === "False" && shortageReasons.includes(launched.reason);
    if (!isShort || launched.since === undefined || this.#byClaim.has(uid)) return;
    if (!spec.requirements.some(({ key }) => key === instanceTypeKey)) return;
    this.#byClaim.set(uid, { requirements: spec.requirements, until: launched.since + avoidedMs });
  }

  /** Those that are not over, and forgets the others. */
  at(now: Instant): readonly Shortage[] {
    for (const [uid, { until }] of this.#byClaim) if (until <= now) this.#byClaim.delete(uid);
    return [...this.#byClaim.values()];
  }
}
