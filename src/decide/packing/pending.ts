// The pods still to be placed, those that are alike together: by kind and by size. Their order is the order in which
// they are tried, and depends on nothing but what they are.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Count } from "./census.ts";
import { atOnce, type Effort } from "./effort.ts";
import type { Labels } from "../../api/selector.ts";
import { type Kind, kindSignature } from "./kind.ts";
import { type Lane, lanesOf } from "./lanes.ts";
import type { Picture } from "./picture.ts";
import { type Amounts, readAmounts } from "./resources.ts";
import { rowsAtOnce, SizeTable } from "./sizes.ts";
import { sortedInSlices } from "./sliced-sort.ts";

export class Size {
  /** Its place in the table of sizes. */
  row: number;
  classes: PodClass[] = [];
  /** Where there are many. */
  #classByKind: Map<Kind, PodClass> | undefined;
  readonly #table: SizeTable;
  #amounts: Amounts | undefined;

  constructor(table: SizeTable, row: number) {
    this.#table = table;
    this.row = row;
  }

  /** Most are never asked for alone. */
  get amounts(): Amounts {
    this.#amounts ??= this.#table.amounts(this.row);
    return this.#amounts;
  }

  classOf(kind: Kind): PodClass | undefined {
    if (this.#classByKind !== undefined) return this.#classByKind.get(kind);
    for (const one of this.classes) if (one.kind === kind) return one;
    return undefined;
  }

  add(one: PodClass): void {
    // Most have one: a list that begins with it is a quarter as long as one that it is added to.
    if (this.classes.length === 0) this.classes = [one];
    else this.classes.push(one);
    this.#classByKind?.set(one.kind, one);
    if (this.classes.length === manyClasses) this.#classByKind = new Map(this.classes.map(each => [each.kind, each]));
  }
}

const manyClasses = 16;

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
  /** By row of the table. */
  sizes: Size[] = [];
  readonly table: SizeTable;
  demand: Amounts;
  count = 0;
  #initial: Amounts = new Float64Array(0);
  #scratch: Amounts;
  #lanes: readonly Lane[] = [];
  /** How many sizes the lanes have, and how many of them were used up since. */
  #laned = 0;
  #used = 0;
  readonly #picture: Picture;
  /** Who is made from one template may share its spec: then one look is enough. */
  readonly #lookBySpec = new Map<Pod["spec"], Look>();
  readonly #limitByCount = new Map<Count, HostLimit>();

  /** For no more pods than `most`. */
  constructor(picture: Picture, most: number) {
    this.#picture = picture;
    this.demand = new Float64Array(picture.space.names.length);
    this.#scratch = new Float64Array(picture.space.names.length);
    this.table = new SizeTable(picture.space.names.length, most);
  }

