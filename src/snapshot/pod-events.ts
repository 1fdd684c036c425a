// When a pod last came to each node or went from it, of those that could run elsewhere. By our own clock where we saw it
// happen; of pods that were there before us by their own word, and of those that went before us nobody tells. Stored
// nowhere: claims keep what must outlive us.

import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import type { Change } from "./tables.ts";
import type { PodView } from "./views.ts";

/** A restart takes so long at most; whoever was away for longer has missed pods that came and went. */
const restartMaxMs: Millis = minuteMs;

export class PodEvents {
  readonly #now: () => Instant;
  readonly #atByNode = new Map<string, Instant>();
  #since: Instant;
  #isListed = false;
  #watchedUntil = Number.NEGATIVE_INFINITY;

  constructor(now: () => Instant) {
    this.#now = now;
    this.#since = now();
  }

  /** Since when none is missed. */
  get since(): Instant {
    return this.#since;
  }

  get isSeamless(): boolean {
    // A time to come is no better: it is another's clock, and nobody knows how far ahead that was.
    return Math.abs(this.#since - this.#watchedUntil) <= restartMaxMs;
  }

  /** When somebody of ours was last known to watch, before we did. */
  followOn(watchedUntil: Instant): void {
    this.#watchedUntil = watchedUntil;
  }

  /** Who went while we began is in no list. */
  listed(): void {
    if (!this.#isListed) this.#since = this.#now();
    this.#isListed = true;
  }

  adopt(other: PodEvents): void {
    this.#since = other.#since;
    this.#isListed = other.#isListed;
    this.#watchedUntil = other.#watchedUntil;
    for (const [node, at] of other.#atByNode) this.#atByNode.set(node, at);
  }

  on(nodeName: string): Instant | undefined {
    return this.#atByNode.get(nodeName);
  }

  forget(nodeName: string): void {
    this.#atByNode.delete(nodeName);
  }

  changed({ before, after }: Change<PodView>): void {
    if (before === undefined) {
      if (after !== undefined) this.#note(after, after.nodeName, lastWord(after));
      return;
    }
    const [from, to] = [placeOf(before), placeOf(after)];
    if (from === to) return;
    this.#note(before, from, this.#now());
    if (after !== undefined) this.#note(after, to, this.#now());
  }

  #note({ isStatic, ownerKind }: PodView, nodeName: string | undefined, at: Instant): void {
    if (nodeName === undefined || isStatic || ownerKind === "DaemonSet") return;
    const known = this.#atByNode.get(nodeName) ?? Number.NEGATIVE_INFINITY;
    this.#atByNode.set(nodeName, Math.max(known, Math.min(at, this.#now())));
  }
}

/** Where it runs; one that ends or has ended is nowhere any more. */
function placeOf(pod: PodView | undefined): string | undefined {
  const hasEnded = pod?.deletionAt !== undefined || pod?.phase === "Succeeded" || pod?.phase === "Failed";
  return hasEnded ? undefined : pod?.nodeName;
}

/**
 * The latest that its binding or its end can have been, by the pod alone: one that has not started may be bound since just
 * now, and with how much grace it was told to stop nobody knows.
 */
function lastWord({ startedAt = Number.POSITIVE_INFINITY, deletionAt }: PodView): Instant {
  return Math.max(startedAt, deletionAt ?? startedAt);
}
