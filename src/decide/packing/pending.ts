// The pods still to be placed, those that are alike together: by kind and by size. Their order is the order in which
// they are tried, and depends on nothing but what they are.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Count } from "./census.ts";
import { atOnce, type Effort } from "./effort.ts";
import { type Kind, kindSignature } from "./kind.ts";
import type { Picture } from "./picture.ts";
import { type Amounts, amountsSignature, pods as places } from "./resources.ts";
import { sortedInSlices } from "./sliced-sort.ts";
import { dot } from "./worth.ts";

export type Size = {
  readonly amounts: Amounts;
  readonly signature: string;
  /** What it is worth, for the order and for filling. */
  value: number;
  readonly classes: PodClass[];
  /** Pods of this size that are not placed. */
  left: number;
};

/** Pods of one kind and size. The next one is the last of the list. */
export type PodClass = {
  readonly kind: Kind;
  readonly size: Size;
  readonly pods: Pod[];
  /** How many hosts its kind forces, at the start. */
  floor: number;
};

/** How many of the pods that exclude one another from a host are left, and how many a host may have. */
export type HostLimit = { left: number; perHost: number };

export class Pending {
  sizes: Size[] = [];
  demand: Amounts;
  count = 0;
  #initial: Amounts = new Float64Array(0);
  #lanes: Size[][] = [];
  /** Sizes used up since the lanes were made. */
  #used = 0;
  readonly #picture: Picture;
  readonly #classBySignature = new Map<string, Map<string, PodClass>>();
  readonly #sizeBySignature = new Map<string, Size>();
  readonly #limitByCount = new Map<Count, HostLimit>();

  constructor(picture: Picture) {
    this.#picture = picture;
    this.demand = new Float64Array(picture.space.names.length);
  }

