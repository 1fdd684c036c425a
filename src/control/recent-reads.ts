// Objects as they were a moment ago, read live or answered to a write of ours. Who must not rely on the watch alone may
// share such a look with others instead of asking the server for each.

import type { KubeObject } from "../api/meta.ts";
import type { Instant, Millis } from "../api/time.ts";
import type { Clock } from "./ports.ts";

type Look = { readonly at: Instant; readonly answer: Promise<KubeObject> };

const looksMax = 2_000;

export class RecentReads {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #lookByUid = new Map<string, Look>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** A look that began no longer ago than this. */
  recent(uid: string, maxAgeMs: Millis): Promise<KubeObject> | undefined {
    const look = this.#lookByUid.get(uid);
    return look !== undefined && this.#clock.monotonic() - look.at <= maxAgeMs ? look.answer : undefined;
  }

  /** One that fails is nobody's but the asker's. */
  share<T extends KubeObject>(uid: string, answer: Promise<T>): Promise<T> {
    this.#lookByUid.delete(uid);
    this.#lookByUid.set(uid, { at: this.#clock.monotonic(), answer });
    if (this.#lookByUid.size > looksMax) this.forget([...this.#lookByUid.keys()][0] ?? "");
    answer.catch(() => this.forget(uid));
    return answer;
  }

  forget(uid: string): void {
    this.#lookByUid.delete(uid);
  }
}
