// Pods that wait and name the node they are to run on (status.nominatedNodeName): by our own word, or by another's, such as
// a scheduler that makes room for them by preemption. Another's is believed for a while, as long as the node is there:
// whoever wrote it may have been the leader before us, and the node may not take the pod after all.

import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import type { Placement } from "./placement.ts";
import type { PodView } from "./views.ts";

/** As long as those whom a preemption puts out may take to go. */
const believedMs: Millis = 5 * minuteMs;

/** `isBelieved`: its node is there. */
type Word = {
  readonly pod: PodView;
  readonly node: string;
  readonly until: Instant;
  readonly isBelieved: boolean;
};

export class Nominations {
  /** The node that we named last, by the pod's uid; also one that another named, once it is for us to say. */
  readonly #own = new Map<string, string>();
  readonly #others = new Map<string, Word>();
  /** The open node on which the scheduler's last try with our word failed, by the pod's uid. */
  readonly #failedOn = new Map<string, string>();
  /** By the node that they name. */
  readonly #uidsByNode = new Map<string, Set<string>>();
  readonly #roomChanged: (pod: PodView, node: string) => void;

  /** `roomChanged`: by another's word room on that node is kept for the pod, or no longer. */
  constructor(roomChanged: (pod: PodView, node: string) => void) {
    this.#roomChanged = roomChanged;
  }

  /** When the first word of another is believed no longer. */
  get nextAt(): Instant | undefined {
    let next: Instant | undefined;
    for (const { until } of this.#believed()) if (next === undefined || until < next) next = until;
    return next;
  }

  ownOf(podUid: string): string | undefined {
    return this.#own.get(podUid);
  }

  own({ uid, nominatedNode }: Pick<PodView, "uid" | "nominatedNode">): void {
    this.#keep(uid, undefined);
    if (nominatedNode !== undefined) this.#own.set(uid, nominatedNode);
  }

  /** A try has failed on an open node: whether it is the second there. The first may have come before the node was open. */
  failed({ uid }: PodView, node: string): boolean {
    const isAgain = this.#failedOn.get(uid) === node;
    this.#failedOn.set(uid, node);
    return isAgain;
  }

  /** What a pod that waits says; `isOurs`: it is expected on that node. */
  heard(
    pod: PodView,
    { isOurs, isThere, now }: { readonly isOurs: boolean; readonly isThere: boolean; readonly now: Instant },
  ): void {
    const { uid, nodeName, nominatedNode: node } = pod;
    // The name was taken out again, or has come true.
    if (node === undefined || nodeName !== undefined) return this.#keep(uid, undefined);
    if (isOurs || this.ownOf(uid) === node) return this.own(pod);
    const known = this.#others.get(uid);
    // From the first time on that it was seen.
    const until = known?.node === node ? known.until : now + believedMs;
    this.#keep(uid, { pod, node, until, isBelieved: isThere });
  }

  /** Where another's word keeps room for it: there it counts. */
  placementOf(podUid: string): Placement | undefined {
    const word = this.#others.get(podUid);
    return word?.isBelieved === true ? { on: "node", name: word.node, at: word.until - believedMs } : undefined;
  }

  forget({ uid }: PodView): void {
    this.#own.delete(uid);
    this.#failedOn.delete(uid);
    this.#keep(uid, undefined);
  }

  /** For whom somebody else has named a node: this one, or any. */
  named(nodeName?: string): readonly PodView[] {
    const words = nodeName === undefined ? [...this.#others.values()] : this.#of(nodeName);
    return words.map(({ pod }) => pod);
  }

  /** For whom room is kept there by another's word. */
  believedOn(nodeName: string): readonly PodView[] {
    return this.#of(nodeName).flatMap(({ pod, isBelieved }) => (isBelieved ? [pod] : []));
  }

  due(now: Instant): readonly PodView[] {
    return this.#believed().flatMap(({ pod, until }) => (until <= now ? [pod] : []));
  }

  adopt(other: Nominations): void {
    for (const [uid, nodeName] of other.#own) this.#own.set(uid, nodeName);
    for (const [uid, nodeName] of other.#failedOn) this.#failedOn.set(uid, nodeName);
    for (const [uid, { until }] of other.#others) {
      const known = this.#others.get(uid);
      if (known !== undefined) this.#others.set(uid, { ...known, until });
    }
  }

  #keep(uid: string, word: Word | undefined): void {
    const before = this.#others.get(uid);
    if (before !== undefined) this.#leaves(uid, before.node);
    if (word === undefined) this.#others.delete(uid);
    else {
      this.#others.set(uid, word);
      this.#uidsByNode.set(word.node, (this.#uidsByNode.get(word.node) ?? new Set<string>()).add(uid));
    }
    const roomBefore = before?.isBelieved === true ? before.node : undefined;
    const room = word?.isBelieved === true ? word.node : undefined;
    if (room === roomBefore) return;
    if (before !== undefined && roomBefore !== undefined) this.#roomChanged(before.pod, roomBefore);
    if (word !== undefined && room !== undefined) this.#roomChanged(word.pod, room);
  }

  #leaves(uid: string, node: string): void {
    const uids = this.#uidsByNode.get(node);
    uids?.delete(uid);
    if (uids?.size === 0) this.#uidsByNode.delete(node);
  }

  #of(node: string): readonly Word[] {
    return [...(this.#uidsByNode.get(node) ?? [])].flatMap(uid => this.#others.get(uid) ?? []);
  }

  #believed(): readonly Word[] {
    return [...this.#others.values()].filter(({ isBelieved }) => isBelieved);
  }
}
