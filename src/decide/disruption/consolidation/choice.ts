// Who had better go together: nodes are exchanged for one another among those that go, by chance and ever more strictly, as
// long as what stays becomes cheaper and the pods likely find room (simulated annealing). A proposal by numbers alone,
// which a trial with all rules judges. Chance is drawn from a fixed seed: the same question has the same answer.

import type { Effort } from "../../packing/effort.ts";
import { LikelyPlaces, type Row } from "./likely-places.ts";

/** `worth`: what is won if it goes, less what it is worth to leave its pods alone; undefined: it does not go. */
export type Option = Row & { readonly name: string; readonly worth: number | undefined };

export type Choice = { readonly goes: readonly string[]; readonly places: ReadonlyMap<string, string> };

/** So many at most are weighed against one another: for more, parts are as good and much quicker. */
const partMax = 160;
const triesPerNode = 30;
/** After so many tries it is asked whether somebody else needs the picture. */
const lookEvery = 256;
/** What is lost by a step is accepted at first, as a share of what an average node is worth. */
const heat = 0.05;

/** `stride`: how many resources there are. `isStopped`: what was found so far is the answer. */
type Ways = { readonly stride: number; readonly effort: Effort; readonly isStopped: () => boolean };

/** Options from who had better go first on. */
export function* choose(options: readonly Option[], ways: Ways): Generator<void, Choice> {
  const going = options.filter(({ worth }) => worth !== undefined).length;
  const partCount = Math.max(1, Math.ceil(going / partMax));
  const goes: string[] = [];
  const places = new Map<string, string>();
  for (let part = 0; part < partCount; part++) {
    // Dealt like cards, so that each part has some of all.
    const dealt = options.filter((_, index) => index % partCount === part);
    const anneal = new Annealing(dealt, ways);
    yield* anneal.run();
    for (const name of anneal.goes()) goes.push(name);
    for (const [key, name] of anneal.places()) places.set(key, name);
    yield;
  }
  return { goes, places };
}

class Annealing {
  readonly #options: readonly Option[];
  readonly #likely: LikelyPlaces;
  readonly #effort: Effort;
  readonly #isStopped: () => boolean;
  readonly #goes: Uint8Array;
  /** Those that may go, the ones that do first. */
  readonly #movable: Int32Array;
  #goingCount = 0;
  /** What is asked for by those that go, and free on those that stay, by resource. */
  readonly #asked: Float64Array;
  readonly #free: Float64Array;
  readonly #demands: readonly Float64Array[];
  readonly #stride: number;
  #value = 0;
  #best: { readonly value: number; readonly goes: Uint8Array };
  #seed = 1;

