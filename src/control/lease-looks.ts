// What kubelets' leases said when they were last looked at, and since when: one that is the same from look to look is not
// renewed, whatever time it says. Lost with the process: then it is looked at anew.

import type { Instant } from "../api/time.ts";

/** Looks are rare, one a start: the oldest are of nodes that are long gone. */
const looksMax = 1_000;

export class LeaseLooks {
  readonly #lookByNode = new Map<string, { readonly renewedAt: Instant; readonly at: Instant }>();

  /** Notes a look, and says since which one the lease has said the same. */
  seenAt(nodeUid: string, renewedAt: Instant, now: Instant): Instant {
    const last = this.#lookByNode.get(nodeUid);
    if (last?.renewedAt === renewedAt) return last.at;
    this.#lookByNode.delete(nodeUid);
    this.#lookByNode.set(nodeUid, { renewedAt, at: now });
    for (const oldest of this.#lookByNode.keys()) {
      if (this.#lookByNode.size <= looksMax) break;
      this.#lookByNode.delete(oldest);
    }
    return now;
  }
}
