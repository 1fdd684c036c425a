// Why nodes stayed when they were last judged, and what room there was then. Who has the same pods, and to whom no room
// that has grown since could be of use, need not be judged again. A bound and no proof: rules that pods have among each
// other are not in it, so whoever keeps it forgets all of it now and then.

import type { Pod } from "../../../api/pod.ts";
import type { Instant } from "../../../api/time.ts";
import type { Effort } from "../../packing/effort.ts";
import type { Picture } from "../../packing/picture.ts";
import { type Amounts, cpu, memory } from "../../packing/resources.ts";
import { needsPlace } from "../../packing/what-if.ts";
import { Rooms, roomAt } from "../rooms.ts";
import { Offered } from "./offered.ts";
import type { Candidate, Question, Terms } from "./question.ts";

type Known = {
  readonly candidate: Candidate;
  readonly terms: Terms | undefined;
  readonly pods: readonly Pod[];
  readonly why: string;
  /** Of its pods that found no place on nodes that are there, the largest first, and all of them together. */
  readonly left: readonly Amounts[];
  readonly sum: Amounts;
  /** Of the cheapest machine that would take those. */
  readonly price: number;
  /** When it was judged. */
  readonly look: number;
};

type Around = { readonly picture: Picture; readonly question: Question; readonly effort: Effort };

type End = {
  readonly gone: ReadonlySet<number>;
  /** It came to all that it had to judge. */
  readonly isWhole: boolean;
  readonly goes: (candidate: Candidate) => boolean;
};

export class KnownStays {
  readonly #stays = new Map<string, Known>();
  /** Of the look that is under way. */
  readonly #noted = new Map<string, Known>();
  readonly #rooms = new Rooms();
  #offered: Offered | undefined;
  #isCutShort = false;
  #completeAt: Instant = Number.NEGATIVE_INFINITY;

  /** When all were last to be judged, whatever was known of them. */
  get completeAt(): Instant {
    return this.#completeAt;
  }

  /** The last look did not come to groups: nobody has been judged together with others. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  forget(at: Instant): void {
    this.#stays.clear();
    this.#completeAt = at;
  }

  /** A look at all begins: what room has grown since the last? */
  *begin(picture: Picture, { targets }: Question, effort: Effort): Generator<void, void> {
    const offered = new Offered(picture.pools);
    if (this.#offered?.isSame(offered) !== true) this.#stays.clear();
    this.#offered = offered;
    this.#noted.clear();
    yield* this.#rooms.begin(picture, targets, effort);
  }

  /** What was said before of one of whom nothing has changed. */
  whyBefore(candidate: Candidate, picture: Picture, { termsByPool }: Question): string | undefined {
    const known = this.#stays.get(candidate.name);
    if (known === undefined) return undefined;
    const isSame =
      isLike(known.candidate, candidate) &&
      isAsStrict(known.terms, termsByPool.get(candidate.pool)) &&
      isEach(known.pods, podsOf(picture, candidate.name));
    if (isSame) return known.why;
    this.#stays.delete(candidate.name);
    return undefined;
  }

  /** Whether with the room that has grown since, and is there now, something cheaper could do for it than could before. */
  isHelped({ name, isSpot, price }: Candidate, { picture, question, effort }: Around): boolean {
    const known = this.#stays.get(name);
    if (known === undefined) return false;
    const most = isSpot && !question.spotToSpot ? Number.MIN_VALUE : Math.min(known.price, price);
    const rest = known.sum.slice();
    let left = known.left;
    for (const index of this.#rooms.grownSince(known.look)) {
      if (left.length === 0) return false;
      const others = notTakenBy(roomAt(picture, index), left, rest);
      effort.work += 0.05 * left.length;
      if (others.length === left.length) continue;
      left = others;
      if ((this.#offered?.cheapestFor(rest) ?? 0) < most) return true;
    }
    return false;
  }

  /** `places`: where its pods would have gone of those that fit onto nodes that are there. */
  note(
    candidate: Candidate,
    { why, places }: { readonly why: string; readonly places: ReadonlyMap<string, string> },
    { picture, question }: Around,
  ): void {
    const left: Amounts[] = [];
    const sum = new Float64Array(picture.space.names.length);
    for (const [key, resident] of residentsOf(picture, candidate.name)) {
      if (!needsPlace(resident) || places.has(key)) continue;
      left.push(resident.amounts);
      for (const [r, amount] of resident.amounts.entries()) sum[r] = (sum[r] ?? 0) + amount;
    }
    left.sort((a, b) => (b[cpu] ?? 0) - (a[cpu] ?? 0) || (b[memory] ?? 0) - (a[memory] ?? 0));
    this.#noted.set(candidate.name, {
      candidate,
      terms: question.termsByPool.get(candidate.pool),
      pods: podsOf(picture, candidate.name),
      why,
      left,
      sum,
      price: this.#offered?.cheapestFor(sum) ?? 0,
      look: this.#rooms.look,
    });
  }

  /** While what was found is still laid over the picture. */
  end(picture: Picture, { gone, isWhole, goes }: End): void {
    for (const [name, known] of this.#noted) if (!goes(known.candidate)) this.#stays.set(name, known);
    this.#isCutShort = !isWhole;
    this.#rooms.end(picture, gone);
  }
}

/** Those that find no place in the room; the others are taken off the rest. */
function notTakenBy(room: Amounts, pods: readonly Amounts[], rest: Amounts): readonly Amounts[] {
  return pods.filter(amounts => {
    if (amounts.some((amount, r) => amount > 0 && amount > (room[r] ?? 0))) return true;
    for (const [r, amount] of amounts.entries()) {
      room[r] = (room[r] ?? 0) - amount;
      rest[r] = (rest[r] ?? 0) - amount;
    }
    return false;
  });
}

function residentsOf({ hosts, residents }: Picture, name: string) {
  return residents[hosts.indexByName.get(name) ?? -1] ?? new Map<string, never>();
}

function podsOf(picture: Picture, name: string): readonly Pod[] {
  return [...residentsOf(picture, name).values()].filter(needsPlace).map(({ pod }) => pod);
}

function isEach<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

function isLike(one: Candidate, other: Candidate): boolean {
  const isSame = one.price === other.price && one.disturbance === other.disturbance;
  return isSame && one.pool === other.pool && one.isSpot === other.isSpot;
}

// What all nodes of the pool come to is otherwise every time, and turns the balance late enough.
function isAsStrict(one: Terms | undefined, other: Terms | undefined): boolean {
  return one?.isBalanced === other?.isBalanced && one?.minSavings === other?.minSavings;
}
