// The pods still to be placed, those that are alike together: by kind and by size. Their order is the order in which
// they are tried, and depends on nothing but what they are.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Count } from "./census.ts";
import { atOnce, type Effort } from "./effort.ts";
import { type Kind, kindSignature } from "./kind.ts";
import { type Lane, lanesOf, thinned } from "./lanes.ts";
import type { Picture } from "./picture.ts";
import { type Amounts, bareRequests, readAmounts } from "./resources.ts";
import { SizeTable } from "./sizes.ts";
import { sortedInSlices } from "./sliced-sort.ts";

export class Size {
  /** Its place in the table of sizes. */
  readonly row: number;
  readonly first: PodClass;
  readonly classes: PodClass[];
  /** Where there are many. */
  #classByKind: Map<Kind, PodClass> | undefined;
  readonly #table: SizeTable;
  #amounts: Amounts | undefined;

  constructor(table: SizeTable, row: number, { kind, pods }: Pick<PodClass, "kind" | "pods">) {
    this.#table = table;
    this.row = row;
    this.first = { kind, size: this, pods, isInOrder: true, floor: 0 };
    this.classes = [this.first];
  }

  /** Most are never asked for alone. */
  get amounts(): Amounts {
    this.#amounts ??= this.#table.amounts(this.row);
    return this.#amounts;
  }

