// How candidates stand to one another: what keeping each costs for what it can hold, who may still go, who has taken pods and
// so stays, and what room there is. Its bounds dismiss most of them without a trial.

import type { Effort } from "../../packing/effort.ts";
import type { Picture } from "../../packing/picture.ts";
import { type Amounts, cpu } from "../../packing/resources.ts";
import { sortedInSlices } from "../../packing/sliced-sort.ts";
import type { TrialInput } from "../../packing/trial.ts";
import { needsPlace } from "../../packing/what-if.ts";
import type { Candidate, Question, Saving } from "./question.ts";

/** How many are replaced together at most: more is hardly cheaper, and all must come up before one goes. */
const groupMax = 10;

/**
 * What it is worth to leave a pod alone: so much of what a node of its pool costs on average. Of its own share, many small
 * pods would be moved for what few large ones are not.
 */
const leftAloneWorth = 0.03;
/** But half of its own share at most: else it is worth nothing to empty a node of more than some thirty pods, and none is chosen. */
const ownShareMax = 0.5;

/** What spot nodes may be replaced by is another question where none but spot nodes go. */
export type GroupKind = "spot" | "other" | "mixed";

type Loaded = {
  readonly candidate: Candidate;
  readonly index: number;
  /** Of the pods that would move. */
  readonly demand: Amounts;
  readonly podCount: number;
};

/** `worth`: what is won if it goes, less what it is worth to leave its pods alone. */
type Standing = Loaded & { readonly worth: number };

export class Standings {
  readonly input: TrialInput;
  /** Those first that cost most for what they would hold. */
  readonly inOrder: readonly Candidate[];
  readonly #question: Question;
  readonly #standingByName: ReadonlyMap<string, Standing>;
  /** Those that go, and those that have taken pods. */
  readonly #settled = new Set<string>();
  /** Hosts that take pods. */
  #order: readonly number[];
  #isTarget: Uint8Array;
  #free: Amounts;

