// Pods that fit nowhere, until something happens that may help one of them: kube-scheduler's queue of the unschedulable,
// with its hints and its back-off. It places nobody.

import { type JudgedRooms, shapeOf } from "./judged-rooms.ts";
import { type Placed, placed, type Room } from "./node-room.ts";
import { controllerOf, keyOf, type Pod } from "./objects.ts";

/** Why it still waits is written again after this, and twice as long each time. */
const tellAgainMinMs = 1000;
const tellAgainMaxMs = 10_000;

/** Pods that ask for the same: what helps none of them is found out once. */
type Kin = { readonly keys: Set<string>; readonly candidate: Placed; readonly shape: string };

export class RefusedPods {
  /** In the order in which they were refused, each with its likeness. */
  readonly #likenessByKey = new Map<string, string | undefined>();
  readonly #kinByLikeness = new Map<string, Kin>();
  readonly #toldByKey = new Map<string, { count: number; at: number }>();
  readonly #judged: JudgedRooms;
  #peculiarCount = 0;

  /** `judged`: kin of many controllers ask for the same, and a node that changes is judged once for all of them. */
  constructor(judged: JudgedRooms) {
    this.#judged = judged;
  }

  get size(): number {
    return this.#likenessByKey.size;
  }

  /** Some look at where other pods are: whatever moves may help them. */
  get areSomePeculiar(): boolean {
    return this.#peculiarCount > 0;
  }

  has(key: string): boolean {
    return this.#likenessByKey.has(key);
  }

  add(pod: Pod, candidate: Placed = placed(pod)): void {
    const key = keyOf(pod);
    const likeness = likenessOf(pod);
    this.#take(key);
    this.#likenessByKey.set(key, likeness);
    if (likeness === undefined) this.#peculiarCount++;
    else this.#kin(likeness, candidate).keys.add(key);
  }

  /** It no longer waits: placed, ended or gone. */
  forget(key: string): void {
    this.#take(key);
    this.#toldByKey.delete(key);
  }

  /** All of them, to be tried again. */
  takeAll(): string[] {
    const keys = [...this.#likenessByKey.keys()];
    this.#likenessByKey.clear();
    this.#kinByLikeness.clear();
    this.#peculiarCount = 0;
    return keys;
  }

  /** Whether the node, as it is now, may take one of them. */
  mayHelp(room: Room): boolean {
    if (this.areSomePeculiar) return true;
    for (const { candidate, shape } of this.#kinByLikeness.values()) {
      if (this.#judged.for(candidate, shape).scoreAt(room.place) >= 0) return true;
    }
    return false;
  }

  /** When the pod may be told again why it waits. */
  tellAt(key: string): number {
    const told = this.#toldByKey.get(key);
    if (told === undefined) return Number.NEGATIVE_INFINITY;
    return told.at + Math.min(tellAgainMaxMs, tellAgainMinMs * 2 ** (told.count - 1));
  }

  told(key: string, now: number): void {
    this.#toldByKey.set(key, { count: (this.#toldByKey.get(key)?.count ?? 0) + 1, at: now });
  }

  #kin(likeness: string, candidate: Placed): Kin {
    const known = this.#kinByLikeness.get(likeness);
    const kin = known ?? { keys: new Set(), candidate, shape: shapeOf(candidate) };
    this.#kinByLikeness.set(likeness, kin);
    return kin;
  }

  #take(key: string): void {
    if (!this.#likenessByKey.has(key)) return;
    const likeness = this.#likenessByKey.get(key);
    this.#likenessByKey.delete(key);
    if (likeness === undefined) {
      this.#peculiarCount--;
      return;
    }
    const kin = this.#kinByLikeness.get(likeness);
    kin?.keys.delete(key);
    if (kin?.keys.size === 0) this.#kinByLikeness.delete(likeness);
  }
}

/** Pods of one controller that ask for the same and look at no other pod fail for the same reason. */
export function likenessOf(pod: Pod): string | undefined {
  const { affinity, topologySpreadConstraints } = pod.spec;
  const owner = controllerOf(pod);
  if (owner === undefined || affinity !== undefined || topologySpreadConstraints !== undefined) return undefined;
  return JSON.stringify([owner.uid, pod.metadata.labels]);
}