  constructor(options: readonly Option[], { stride, effort, isStopped }: Ways) {
    this.#options = options;
    this.#stride = stride;
    this.#effort = effort;
    this.#isStopped = isStopped;
    this.#likely = new LikelyPlaces(options, stride);
    this.#goes = new Uint8Array(options.length);
    this.#movable = Int32Array.from(
      [...options.entries()].flatMap(([row, { worth }]) => (worth === undefined || worth <= 0 ? [] : row)),
    );
    this.#asked = new Float64Array(stride);
    this.#free = new Float64Array(stride);
    this.#demands = options.map(({ pods }) => {
      const demand = new Float64Array(stride);
      for (const { amounts } of pods) for (let r = 0; r < stride; r++) demand[r] = (demand[r] ?? 0) + (amounts[r] ?? 0);
      return demand;
    });
    for (const row of options.keys()) this.#count(row, 1);
    this.#best = { value: 0, goes: this.#goes.slice() };
  }

  *run(): Generator<void, void> {
    const count = this.#movable.length;
    if (count === 0) return;
    this.#beginWith(this.#longestPrefix());
    yield;
    const tries = count * triesPerNode;
    const average = this.#options.reduce((sum, { worth = 0 }) => sum + worth, 0) / count;
    for (let index = 0; index < tries; index++) {
      if (index % lookEvery === lookEvery - 1 && this.#isStopped()) break;
      const allowance = -Math.log(Math.max(1e-9, this.#chance())) * heat * average * (1 - index / tries);
      this.#step(allowance);
      yield;
    }
    this.#goes.set(this.#best.goes);
    this.#fits();
  }

  goes(): readonly string[] {
    return this.#options.flatMap(({ name }, row) => (this.#goes[row] === 1 ? name : []));
  }

  *places(): Iterable<readonly [string, string]> {
    for (const [key, row] of this.#likely.places(this.#goes)) yield [key, this.#options[row]?.name ?? ""];
  }

  /** How many from the first on may go, found by halves. */
  #longestPrefix(): number {
    let [low, high] = [0, this.#movable.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      this.#beginWith(middle);
      if (this.#fits()) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #beginWith(count: number): void {
    while (this.#goingCount < count) this.#turn(this.#goingCount);
    while (this.#goingCount > count) this.#turn(this.#goingCount - 1);
    this.#remember();
  }

  /** One more goes, mostly in exchange for one that stays; sometimes two for one, sometimes one stays. */
  #step(allowance: number): void {
    const draw = this.#chance();
    const more = draw < 0.9 ? (draw < 0.75 ? 1 : 2) : 0;
    const fewer = draw < 0.25 ? 0 : 1;
    const before = this.#value;
    const turned: number[] = [];
    for (let index = 0; index < more; index++) this.#turnSome(turned, this.#goingCount, this.#movable.length);
    for (let index = 0; index < fewer; index++) this.#turnSome(turned, 0, this.#goingCount);
    this.#effort.work += 0.3;
    const isBackAndForth = new Set(turned).size < turned.length;
    if (!isBackAndForth && this.#value > before - allowance && (more === 0 || this.#fits())) {
      if (this.#value > this.#best.value) this.#remember();
      return;
    }
    for (const row of turned.toReversed()) this.#turn(this.#movable.indexOf(row));
  }

  #turnSome(turned: number[], from: number, to: number): void {
    if (from >= to) return;
    const at = from + Math.floor(this.#chance() * (to - from));
    turned.push(this.#movable[at] ?? 0);
    this.#turn(at);
  }

  /** Who goes stays, and who stays goes, by the place among those that may go. */
  #turn(at: number): void {
    const row = this.#movable[at] ?? 0;
    const { worth = 0 } = this.#options[row] ?? {};
    const isGoing = this.#goes[row] === 1;
    this.#count(row, -1);
    this.#goes[row] = isGoing ? 0 : 1;
    this.#count(row, 1);
    this.#value += isGoing ? -worth : worth;
    const border = isGoing ? --this.#goingCount : this.#goingCount++;
    this.#movable[at] = this.#movable[border] ?? 0;
    this.#movable[border] = row;
  }

  #count(row: number, sign: 1 | -1): void {
    const isGoing = this.#goes[row] === 1;
    const { free, takesPods } = this.#options[row] as Option; // rows are those of the options
    for (let r = 0; r < this.#stride; r++) {
      if (isGoing) this.#asked[r] = (this.#asked[r] ?? 0) + sign * (this.#demands[row]?.[r] ?? 0);
      else if (takesPods) this.#free[r] = (this.#free[r] ?? 0) + sign * Math.max(0, free[r] ?? 0);
    }
  }

  #fits(): boolean {
    for (let r = 0; r < this.#stride; r++) {
      const asked = this.#asked[r] ?? 0;
      // Sums of fractions are not exact.
      if (asked > 0 && asked > (this.#free[r] ?? 0) * (1 + 1e-9)) return false;
    }
    this.#effort.work += 10 + 0.1 * this.#likely.podCount;
    return this.#likely.fit(this.#goes);
  }

  #remember(): void {
    this.#best = { value: this.#value, goes: this.#goes.slice() };
  }

  /** Below 1, by Marsaglia's xorshift. */
  #chance(): number {
    this.#seed ^= this.#seed << 13;
    this.#seed ^= this.#seed >>> 17;
    this.#seed ^= this.#seed << 5;
    return (this.#seed >>> 0) / 2 ** 32;
  }
}