  classOf(kind: Kind): PodClass | undefined {
    if (this.#classByKind !== undefined) return this.#classByKind.get(kind);
    for (let index = 0; index < this.classes.length; index++) {
      const one = this.classes[index];
      if (one?.kind === kind) return one;
    }
    return undefined;
  }

  add(one: PodClass): void {
    this.classes.push(one);
    this.#classByKind?.set(one.kind, one);
    if (this.classes.length === manyClasses) this.#classByKind = new Map(this.classes.map(each => [each.kind, each]));
  }
}

const manyClasses = 16;
/** Of more sizes than this the common measure is so small that everything is a multiple of it, or nearly. */
const measuredMax = 1_000;

/** Pods of one kind and size. The next one is the last of the list. */
export type PodClass = {
  readonly kind: Kind;
  readonly size: Size;
  readonly pods: Pod[];
  /** Whether each pod came after those that are to be placed before it: then all that is left is to turn them round. */
  isInOrder: boolean;
  /** How many hosts its kind forces, at the start. */
  floor: number;
};

/** Pods of a namespace that ask for nothing but CPU and memory: by the texts of both. */
type Bare = { readonly kind: Kind; readonly classesByCpu: Map<string, Map<string, PodClass>> };

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
  /** Of pods that ask for nothing special, by namespace; that of the last one is at hand. */
  readonly #bareByNamespace = new Map<string | undefined, Bare>();
  #bare: Bare | undefined;
  #bareNamespace: string | undefined;
  /** Classes of more than one pod, until these are in order. */
  readonly #several: PodClass[] = [];
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
      this.#add(pod);
      if (this.#picture.kinds.length > before) return index + 1;
    }
    return to;
  }

  // Said of every pod, by code that is cold. As long as there are few sizes the texts of the two amounts that most pods
  // ask for tell one that asks for nothing special: each of them is read once.
  #add(pod: Pod): void {
    const requests = bareRequests(pod);
    if (requests === undefined) return void this.#enlist(pod, this.#picture.kind(pod, kindSignature(pod)));
    const bare =
      this.#bare !== undefined && pod.metadata.namespace === this.#bareNamespace ? this.#bare : this.#bareOf(pod);
    if (this.table.count > measuredMax) return void this.#enlist(pod, bare.kind);
    const { cpu = "", memory = "" } = requests;
    let known = bare.classesByCpu.get(cpu);
    if (known === undefined) {
      known = new Map();
      bare.classesByCpu.set(cpu, known);
    }
    const one = known.get(memory);
    if (one === undefined) known.set(memory, this.#enlist(pod, bare.kind));
    else this.#join(one, pod);
  }

  #enlist(pod: Pod, kind: Kind): PodClass {
    const row = this.#readRow(pod);
    const size = this.sizes[row];
    if (size === undefined) {
      const made = new Size(this.table, row, { kind, pods: [pod] });
      this.sizes.push(made);
      return made.first;
    }
    const known = size.classOf(kind);
    if (known !== undefined) {
      this.#join(known, pod);
      return known;
    }
    const made = { kind, size, pods: [pod], isInOrder: true, floor: 0 };
    size.add(made);
    return made;
  }

  #readRow(pod: Pod): number {
    const { space } = this.#picture;
    const row = this.table.row(readAmounts(pod, space, this.#scratch));
    if (space.names.length > this.#scratch.length) this.#scratch = new Float64Array(space.names.length);
    return row;
  }

  #join(one: PodClass, pod: Pod): void {
    const { pods } = one;
    if (pods.length === 1) this.#several.push(one);
    const last = pods[pods.length - 1];
    if (one.isInOrder && last !== undefined && lastFirst(pod, last) > 0) one.isInOrder = false;
    pods.push(pod);
  }

  #bareOf(pod: Pod): Bare {
    const { namespace } = pod.metadata;
    let bare = this.#bareByNamespace.get(namespace);
    if (bare === undefined) {
      bare = { kind: this.#picture.kind(pod, kindSignature(pod)), classesByCpu: new Map() };
      this.#bareByNamespace.set(namespace, bare);
    }
    this.#bare = bare;
    this.#bareNamespace = namespace;
    return bare;
  }

  *sort(effort: Effort): Generator<void, void> {
    for (const one of this.#several) {
      effort.work += 0.5 + 0.01 * one.pods.length;
      if (one.isInOrder) one.pods.reverse();
      else {
        const sorted = yield* sortedInSlices(one.pods, lastFirst, effort);
        for (let place = 0; place < sorted.length; place++) one.pods[place] = sorted[place] as Pod;
      }
      if (effort.work % 100 < 1) yield;
    }
    this.#several.length = 0;
  }

  /** From here on counters know of the pods. Given up half-way, they forget those they were told of. */
  *close(effort: Effort): Generator<void, void> {
    const known = this.#picture.space.names.length;
    if (this.table.stride < known) this.table.widen(known);
    let entered = 0;
    let isWhole = false;
    try {
      while (entered < this.sizes.length) {
        const classes = this.sizes[entered]?.classes ?? [];
        for (let index = 0; index < classes.length; index++) {
          const one = classes[index];
          if (one !== undefined) this.#count(one, one.pods.length);
        }
        effort.work += 0.3 * classes.length;
        if (++entered % 256 === 0) yield;
      }
      this.demand = yield* this.table.demand(effort);
      isWhole = true;
    } finally {
      if (!isWhole) forget(this.sizes.slice(0, entered));
    }
    this.#initial = this.demand.slice();
  }

  /** Counters forget those that are left. */
  withdraw(): void {
    forget(this.sizes);
    this.sizes = [];
  }

  /** Of each resource the largest amount of which every size asks for a multiple; 0: none that would matter. */
  *grain(effort: Effort): Generator<void, Amounts> {
    const { cells, count, stride } = this.table;
    const grain = new Float64Array(stride);
    if (count > measuredMax) return grain;
    for (let row = 0; row < count; row++) {
      for (let r = 0; r < stride; r++) grain[r] = commonMeasure(grain[r] ?? 0, cells[row * stride + r] ?? 0);
    }
    effort.work += 0.1 * count;
    yield;
    return grain;
  }

  /** Puts sizes in order by the worth of resources, the largest first. */
  *arrange(worthOf: Float64Array, effort: Effort): Generator<void, PodClass[]> {
    const order = yield* this.table.arrange(worthOf, effort);
    const classesByRank = new Map<number, PodClass[]>();
    let ranked: PodClass[] = [];
    let lastRank = -1;
    for (let place = 0; place < order.length; place++) {
      // Each place of the order is that of a size.
      const { classes } = this.sizes[order[place] ?? 0] as Size;
      if (this.#limitByCount.size > 0) for (const one of classes) this.#setFloor(one);
      if (classes.length > 1) classes.splice(0, classes.length, ...(yield* sortedInSlices(classes, byFloor, effort)));
      for (let index = 0; index < classes.length; index++) {
        // Within bounds.
        const one = classes[index] as PodClass;
        const rank = 2 * one.floor + (one.kind.asks.length > 0 ? 1 : 0);
        if (rank !== lastRank) {
          lastRank = rank;
          ranked = classesByRank.get(rank) ?? [];
          classesByRank.set(rank, ranked);
        }
        ranked.push(one);
      }
      effort.work += 0.2 * classes.length;
      if (place % 256 === 255) yield;
    }
    // Nobody fills what cannot be launched.
    if (this.#picture.pools.length > 0) {
      const measure = { worth: worthOf, demand: this.#initial };
      this.#enterLanes(yield* lanesOf(this.table, measure, effort));
    }
    const ranks = [...classesByRank].sort(([a], [b]) => b - a);
    const [only] = ranks;
    return only !== undefined && ranks.length === 1 ? only[1] : ranks.flatMap(([, classes]) => classes);
  }

  /** Sizes that are left, in order, apart by the resource that they take the largest share of. Once they are arranged. */
  lanes(): readonly Lane[] {
    if (this.#used * 2 < this.#laned) return this.#lanes;
    this.#enterLanes(this.#lanes.map(lane => thinned(lane, this.table)));
    return this.#lanes;
  }

  #enterLanes(lanes: readonly Lane[]): void {
    this.#lanes = lanes.filter(({ rows }) => rows.length > 0);
    this.#laned = this.#lanes.reduce((sum, { rows }) => sum + rows.length, 0);
    this.#used = 0;
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

  #count({ kind: { asks, hostLimits }, size: { row } }: PodClass, by: number): void {
    const { left } = this.table;
    left[row] = (left[row] ?? 0) + by;
    this.count += by;
    if (asks.length > 0) for (const { counter } of asks) counter.pending += by;
    if (hostLimits.length > 0) this.#limit(hostLimits, by);
  }

  #enter(one: PodClass, by: number): void {
    this.#count(one, by);
    if (this.table.left[one.size.row] === 0) this.#used++;
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
  const made = { kind, size, pods, isInOrder: false, floor: 0 };
  size.add(made);
  return made;
}

function forget(sizes: readonly Size[]): void {
  for (const { classes } of sizes) {
    for (const { kind, pods } of classes) for (const { counter } of kind.asks) counter.pending -= pods.length;
  }
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