  /** Add all, `sort`, then `close`. Says whether it was the first of its class. */
  add(pod: Pod): boolean {
    const ofKind = kindSignature(pod);
    let classes = this.#classBySignature.get(ofKind);
    if (classes === undefined) {
      classes = new Map();
      this.#classBySignature.set(ofKind, classes);
    }
    const amounts = amountsSignature(pod);
    const known = classes.get(amounts);
    if (known !== undefined) known.pods.push(pod);
    else classes.set(amounts, this.#classOf(this.#picture.kind(pod, ofKind), this.#picture.amounts(pod), [pod]));
    return known === undefined;
  }

  *sort(effort: Effort): Generator<void, void> {
    for (const { classes } of this.sizes) {
      for (const one of classes) {
        if (one.pods.length < 2) continue;
        const sorted = yield* sortedInSlices(one.pods, lastFirst, effort);
        one.pods.splice(0);
        for (const pod of sorted) one.pods.push(pod);
      }
    }
  }

  /** From here on counters know of the pods. Given up half-way, they forget those they were told of. */
  *close(effort: Effort): Generator<void, void> {
    if (this.demand.length < this.#picture.space.names.length) {
      this.demand = new Float64Array(this.#picture.space.names.length);
    }
    const entered: PodClass[] = [];
    let isWhole = false;
    try {
      for (const one of this.sizes.flatMap(({ classes }) => classes)) {
        this.#enter(one, one.pods.length);
        entered.push(one);
        effort.work += 1;
        if (entered.length % 256 === 0) yield;
      }
      isWhole = true;
    } finally {
      if (!isWhole) for (const one of entered) this.#enter(one, -one.pods.length);
    }
    this.#initial = this.demand.slice();
    this.#classBySignature.clear();
  }

  /** Values sizes by the worth of resources and puts them in order, the largest first. */
  *arrange(worthOf: Float64Array, effort: Effort): Generator<void, PodClass[]> {
    for (const size of this.sizes) size.value = dot(worthOf, size.amounts);
    effort.work += this.sizes.length * 0.2;
    yield;
    this.sizes = yield* sortedInSlices(this.sizes, bySize, effort);
    const classesByRank = new Map<number, PodClass[]>();
    for (const { classes } of this.sizes) {
      for (const one of classes) one.floor = this.#hostFloorOf(one.kind);
      if (classes.length > 1) classes.splice(0, classes.length, ...(yield* sortedInSlices(classes, byFloor, effort)));
      for (const one of classes) {
        const rank = 2 * one.floor + (one.kind.asks.length > 0 ? 1 : 0);
        const ranked = classesByRank.get(rank);
        if (ranked === undefined) classesByRank.set(rank, [one]);
        else ranked.push(one);
      }
      effort.work += classes.length;
      yield;
    }
    const ranks = [...classesByRank].sort(([a], [b]) => b - a);
    return ranks.flatMap(([, classes]) => classes);
  }

  /** Sizes that are left, in order, apart by the resource that they take the largest share of. */
  lanes(worthOf: Float64Array): readonly (readonly Size[])[] {
    const left = this.#lanes.reduce((sum, lane) => sum + lane.length, 0);
    if (this.#lanes.length > 0 && this.#used * 2 < left) return this.#lanes;
    const laneByResource = new Map<number, Size[]>();
    for (const size of this.sizes) {
      if (size.left === 0) continue;
      const scarcest = this.#scarcest(size, worthOf);
      const lane = laneByResource.get(scarcest) ?? [];
      if (lane.length === 0) laneByResource.set(scarcest, lane);
      lane.push(size);
    }
    this.#used = 0;
    this.#lanes = [...laneByResource].sort(([a], [b]) => a - b).map(([, lane]) => lane);
    return this.#lanes;
  }

  #scarcest({ amounts }: Size, worthOf: Float64Array): number {
    let scarcest = 0;
    let most = -1;
    for (let r = 0; r < amounts.length; r++) {
      const isCounted = (worthOf[r] ?? 0) > 0 && r !== places;
      const share = isCounted ? (amounts[r] ?? 0) / (this.#initial[r] || 1) : 0;
      if (share > most) [scarcest, most] = [r, share];
    }
    return scarcest;
  }

  take(one: PodClass): Pod | undefined {
    const pod = one.pods.pop();
    if (pod !== undefined) this.#enter(one, -1);
    return pod;
  }

  /** The same pods as another kind: with fewer wishes, or with all of them again. */
  turn(one: PodClass, kind: Kind): PodClass {
    const other = this.#classOf(kind, one.size.amounts, []);
    if (other === one) return one;
    this.#enter(one, -one.pods.length);
    this.#enter(other, one.pods.length);
    other.pods.push(...one.pods.splice(0));
    other.pods.sort(lastFirst);
    return other;
  }

  /** The least number of hosts that pods which exclude one another still need. */
  hostFloor(): number {
    let floor = 0;
    for (const { left, perHost } of this.#limitByCount.values()) floor = Math.max(floor, Math.ceil(left / perHost));
    return floor;
  }

  #hostFloorOf(kind: Kind): number {
    let floor = 0;
    for (const { count } of kind.hostLimits) {
      const limit = this.#limitByCount.get(count);
      if (limit !== undefined) floor = Math.max(floor, Math.ceil(limit.left / limit.perHost));
    }
    return floor;
  }

  #classOf(kind: Kind, amounts: Amounts, pods: Pod[]): PodClass {
    const signature = amounts.join(",");
    let size = this.#sizeBySignature.get(signature);
    if (size === undefined) {
      size = { amounts, signature, value: 0, classes: [], left: 0 };
      this.#sizeBySignature.set(signature, size);
      this.sizes.push(size);
    }
    const known = size.classes.find(each => each.kind === kind);
    if (known !== undefined) {
      known.pods.push(...pods);
      return known;
    }
    const made = { kind, size, pods, floor: 0 };
    size.classes.push(made);
    return made;
  }

  #enter({ kind, size }: PodClass, by: number): void {
    this.count += by;
    size.left += by;
    if (size.left === 0) this.#used++;
    for (const { counter } of kind.asks) counter.pending += by;
    for (const { count, perHost } of kind.hostLimits) {
      const limit = this.#limitByCount.get(count);
      if (limit === undefined) {
        this.#limitByCount.set(count, { left: by, perHost });
        continue;
      }
      limit.left += by;
      // Whoever allows the most of them to be together: fewer hosts are not forced by anybody, whoever was met first.
      limit.perHost = Math.max(limit.perHost, perHost);
    }
    for (let r = 0; r < size.amounts.length; r++) this.demand[r] = (this.demand[r] ?? 0) + by * (size.amounts[r] ?? 0);
  }
}

function lastFirst(a: Pod, b: Pod): number {
  const [created, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  if (created !== other) return created < other ? 1 : -1;
  if (a.metadata.name !== b.metadata.name) return a.metadata.name < b.metadata.name ? 1 : -1;
  return podKey(a) < podKey(b) ? 1 : -1;
}

function bySize(a: Size, b: Size): number {
  return b.value - a.value || compareAmounts(b.amounts, a.amounts);
}

function byFloor(a: PodClass, b: PodClass): number {
  return b.floor - a.floor || compareKinds(a.kind, b.kind);
}

function compareAmounts(a: Amounts, b: Amounts): number {
  for (let r = 0; r < Math.max(a.length, b.length); r++) {
    const difference = (a[r] ?? 0) - (b[r] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareKinds(a: Kind, b: Kind): number {
  if (a.signature !== b.signature) return a.signature < b.signature ? -1 : 1;
  return a.wishes.relaxed.length - b.wishes.relaxed.length;
}

/** All pods of a list, in slices. */
export function* gathered(picture: Picture, pods: readonly Pod[], effort: Effort): Generator<void, Pending> {
  const pending = new Pending(picture);
  for (const [index, pod] of pods.entries()) {
    const more = (pending.add(pod) ? 15 : 3) + picture.effort();
    effort.work += more;
    if (index % 32 === 31 || more > 100) yield;
  }
  yield* pending.sort(effort);
  yield* pending.close(effort);
  return pending;
}

export function pendingOf(picture: Picture, pods: readonly Pod[]): Pending {
  return atOnce(gathered(picture, pods, { work: 0 }));
}
