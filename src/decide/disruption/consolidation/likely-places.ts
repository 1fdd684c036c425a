// Where pods that have to move would likely come to run if a scheduler is told nothing: the hardest first, as they are
// evicted, each where most is left and CPU and memory are used most evenly, as kube-scheduler scores nodes by default. By
// numbers alone and so quick: of the rules that pods have it knows the first spread of each that must hold.

import { type Amounts, cpu, memory } from "../../packing/resources.ts";
import { type Spread, SpreadCounts } from "./spread-counts.ts";

/** A node to be judged, what is free on it, all that it has, and the pods that would have to move if it went. */
export type Row = {
  readonly free: Amounts;
  readonly capacity: Amounts;
  readonly takesPods: boolean;
  readonly pods: readonly MovingPod[];
  /** The value of a label, as a number. */
  readonly labelOf: (key: string) => number;
  /** How many pods of a workload it has. */
  readonly countOf: (workload: object) => number;
};

export type MovingPod = {
  readonly key: string;
  readonly amounts: Amounts;
  /** Those go first that are hard to place (pod-hardness.ts). */
  readonly hardness: number;
  readonly spread?: Spread;
  /** Whose pods a scheduler keeps apart where it can. */
  readonly workload?: object;
};

/** More than anything is taken off: who has room scores more than nothing. */
const ready = 1_000;
/** What keeps pods of a workload apart by default is worth so much, beside room and balance, for each that is there. */
const apartWorth = 0.25;

/** Pods that ask for the same; `spread` and `workload`: which, by number; negative: none. */
type Alike = { readonly amounts: Amounts; readonly spread: number; readonly workload: number };

export class LikelyPlaces {
  readonly #rows: readonly Row[];
  readonly #stride: number;
  readonly #freeAtFirst: Float64Array;
  readonly #free: Float64Array;
  /** All pods in the order in which they are placed: the row that each is on, and whom it is like. */
  readonly #pods: readonly MovingPod[];
  readonly #rowByPod: Int32Array;
  readonly #alikeByPod: Int32Array;
  readonly #alike: readonly Alike[];
  readonly #spreads: readonly SpreadCounts[];
  /** By workload and row. */
  readonly #countsAtFirst: Int32Array;
  readonly #counts: Int32Array;
  readonly #open: Int32Array;
  readonly #scores: Float64Array;
  /** By pod, where it was put the last time. */
  readonly #placeByPod: Int32Array;

  constructor(rows: readonly Row[], stride: number) {
    this.#rows = rows;
    this.#stride = stride;
    this.#freeAtFirst = new Float64Array(rows.length * stride);
    for (const [row, { free }] of rows.entries()) this.#freeAtFirst.set(free.subarray(0, stride), row * stride);
    this.#free = new Float64Array(rows.length * stride);
    const spreads = spreadsOf(rows);
    this.#spreads = spreads.map(spread => new SpreadCounts(spread, rows));
    const workloads = [...new Set(rows.flatMap(({ pods }) => pods.flatMap(({ workload }) => workload ?? [])))];
    this.#countsAtFirst = Int32Array.from(workloads.flatMap(workload => rows.map(({ countOf }) => countOf(workload))));
    this.#counts = new Int32Array(this.#countsAtFirst.length);
    const numberOf = new Map<object | undefined, number>(workloads.map((one, index) => [one, index]));
    const alikeOf = ({ amounts, spread, workload }: MovingPod): Alike => ({
      amounts,
      spread: spread === undefined ? -1 : spreads.findIndex(({ id }) => id === spread.id),
      workload: numberOf.get(workload) ?? -1,
    });
    const inOrder = rows
      .flatMap(({ pods }, row) => pods.map(pod => ({ pod, row, ...alikeOf(pod) })))
      .sort((a, b) => b.pod.hardness - a.pod.hardness || compare(a, b));
    this.#pods = inOrder.map(({ pod }) => pod);
    this.#rowByPod = Int32Array.from(inOrder, ({ row }) => row);
    this.#alikeByPod = new Int32Array(inOrder.length);
    const alike: Alike[] = [];
    for (const [index, one] of inOrder.entries()) {
      const last = alike.at(-1);
      if (last === undefined || compare(last, one) !== 0) alike.push(one);
      this.#alikeByPod[index] = alike.length - 1;
    }
    this.#alike = alike;
    this.#open = new Int32Array(rows.length);
    this.#scores = new Float64Array(rows.length);
    this.#placeByPod = new Int32Array(inOrder.length);
  }

  get podCount(): number {
    return this.#pods.length;
  }

