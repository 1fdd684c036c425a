// Since when each refusal stands. A sentence may change while the "no" is the same: then its time stays.

import type { Instant } from "../api/time.ts";
import type { Refusal } from "../decide/decision.ts";

export class RefusalTimes {
  readonly #sinceByKey = new Map<string, Instant>();

  refused(refusal: Refusal, now: Instant): void {
    const key = keyOf(refusal);
    if (!this.#sinceByKey.has(key)) this.#sinceByKey.set(key, now);
  }

  /** `standing`: what is refused to the same subject still, since several rules may say the same. */
  lifted(refusal: Refusal, standing: readonly Refusal[]): void {
    if (!standing.some(({ code }) => code === refusal.code)) this.#sinceByKey.delete(keyOf(refusal));
  }

  since(refusal: Refusal): Instant | undefined {
    return this.#sinceByKey.get(keyOf(refusal));
  }

  clear(): void {
    this.#sinceByKey.clear();
  }
}

function keyOf({ subject, code }: Refusal): string {
  return `${code} ${subject}`;
}
