// What if these nodes were gone, for a while: their pods are placed again, and stay so until it is undone, so that the next
// question is asked of what would be left. Trials are undone in the reverse of their order.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Answer } from "./answer.ts";
import { oneInstead, placeAsOne } from "./as-one.ts";
import type { Effort } from "./effort.ts";
import { gathered, type PodClass } from "./pending.ts";
import type { Picture } from "./picture.ts";
import type { Resident } from "./picture-parts.ts";
import { type Amounts, pods } from "./resources.ts";
import { answerOf } from "./result.ts";
import { Search } from "./search.ts";
import { place } from "./solve.ts";
import { needsPlace } from "./what-if.ts";

type Lifted = { readonly index: number; readonly all: readonly Resident[] };

type Limits = Pick<Picture["pools"][number], "limits" | "limitedNodes">;

/** `gone`: hosts that nothing is put on; those of a trial are among them as long as it lasts. */
export type TrialInput = { readonly picture: Picture; readonly gone: Set<number>; readonly effort: Effort };

/** So much is done at a time. */
const slice = 500;

export class Trial {
  readonly #input: TrialInput;
  readonly #lifted: Lifted[] = [];
  readonly #pods: Pod[] = [];
  #search: Search | undefined;
  /** What of their limits pools had left before it, where it is kept. */
  #limits: readonly Limits[] = [];

  constructor(input: TrialInput) {
    this.#input = input;
  }

  /** How many are to be placed. */
  get podCount(): number {
    return this.#pods.length;
  }

  /** Pods that are nowhere yet. */
  add(pods: readonly Pod[]): void {
    for (const pod of pods) this.#pods.push(pod);
  }

  *takeAway(hosts: readonly number[]): Generator<void, void> {
    const { picture, gone, effort } = this.#input;
    for (const index of hosts) {
      const all = [...(picture.residents[index]?.values() ?? [])];
      for (const one of all) picture.occupy(index, one, -1);
      picture.hide(index, 1);
      gone.add(index);
      this.#lifted.push({ index, all });
      for (const one of all) if (needsPlace(one)) this.#pods.push(one.pod);
      effort.work += 2 + all.length;
      if (hosts.length > 1) yield;
    }
  }

  /**
   * Onto hosts alone, who is hardest to place first; those that find no place there. `isEnough` ends it early; `hosts`:
   * where pods had better go, by their names, if they may.
   */
  *ontoHosts(
    isEnough: (leftCount: number) => boolean,
    hosts: ReadonlyMap<string, number> = new Map(),
  ): Generator<void, readonly Pod[]> {
    const { effort } = this.#input;
    const search = yield* this.#begun();
    const left: Pod[] = [];
    for (const one of hardestFirst(search)) {
      if (hosts.size > 0) search.onto(one, hosts);
      const rest = one.kind.volumes.trouble === undefined ? yield* leftByHosts(search, one, effort) : one.pods;
      for (const pod of rest) left.push(pod);
      if (isEnough(left.length)) return left;
      effort.work += 1;
      yield;
    }
    return left;
  }

  /** On hosts and on new nodes. */
  *anywhere(): Generator<void, Answer> {
    const { effort } = this.#input;
    let search = yield* this.#begun();
    let stuck = yield* place(search, effort);
    const one = stuck.length === 0 ? oneInstead(search) : undefined;
    if (one !== undefined) {
      search = yield* this.#begun();
      if (!(yield* placeAsOne(search, one, effort))) {
        search = yield* this.#begun();
        stuck = yield* place(search, effort);
      }
    }
    return yield* answerOf(search, stuck, effort);
  }

  /** It stays for a while: what its new nodes take of the pools' limits is taken from those who are asked next. */
  keep(): void {
    const { pools } = this.#input.picture;
    this.#limits = pools.map(({ limits, limitedNodes }) => ({ limits, limitedNodes }));
    for (const [index, { limits, nodes }] of this.#search?.pools.entries() ?? []) {
      const pool = pools[index];
      if (pool !== undefined) Object.assign(pool, { limits, limitedNodes: nodes });
    }
  }

  /** The hosts on which pods were put, by the pods' names. */
  places(): Map<string, string> {
    const found = new Map<string, string>();
    for (const { pods, target } of this.#search?.placed ?? []) {
      if (target.kind === "existing") for (const pod of pods) found.set(podKey(pod), target.node);
    }
    return found;
  }

  undo(): void {
    for (const _ of this.undoing()) continue;
  }

  /** The same in slices; whoever drops it half-way must `undo` the rest. */
  *undoing(): Generator<void, void> {
    const { picture, gone, effort } = this.#input;
    for (const [index, limits] of this.#limits.entries()) Object.assign(picture.pools[index] ?? {}, limits);
    this.#limits = [];
    if (this.#search !== undefined) yield* this.#search.undoing(effort);
    this.#search = undefined;
    for (let lifted = this.#lifted.pop(); lifted !== undefined; lifted = this.#lifted.pop()) {
      const { index, all } = lifted;
      gone.delete(index);
      picture.hide(index, -1);
      for (const one of all) picture.occupy(index, one, 1);
      effort.work += 2 + all.length;
      if (this.#lifted.length > 1) yield;
    }
  }

  *#begun(): Generator<void, Search> {
    const { picture, gone, effort } = this.#input;
    if (this.#search !== undefined) yield* this.#search.undoing(effort);
    this.#search = undefined;
    const pending = yield* gathered(picture, this.#pods, effort);
    effort.work += 5;
    this.#search = new Search(picture, pending, { gone });
    return this.#search;
  }
}

/** With its wishes, or one after the other without. */
function* leftByHosts(search: Search, one: PodClass, effort: Effort): Generator<void, readonly Pod[]> {
  for (let current = one; ; ) {
    const way = { at: 0, misses: 0 };
    while (!search.walk(current, way, slice)) {
      effort.work += search.effort();
      yield;
    }
    effort.work += search.effort();
    const [pod] = current.pods;
    const kind = pod && search.picture.relaxed(current.kind, pod);
    if (kind === undefined) return current.pods;
    current = search.pending.turn(current, kind);
  }
}

/**
 * Who depends on where others run, then by the largest share that one takes of all that is to be placed, then by all its
 * shares; each takes one place for pods.
 */
function hardestFirst({ pending }: Search): readonly PodClass[] {
  const sharesOf = (amounts: Amounts) =>
    amounts.map((amount, r) => (r === pods ? 0 : amount / (pending.demand[r] || 1)));
  return pending.sizes
    .map(size => {
      const shares = sharesOf(size.amounts);
      return { size, most: Math.max(...shares), sum: shares.reduce((sum, share) => sum + share, 0) };
    })
    .sort((a, b) => b.most - a.most || b.sum - a.sum)
    .flatMap(({ size }) => size.classes)
    .sort((a, b) => Number(b.kind.asks.length > 0) - Number(a.kind.asks.length > 0));
}
