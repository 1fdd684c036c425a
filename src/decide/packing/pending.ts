// The pods still to be placed, those that are alike together: by kind and by size. Their order is the order in which
// they are tried, and depends on nothing but what they are.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Count } from "./census.ts";
import { atOnce, type Effort } from "./effort.ts";
import type { Labels } from "../../api/selector.ts";
import { type Kind, kindSignature } from "./kind.ts";
import type { Picture } from "./picture.ts";
import { type Amounts, amountsSignature, podAmounts, pods as places } from "./resources.ts";
import { sortedInSlices } from "./sliced-sort.ts";
import { dot } from "./worth.ts";

export type Size = {
  readonly amounts: Amounts;
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
  #classCount = 0;
  #lanes: Size[][] = [];
  /** Sizes used up since the lanes were made. */
  #used = 0;
  readonly #picture: Picture;
  readonly #classBySignature = new Map<string, Map<string, PodClass>>();
  /** Who is made from one template may share its spec: then one look is enough. */
  readonly #lookBySpec = new Map<Pod["spec"], Look>();
  /** By a hash of the amounts, or the next number that is free. */
  readonly #sizeByHash = new Map<number, Size>();
  readonly #limitByCount = new Map<Count, HostLimit>();

  constructor(picture: Picture) {
    this.#picture = picture;
    this.demand = new Float64Array(picture.space.names.length);
  }

  /** Add all, `sort`, then `close`. Says how far it came: not beyond the first of a class. */
  addSome(pods: readonly Pod[], from: number, to: number): number {
    const before = this.#classCount;
    for (let index = from; index < to; index++) {
      const pod = pods[index];
      if (pod === undefined) continue;
      const look = this.#lookBySpec.get(pod.spec);
      if (look !== undefined && isAlike(look.pod, pod)) {
        look.one.pods.push(pod);
        continue;
      }
      const one = this.#class(pod);
      one.pods.push(pod);
      this.#lookBySpec.set(pod.spec, { pod, one });
      if (this.#classCount > before) return index + 1;
    }
    return to;
  }

  #class(pod: Pod): PodClass {
    const ofKind = kindSignature(pod);
    let classes = this.#classBySignature.get(ofKind);
    if (classes === undefined) {
      classes = new Map();
      this.#classBySignature.set(ofKind, classes);
    }
    const amounts = amountsSignature(pod);
    let one = classes.get(amounts);
    if (one === undefined) {
      one = this.#classOf(this.#picture.kind(pod, ofKind), podAmounts(pod, this.#picture.space));
      classes.set(amounts, one);
    }
    return one;
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
      for (const { classes } of this.sizes) {
        for (const one of classes) {
          this.#enter(one, one.pods.length);
          entered.push(one);
        }
        effort.work += classes.length;
        if (entered.length % 256 === 0) yield;
      }
      isWhole = true;
    } finally {
      if (!isWhole) for (const one of entered) this.#enter(one, -one.pods.length);
    }
    this.#initial = this.demand.slice();
    this.#classBySignature.clear();
    this.#lookBySpec.clear();
  }

  /** Of each resource the largest amount of which every size asks for a multiple. */
  grain(): Amounts {
    const grain = new Float64Array(this.demand.length);
    for (const { amounts } of this.sizes) {
      for (let r = 0; r < amounts.length; r++) grain[r] = commonMeasure(grain[r] ?? 0, amounts[r] ?? 0);
    }
    return grain;
  }

  /** Values sizes by the worth of resources and puts them in order, the largest first. */
  *arrange(worthOf: Float64Array, effort: Effort): Generator<void, PodClass[]> {
    this.sizes = yield* largestFirst(this.sizes, worthOf, effort);
    let sorted = 0;
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
      effort.work += 0.3 * classes.length;
      if (++sorted % 64 === 0) yield;
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

  /** The next pod, whose leaving is told later, together with that of others: `left`. */
  draw(one: PodClass): Pod | undefined {
    const pod = one.pods.pop();
    if (pod !== undefined) one.size.left--;
    return pod;
  }

  /** So many were drawn and found a place. */
  left(one: PodClass, count: number): void {
    one.size.left += count;
    this.#enter(one, -count);
  }

  /** The same pods as another kind: with fewer wishes, or with all of them again. */
  turn(one: PodClass, kind: Kind): PodClass {
    const other = this.#classOf(kind, one.size.amounts);
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

  #classOf(kind: Kind, amounts: Amounts): PodClass {
    const size = this.#sizeOf(amounts);
    const known = size.classes.find(one => one.kind === kind);
    if (known !== undefined) return known;
    const made = { kind, size, pods: [], floor: 0 };
    size.classes.push(made);
    this.#classCount++;
    return made;
  }

  #sizeOf(amounts: Amounts): Size {
    for (let hash = hashOf(amounts); ; hash++) {
      const known = this.#sizeByHash.get(hash);
      if (known === undefined) {
        // Not a whole number at first, lest every size changes its shape in memory when it gets its value.
        const size = { amounts, value: Number.NaN, classes: [], left: 0 };
        this.#sizeByHash.set(hash, size);
        this.sizes.push(size);
        return size;
      }
      if (compareAmounts(known.amounts, amounts) === 0) return known;
    }
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

type Look = { readonly pod: Pod; readonly one: PodClass };

/** Whether pods with the same spec are surely of one class, by what costs little to compare. */
function isAlike(a: Pod, b: Pod): boolean {
  const one = a.metadata;
  const other = b.metadata;
  if (one.namespace !== other.namespace || a.spec.volumes !== undefined) return false;
  if (one.labels !== other.labels && !(isEmpty(one.labels) && isEmpty(other.labels))) return false;
  return (a.status ?? b.status) === undefined || !(hasAllocated(a) || hasAllocated(b));
}

function hasAllocated({ status }: Pod): boolean {
  return status?.containerStatuses !== undefined || status?.initContainerStatuses !== undefined;
}

function isEmpty(labels: Labels | undefined): boolean {
  for (const _ in labels) return false;
  return true;
}

function commonMeasure(a: number, b: number): number {
  // Nearly always it is the one that is known.
  if (a !== 0 && b % a === 0) return a;
  while (b !== 0) {
    const rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/** Equal for equal amounts, and rarely else. What is none at the end of the list says nothing. */
function hashOf(amounts: Amounts): number {
  let hash = 0;
  for (let r = 0; r < amounts.length; r++) {
    const amount = amounts[r] ?? 0;
    // In two halves, for memory in bytes is more than 32 bits hold.
    if (amount !== 0) hash = Math.imul(hash ^ amount ^ (amount / 0x1_0000_0000), 0x9e37_79b1) + r;
  }
  return hash | 0;
}

function lastFirst(a: Pod, b: Pod): number {
  const one = a.metadata;
  const other = b.metadata;
  if (one.creationTimestamp !== other.creationTimestamp) {
    return (one.creationTimestamp ?? "") < (other.creationTimestamp ?? "") ? 1 : -1;
  }
  if (one.name !== other.name) return one.name < other.name ? 1 : -1;
  return podKey(a) < podKey(b) ? 1 : -1;
}

// The values are sorted as plain numbers, and each size looks up its place among them: a tenth of the price of sorting
// what has the values.
function* largestFirst(sizes: readonly Size[], worthOf: Float64Array, effort: Effort): Generator<void, Size[]> {
  const values = new Float64Array(sizes.length);
  for (let index = 0; index < sizes.length; index++) {
    const size = sizes[index];
    if (size !== undefined) values[index] = size.value = -dot(worthOf, size.amounts);
  }
  values.sort();
  effort.work += values.length * 0.2;
  yield;
  const sorted = sizes.slice();
  const taken = new Uint32Array(sizes.length);
  for (let index = 0; index < sizes.length; index++) {
    const size = sizes[index];
    if (size === undefined) continue;
    const at = firstAt(values, size.value);
    const before = taken[at] ?? 0;
    taken[at] = before + 1;
    sorted[at + before] = size;
    if (index % 256 !== 255) continue;
    effort.work += 256 * 0.2;
    yield;
  }
  for (let at = 0; at < sorted.length; at += Math.max(1, taken[at] ?? 0)) {
    const equals = taken[at] ?? 0;
    if (equals < 2) continue;
    const inOrder = sorted.slice(at, at + equals).sort((a, b) => compareAmounts(b.amounts, a.amounts));
    for (const [index, size] of inOrder.entries()) sorted[at + index] = size;
  }
  for (const size of sorted) size.value = -size.value;
  return sorted;
}

function firstAt(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
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

/** So many are looked at before the work is weighed. */
const looks = 64;

/** All pods of a list, in slices. */
export function* gathered(picture: Picture, pods: readonly Pod[], effort: Effort): Generator<void, Pending> {
  const pending = new Pending(picture);
  for (let from = 0; from < pods.length; ) {
    const to = pending.addSome(pods, from, Math.min(from + looks, pods.length));
    const work = 12 + (to - from) + picture.effort();
    effort.work += work;
    if (work > 50 || to % 16 === 0) yield;
    from = to;
  }
  yield* pending.sort(effort);
  yield* pending.close(effort);
  return pending;
}

export function pendingOf(picture: Picture, pods: readonly Pod[]): Pending {
  return atOnce(gathered(picture, pods, { work: 0 }));
}