  /** Add all, `sort`, then `close`. Says how far it came: not beyond the first of a kind. */
  addSome(pods: readonly Pod[], from: number, to: number): number {
    const before = this.#picture.kinds.length;
    for (let index = from; index < to; index++) {
      const pod = pods[index];
      if (pod === undefined) continue;
      const look = this.#lookBySpec.size === 0 ? undefined : this.#lookBySpec.get(pod.spec);
      if (look !== undefined && isAlike(look.pod, pod)) {
        look.one.pods.push(pod);
        continue;
      }
      const one = this.#add(pod);
      // Of specs that every pod has for itself none is met again.
      if (one.pods.at(-2)?.spec === pod.spec) this.#lookBySpec.set(pod.spec, { pod, one });
      if (this.#picture.kinds.length > before) return index + 1;
    }
    return to;
  }

  #add(pod: Pod): PodClass {
    const { space } = this.#picture;
    const kind = this.#picture.kind(pod, kindSignature(pod));
    const row = this.table.row(readAmounts(pod, space, this.#scratch));
    if (space.names.length > this.#scratch.length) this.#scratch = new Float64Array(space.names.length);
    let size = this.sizes[row];
    if (size === undefined) {
      size = new Size(this.table, row);
      this.sizes.push(size);
    }
    return added(size, kind, [pod]);
  }

  *sort(effort: Effort): Generator<void, void> {
    for (let row = 0; row < this.sizes.length; row++) {
      const classes = this.sizes[row]?.classes ?? [];
      if (row % rowsAtOnce === rowsAtOnce - 1) yield;
      for (let index = 0; index < classes.length; index++) {
        const one = classes[index];
        if (one === undefined || one.pods.length < 2) continue;
        const sorted = yield* sortedInSlices(one.pods, lastFirst, effort);
        for (let place = 0; place < sorted.length; place++) one.pods[place] = sorted[place] as Pod;
      }
    }
  }

  /** From here on counters know of the pods. Given up half-way, they forget those they were told of. */
  *close(effort: Effort): Generator<void, void> {
    const known = this.#picture.space.names.length;
    if (this.table.stride < known) this.table.widen(known);
    this.demand = new Float64Array(known);
    let entered = 0;
    let isWhole = false;
    try {
      while (entered < this.sizes.length) {
        const classes = this.sizes[entered]?.classes ?? [];
        for (let index = 0; index < classes.length; index++) {
          const one = classes[index];
          if (one !== undefined) this.#enter(one, one.pods.length);
        }
        effort.work += 0.3 * classes.length;
        if (++entered % 256 === 0) yield;
      }
      isWhole = true;
    } finally {
      if (!isWhole) forget(this.sizes.slice(0, entered));
    }
    this.#initial = this.demand.slice();
    this.#lookBySpec.clear();
  }

  /** Counters forget those that are left. */
  withdraw(): void {
    forget(this.sizes);
    this.sizes = [];
  }

  /** Of each resource the largest amount of which every size asks for a multiple. */
  *grain(effort: Effort): Generator<void, Amounts> {
    const { cells, count, stride } = this.table;
    const grain = new Float64Array(stride);
    for (let row = 0; row < count; row++) {
      for (let r = 0; r < stride; r++) grain[r] = commonMeasure(grain[r] ?? 0, cells[row * stride + r] ?? 0);
      if (row % rowsAtOnce !== rowsAtOnce - 1) continue;
      effort.work += rowsAtOnce * 0.1;
      yield;
    }
    return grain;
  }

  /** Puts sizes in order by the worth of resources, the largest first. */
  *arrange(worthOf: Float64Array, effort: Effort): Generator<void, PodClass[]> {
    const order = yield* this.table.arrange(worthOf, effort);
    const { sizes } = this;
    const classesByRank = new Map<number, PodClass[]>();
    let ranked: PodClass[] = [];
    let lastRank = -1;
    this.sizes = [];
    for (let row = 0; row < order.length; row++) {
      // Each place of the order is that of a size.
      const size = sizes[order[row] ?? 0] as Size;
      const { classes } = size;
      size.row = row;
      this.sizes.push(size);
      for (let index = 0; index < classes.length; index++) this.#setFloor(classes[index]);
      if (classes.length > 1) classes.splice(0, classes.length, ...(yield* sortedInSlices(classes, byFloor, effort)));
      for (let index = 0; index < classes.length; index++) {
        // Within bounds.
        const one = classes[index] as PodClass;
        const rank = 2 * one.floor + (one.kind.asks.length > 0 ? 1 : 0);
        if (rank !== lastRank) ranked = classesByRank.get(rank) ?? [];
        if (ranked.length === 0) classesByRank.set(rank, ranked);
        lastRank = rank;
        ranked.push(one);
      }
      effort.work += 0.2 * classes.length;
      if (row % 256 === 255) yield;
    }
    yield* this.#makeLanes(worthOf, effort);
    const ranks = [...classesByRank].sort(([a], [b]) => b - a);
    const [only] = ranks;
    return only !== undefined && ranks.length === 1 ? only[1] : ranks.flatMap(([, classes]) => classes);
  }

  /** Sizes that are left, in order, apart by the resource that they take the largest share of. */
  lanes(worth: Float64Array): readonly Lane[] {
    if (this.#lanes.length > 0 && this.#used * 2 < this.#laned) return this.#lanes;
    return atOnce(this.#makeLanes(worth, { work: 0 }));
  }

  *#makeLanes(worth: Float64Array, effort: Effort): Generator<void, readonly Lane[]> {
    this.#lanes = yield* lanesOf(this.table, { worth, demand: this.#initial }, effort);
    this.#laned = this.#lanes.reduce((sum, { rows }) => sum + rows.length, 0);
    this.#used = 0;
    return this.#lanes;
  }

  take(one: PodClass): Pod | undefined {
    const pod = one.pods.pop();
    if (pod !== undefined) this.#enter(one, -1);
    return pod;
  }

  /** So many pods of a plain class were taken. What they ask for is told later, together with that of others: `gave`. */
  drew(row: number, count: number): void {
    const { left } = this.table;
    const rest = (left[row] ?? 0) - count;
    left[row] = rest;
    this.count -= count;
    if (rest === 0) this.#used++;
  }

  gave(amounts: Amounts, times = 1): void {
    for (let r = 0; r < amounts.length; r++) this.demand[r] = (this.demand[r] ?? 0) - times * (amounts[r] ?? 0);
  }

  /** The same pods as another kind: with fewer wishes, or with all of them again. */
  turn(one: PodClass, kind: Kind): PodClass {
    if (kind === one.kind) return one;
    const pods = one.pods.splice(0);
    this.#enter(one, -pods.length);
    const other = added(one.size, kind, pods);
    this.#enter(other, pods.length);
    other.pods.sort(lastFirst);
    return other;
  }

  /** The least number of hosts that pods which exclude one another still need. */
  hostFloor(): number {
    let floor = 0;
    for (const { left, perHost } of this.#limitByCount.values()) floor = Math.max(floor, Math.ceil(left / perHost));
    return floor;
  }

  #setFloor(one: PodClass | undefined): void {
    if (one === undefined || one.kind.hostLimits.length === 0) return;
    for (const { count } of one.kind.hostLimits) {
      const limit = this.#limitByCount.get(count);
      if (limit !== undefined) one.floor = Math.max(one.floor, Math.ceil(limit.left / limit.perHost));
    }
  }

  #enter(one: PodClass, by: number): void {
    const { asks, hostLimits } = one.kind;
    this.drew(one.size.row, -by);
    if (asks.length > 0) for (const { counter } of asks) counter.pending += by;
    if (hostLimits.length > 0) this.#limit(hostLimits, by);
    const { cells, stride } = this.table;
    const start = one.size.row * stride;
    for (let r = 0; r < stride; r++) this.demand[r] = (this.demand[r] ?? 0) + by * (cells[start + r] ?? 0);
  }

  #limit(hostLimits: Kind["hostLimits"], by: number): void {
    for (const { count, perHost } of hostLimits) {
      const limit = this.#limitByCount.get(count);
      if (limit === undefined) {
        this.#limitByCount.set(count, { left: by, perHost });
        continue;
      }
      limit.left += by;
      // Whoever allows the most of them to be together: fewer hosts are not forced by anybody, whoever was met first.
      limit.perHost = Math.max(limit.perHost, perHost);
    }
  }
}

/** The class with these pods in it, made if it is new. */
function added(size: Size, kind: Kind, pods: Pod[]): PodClass {
  const known = size.classOf(kind);
  if (known !== undefined) {
    for (const pod of pods) known.pods.push(pod);
    return known;
  }
  const made = { kind, size, pods, floor: 0 };
  size.add(made);
  return made;
}

function forget(sizes: readonly Size[]): void {
  for (const { classes } of sizes) {
    for (const { kind, pods } of classes) for (const { counter } of kind.asks) counter.pending -= pods.length;
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

// The oldest is the next. Of the same age those with shorter names come first, so that numbered ones are in their order
// already, as whoever made them lists them.
function lastFirst(a: Pod, b: Pod): number {
  const one = a.metadata;
  const other = b.metadata;
  if (one.creationTimestamp !== other.creationTimestamp) {
    return (one.creationTimestamp ?? "") < (other.creationTimestamp ?? "") ? 1 : -1;
  }
  if (one.name.length !== other.name.length) return other.name.length - one.name.length;
  if (one.name !== other.name) return one.name < other.name ? 1 : -1;
  return podKey(a) < podKey(b) ? 1 : -1;
}

function byFloor(a: PodClass, b: PodClass): number {
  return b.floor - a.floor || compareKinds(a.kind, b.kind);
}

function compareKinds(a: Kind, b: Kind): number {
  if (a.signature !== b.signature) return a.signature < b.signature ? -1 : 1;
  return a.wishes.relaxed.length - b.wishes.relaxed.length;
}

/** So many are looked at before the work is weighed. */
const looks = 64;

/** All pods of a list, in slices. */
export function* gathered(picture: Picture, pods: readonly Pod[], effort: Effort): Generator<void, Pending> {
  const pending = new Pending(picture, pods.length);
  for (let from = 0; from < pods.length; ) {
    const to = pending.addSome(pods, from, Math.min(from + looks, pods.length));
    effort.work += 2 + (to - from) + picture.effort();
    yield;
    from = to;
  }
  yield* pending.sort(effort);
  yield* pending.close(effort);
  return pending;
}

export function pendingOf(picture: Picture, pods: readonly Pod[]): Pending {
  return atOnce(gathered(picture, pods, { work: 0 }));
}