  private constructor(input: TrialInput, question: Question, sorted: readonly Standing[], order: readonly number[]) {
    this.input = input;
    this.#question = question;
    this.inOrder = sorted.map(({ candidate }) => candidate);
    this.#standingByName = new Map(sorted.map(one => [one.candidate.name, one]));
    this.#order = order;
    this.#isTarget = new Uint8Array(input.picture.hosts.length);
    for (const index of this.#order) this.#isTarget[index] = 1;
    this.#free = this.#measured();
  }

  static *of(picture: Picture, question: Question, effort: Effort): Generator<void, Standings> {
    const loaded: Loaded[] = [];
    for (const candidate of question.candidates) {
      const index = picture.hosts.indexByName.get(candidate.name);
      if (index === undefined) continue;
      loaded.push({ candidate, index, ...loadOf(picture, index) });
      effort.work += 10;
      if (loaded.length % 64 === 0) yield;
    }
    const mixture = mixtureOf(loaded);
    const worths = worthByPool(loaded, question);
    const standings = loaded.map((one): Standing => {
      const { price, disturbance, pool } = one.candidate;
      return { ...one, worth: price - (worths.get(pool) ?? 0) * disturbance };
    });
    const costs = new Map<Standing, number>();
    for (const one of standings) costs.set(one, keepingCost(one, mixture, picture));
    effort.work += 0.3 * standings.length;
    yield;
    const cost = (one: Standing) => costs.get(one) ?? 0;
    const dearestFirst = (a: Standing, b: Standing) =>
      cost(b) - cost(a) || (a.candidate.name < b.candidate.name ? -1 : 1);
    const sorted = yield* sortedInSlices(standings, dearestFirst, effort);
    const order = yield* orderOf(question, sorted, { picture, effort });
    return new Standings({ picture, effort, gone: new Set() }, question, sorted, order);
  }

  isSettled({ name }: Pick<Candidate, "name">): boolean {
    return this.#settled.has(name);
  }

  indexOf({ name }: Candidate): number {
    return this.#standing(name).index;
  }

  worthOf({ name }: Pick<Candidate, "name">): number {
    return this.#standing(name).worth;
  }

  /** Whether its pods would fit elsewhere if they could be cut to pieces. */
  mayBeEmptied({ name }: Candidate): boolean {
    const { index, demand } = this.#standing(name);
    return demand.every((amount, r) => amount === 0 || amount <= (this.#free[r] ?? 0) - this.#freeOn(index, r));
  }

  /** As many of those given, from the first on, as would fit together onto the others in that way. */
  mayGoTogether(candidates: readonly Candidate[]): readonly Candidate[] {
    const left = this.#free.slice();
    const together: Candidate[] = [];
    for (const candidate of candidates) {
      const { index, demand } = this.#standing(candidate.name);
      for (let r = 0; r < left.length; r++) left[r] = (left[r] ?? 0) - (demand[r] ?? 0) - this.#freeOn(index, r);
      if (demand.some((amount, r) => amount > 0 && (left[r] ?? 0) < 0)) break;
      together.push(candidate);
    }
    return together;
  }

  /**
   * As many of a kind as may go as one, of those that are left: beside one of the first ones also of the others.
   */
  group(kind: GroupKind, leftOut: ReadonlySet<string>, first: ReadonlySet<Candidate>): readonly Candidate[] {
    const countByPool = new Map<string, number>();
    const group: Candidate[] = [];
    for (const candidate of [...first, ...this.inOrder.filter(one => !first.has(one))]) {
      if (group.length === groupMax || (group.length === 0 && !first.has(candidate))) break;
      const { name, pool } = candidate;
      if (!isOf(kind, candidate) || this.#settled.has(name) || leftOut.has(name)) continue;
      const count = (countByPool.get(pool) ?? 0) + 1;
      if (count > Math.max(1, this.#question.termsByPool.get(pool)?.atOnce ?? 1)) continue;
      countByPool.set(pool, count);
      group.push(candidate);
    }
    // Those that are alike have been asked about as such.
    const isAlike = group.every(({ isSpot }) => isSpot === group[0]?.isSpot);
    return kind === "mixed" && isAlike ? [] : group;
  }

  /** They stand from now on: who goes is no target, and who takes pods does not go. */
  took(savings: readonly Saving[]): void {
    for (const { nodes, places } of savings) {
      for (const name of nodes) this.#settled.add(name);
      for (const name of places.values()) this.#settled.add(name);
    }
    const { gone } = this.input;
    this.#order = this.#order.filter(index => !gone.has(index));
    this.#free = this.#measured();
  }

  #standing(name: string): Standing {
    const standing = this.#standingByName.get(name);
    if (standing === undefined) throw new Error(`Node ${name} is not in the picture that was asked.`);
    return standing;
  }

  #freeOn(index: number, r: number): number {
    const { free, stride } = this.input.picture.hosts;
    return this.#isTarget[index] === 1 ? Math.max(0, free[index * stride + r] ?? 0) : 0;
  }

  #measured(): Amounts {
    const { hosts } = this.input.picture;
    hosts.arrange(this.#order);
    const free = new Float64Array(hosts.stride);
    for (const index of this.#order) {
      for (let r = 0; r < free.length; r++) free[r] = (free[r] ?? 0) + this.#freeOn(index, r);
    }
    this.input.effort.work += this.#order.length * 0.1;
    return free;
  }
}

function isOf(kind: GroupKind, { isSpot }: Candidate): boolean {
  return kind === "mixed" || isSpot === (kind === "spot");
}

/** What an average pod asks for. */
function mixtureOf(standings: readonly Loaded[]): Amounts {
  const mixture = new Float64Array(standings[0]?.demand.length ?? 0);
  let podCount = 0;
  for (const one of standings) {
    podCount += one.podCount;
    for (let r = 0; r < mixture.length; r++) mixture[r] = (mixture[r] ?? 0) + (one.demand[r] ?? 0);
  }
  return mixture.map(amount => amount / Math.max(1, podCount));
}

/**
 * What it costs to keep the node, for each average pod that it would hold; what it is worth to leave its own pods alone is
 * taken off. Who costs most had better go: of nodes that hold the same, those with the fewest pods.
 */
function keepingCost(standing: Standing, mixture: Amounts, picture: Picture): number {
  return standing.worth / Math.max(1e-9, heldBy(standing, mixture, picture));
}

/** What it is worth to leave alone as much as one average pod, by pool. */
function worthByPool(loaded: readonly Loaded[], { termsByPool }: Question): ReadonlyMap<string, number> {
  const crowds = new Map<string, { nodes: number; pods: number }>();
  for (const { candidate, podCount } of loaded) {
    const crowd = crowds.get(candidate.pool) ?? { nodes: 0, pods: 0 };
    crowds.set(candidate.pool, crowd);
    crowd.nodes++;
    crowd.pods += podCount;
  }
  const worths = new Map<string, number>();
  for (const [pool, { price, disturbance }] of termsByPool) {
    const { nodes, pods } = crowds.get(pool) ?? { nodes: 1, pods: 0 };
    // A node counts as one, as each of its pods does: of these the price of one node is made up on average.
    const share = Math.min(ownShareMax, leftAloneWorth * (1 + pods / nodes));
    worths.set(pool, (share * price) / Math.max(1, disturbance));
  }
  return worths;
}

/**
 * In average pods, by the CPUs they ask for: those that run there, and as many more as its room has space for. A scheduler
 * does not sort pods by what suits a node, so room that average pods leave over is worth nothing.
 */
function heldBy({ index, demand, podCount }: Loaded, mixture: Amounts, { hosts }: Picture): number {
  let more = Number.POSITIVE_INFINITY;
  for (const [r, amount] of mixture.entries()) {
    const free = Math.max(0, hosts.free[index * hosts.stride + r] ?? 0);
    // A resource that it lacks altogether is none that it is to be filled with.
    if (amount > 0 && free + (demand[r] ?? 0) > 0) more = Math.min(more, free / amount);
  }
  const own = (mixture[cpu] ?? 0) > 0 ? (demand[cpu] ?? 0) / (mixture[cpu] ?? 1) : podCount;
  return own + (Number.isFinite(more) ? more : 0);
}

/** Pods go first where nobody may go, then onto who would go last: the others had better empty themselves. */
function* orderOf(
  { targets }: Question,
  sorted: readonly Standing[],
  { picture, effort }: { readonly picture: Picture; readonly effort: Effort },
): Generator<void, readonly number[]> {
  const isTarget = new Set(targets);
  const mayGo = new Set(sorted.map(({ candidate }) => candidate.name));
  const lasting = targets.filter(name => !mayGo.has(name));
  effort.work += targets.length * 0.2;
  yield;
  const first = yield* sortedInSlices(lasting, (a, b) => (a < b ? -1 : 1), effort);
  const last = sorted.toReversed().filter(({ candidate }) => isTarget.has(candidate.name));
  return [...first.flatMap(name => picture.hosts.indexByName.get(name) ?? []), ...last.map(({ index }) => index)];
}

function loadOf(picture: Picture, index: number): Pick<Loaded, "demand" | "podCount"> {
  const demand = new Float64Array(picture.space.names.length);
  let podCount = 0;
  for (const resident of picture.residents[index]?.values() ?? []) {
    if (!needsPlace(resident)) continue;
    podCount++;
    for (const [r, amount] of resident.amounts.entries()) demand[r] = (demand[r] ?? 0) + amount;
  }
  return { demand, podCount };
}