  /** Whether all pods of those that go find a place on the others. */
  fit(goes: Uint8Array): boolean {
    const openCount = this.#begin(goes);
    let last = -1;
    for (let pod = 0; pod < this.#rowByPod.length; pod++) {
      if (goes[this.#rowByPod[pod] ?? 0] === 0) continue;
      const alike = this.#alikeByPod[pod] ?? 0;
      // Those that are alike come one after the other: only the score of the row that took the last one is another.
      if (alike !== last) this.#score(alike, openCount);
      last = alike;
      const at = this.#best(openCount);
      if (at < 0) return false;
      // Where it must be spread, the rows that may take the next one are others.
      if (this.#put(pod, at).spread >= 0) last = -1;
    }
    return true;
  }

  /** By pod, the row on which it was put by the last `fit`. */
  *places(goes: Uint8Array): Iterable<readonly [string, number]> {
    for (const [index, { key }] of this.#pods.entries()) {
      if (goes[this.#rowByPod[index] ?? 0] === 1) yield [key, this.#placeByPod[index] ?? 0];
    }
  }

  #begin(goes: Uint8Array): number {
    this.#free.set(this.#freeAtFirst);
    this.#counts.set(this.#countsAtFirst);
    let count = 0;
    for (let row = 0; row < this.#rows.length; row++) {
      if (goes[row] === 0 && this.#rows[row]?.takesPods === true) this.#open[count++] = row;
    }
    if (this.#spreads.length > 0) this.#liftSpread(goes);
    return count;
  }

  #liftSpread(goes: Uint8Array): void {
    for (const spread of this.#spreads) spread.begin();
    for (let pod = 0; pod < this.#rowByPod.length; pod++) {
      const row = this.#rowByPod[pod] ?? 0;
      if (goes[row] === 1) this.#spreads[this.#alike[this.#alikeByPod[pod] ?? 0]?.spread ?? -1]?.add(row, -1);
    }
  }

  #score(alike: number, openCount: number): void {
    for (let at = 0; at < openCount; at++) this.#scores[at] = this.#scoreOf(this.#open[at] ?? 0, alike);
  }

  /** Negative: it has no room for them. */
  #scoreOf(row: number, alike: number): number {
    const { amounts, spread, workload } = this.#alike[alike] as Alike; // as they were numbered
    const { capacity } = this.#rows[row] as Row; // rows are those that it was made of
    const start = row * this.#stride;
    for (let r = 0; r < amounts.length; r++) {
      const amount = amounts[r] ?? 0;
      if (amount > 0 && !(amount <= (this.#free[start + r] ?? 0))) return -1;
    }
    if (this.#spreads[spread]?.mayTake(row) === false) return -1;
    const cpuLeft = ((this.#free[start + cpu] ?? 0) - (amounts[cpu] ?? 0)) / Math.max(1, capacity[cpu] ?? 0);
    const memoryLeft =
      ((this.#free[start + memory] ?? 0) - (amounts[memory] ?? 0)) / Math.max(1, capacity[memory] ?? 0);
    const others = workload < 0 ? 0 : (this.#counts[workload * this.#rows.length + row] ?? 0);
    return ready + (cpuLeft + memoryLeft) / 2 - Math.abs(cpuLeft - memoryLeft) / 2 - apartWorth * others;
  }

  #best(openCount: number): number {
    let best = -1;
    let most = 0;
    for (let at = 0; at < openCount; at++) {
      const score = this.#scores[at] ?? 0;
      if (score > most) [best, most] = [at, score];
    }
    return best;
  }

  #put(pod: number, at: number): Alike {
    const alike = this.#alikeByPod[pod] ?? 0;
    const kind = this.#alike[alike] as Alike; // as they were numbered
    const { amounts, spread, workload } = kind;
    const row = this.#open[at] ?? 0;
    const start = row * this.#stride;
    for (let r = 0; r < amounts.length; r++) this.#free[start + r] = (this.#free[start + r] ?? 0) - (amounts[r] ?? 0);
    this.#spreads[spread]?.add(row, 1);
    if (workload >= 0) this.#counts[workload * this.#rows.length + row]! += 1; // as they were numbered
    this.#scores[at] = this.#scoreOf(row, alike);
    this.#placeByPod[pod] = row;
    return kind;
  }
}

function spreadsOf(rows: readonly Row[]): readonly Spread[] {
  const spreadById = new Map<object, Spread>();
  for (const { pods } of rows)
    for (const { spread } of pods) if (spread !== undefined) spreadById.set(spread.id, spread);
  return [...spreadById.values()];
}

function compare(a: Alike, b: Alike): number {
  for (let r = 0; r < Math.max(a.amounts.length, b.amounts.length); r++) {
    const difference = (b.amounts[r] ?? 0) - (a.amounts[r] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.spread - b.spread || a.workload - b.workload;
}
