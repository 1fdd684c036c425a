// Pods that wait and name the node they are to run on (status.nominatedNodeName): by our own word, or by another's, such as
// a scheduler that makes room for them by preemption. Another's is believed for a while, as long as the node is there:
// whoever wrote it may have been the leader before us, and the node may not take the pod after all.

import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import type { PodView } from "./views.ts";

/** As long as those whom a preemption puts out may take to go. */
const believedMs: Millis = 5 * minuteMs;

/** `isBelieved`: its node is there. */
type Word = { readonly pod: PodView; readonly until: Instant; readonly isBelieved: boolean };

export class Nominations {
  /** The node that we named last, by the pod's uid; also one that another named, once it is for us to say. */
  readonly #own = new Map<string, string>();
  readonly #others = new Map<string, Word>();

  /** When the first word of another is believed no longer. */
  get nextAt(): Instant | undefined {
    const untils = this.#believed().map(({ until }) => until);
    return untils.length === 0 ? undefined : Math.min(...untils);
  }

  ownOf(podUid: string): string | undefined {
    return this.#own.get(podUid);
  }

  own({ uid, nominatedNode }: Pick<PodView, "uid" | "nominatedNode">): void {
    this.#others.delete(uid);
    if (nominatedNode !== undefined) this.#own.set(uid, nominatedNode);
  }

  /** Its node's name was taken out again. */
  silenced({ uid }: PodView): void {
    this.#others.delete(uid);
  }

  /** Somebody else's word, from the first time on that it was seen. */
  hear(pod: PodView, { isThere, now }: { readonly isThere: boolean; readonly now: Instant }): void {
    const known = this.#others.get(pod.uid);
    const isNew = known === undefined || known.pod.nominatedNode !== pod.nominatedNode;
    this.#others.set(pod.uid, { pod, until: isNew ? now + believedMs : known.until, isBelieved: isThere });
  }

  forget({ uid }: PodView): void {
    this.#own.delete(uid);
    this.#others.delete(uid);
  }

  /** For whom somebody else has named a node: this one, or any. */
  named(nodeName?: string): readonly PodView[] {
    const pods = [...this.#others.values()].map(({ pod }) => pod);
    return nodeName === undefined ? pods : pods.filter(({ nominatedNode }) => nominatedNode === nodeName);
  }

  due(now: Instant): readonly PodView[] {
    return this.#believed().flatMap(({ pod, until }) => (until <= now ? [pod] : []));
  }

  adopt(other: Nominations): void {
    for (const [uid, nodeName] of other.#own) this.#own.set(uid, nodeName);
    for (const [uid, { until }] of other.#others) {
      const known = this.#others.get(uid);
      if (known !== undefined) this.#others.set(uid, { ...known, until });
    }
  }

  #believed(): readonly Word[] {
    return [...this.#others.values()].filter(({ isBelieved }) => isBelieved);
  }
}
