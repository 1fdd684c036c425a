// Where each pod goes: first on nodes that exist, then on nodes on their way, then on new ones, opened and filled one by
// one. A pod that finds no place gives up its preferences one after the other. Deterministic, in slices, cancellable.

import type { Pod } from "../../api/pod.ts";
import type { Answer } from "./answer.ts";
import { buildPicture } from "./build.ts";
import { cheapestType, type OpenNode, possibleTypes, priceOf, raiseOf } from "./node-view.ts";
import type { Effort } from "./effort.ts";
import { fill, topUp } from "./fill.ts";
import { openFor } from "./open.ts";
import { gathered, type PodClass } from "./pending.ts";
import type { Picture } from "./picture.ts";
import type { Problem } from "./problem.ts";
import { answerOf } from "./result.ts";
import { type Opening, Search } from "./search.ts";
import { withDomainsAsTheyAre } from "./settled.ts";
import { dot } from "./worth.ts";

/** A search that its caller drives, a slice at a time. Dropping it cancels it. */
export type Solver = {
  /** Works about so many microseconds; the answer once it is found. */
  step(budget: number): Answer | undefined;
};

export function solve(problem: Problem): Solver {
  const effort: Effort = { work: 0 };
  return stepped(effort, whole(problem, effort));
}

export function solveNow(problem: Problem): Answer {
  return finished(solve(problem));
}

/** On a picture that is kept: nothing of the search stays in it. */
export function solveOn(picture: Picture, pods: readonly Pod[], gone?: ReadonlySet<number>): Answer {
  const effort: Effort = { work: 0 };
  return finished(stepped(effort, asked(picture, pods, { gone, effort })));
}

/** The same in slices. Whoever drops it half-way must `return` it: it takes back what it has tried. */
export function solveInSlices(picture: Picture, pods: readonly Pod[], effort: Effort): Generator<void, Answer> {
  return asked(picture, pods, { isThorough: true, effort });
}

export function finished(solver: Solver): Answer {
  for (;;) {
    const answer = solver.step(Number.POSITIVE_INFINITY);
    if (answer !== undefined) return answer;
  }
}

function stepped(effort: Effort, run: Generator<void, Answer>): Solver {
  let answer: Answer | undefined;
  return {
    step(budget) {
      const end = effort.work + budget;
      while (answer === undefined && effort.work < end) {
        const { done, value } = run.next();
        if (done === true) answer = value;
      }
      return answer;
    },
  };
}

function* whole(problem: Problem, effort: Effort): Generator<void, Answer> {
  const picture = yield* buildPicture(problem, effort);
  const search = new Search(picture, yield* gathered(picture, problem.pods, effort), { isThorough: true });
  yield;
  return yield* answerOf(search, yield* place(search, effort), effort);
}

type Asked = { gone?: ReadonlySet<number> | undefined; isThorough?: boolean; effort: Effort };

function* asked(picture: Picture, pods: readonly Pod[], { effort, ...how }: Asked): Generator<void, Answer> {
  const search = new Search(picture, yield* gathered(picture, pods, effort), how);
  try {
    yield;
    const stuck = yield* place(search, effort);
    return yield* answerOf(search, stuck, effort);
  } finally {
    search.undo();
  }
}

// Rounds, for a pod may wait for another: whoever found no place is asked again as long as somebody else found one.
export function* place(search: Search, effort: Effort): Generator<void, PodClass[]> {
  let waiting = yield* ontoWhatIs(search, effort);
  for (;;) {
    const before = search.placedCount;
    const stuck: PodClass[] = [];
    for (const one of waiting) {
      if (one.pods.length === 0) continue;
      effort.work += 1;
      yield* placeAll(search, one, effort);
      if (one.pods.length > 0) stuck.push(one);
    }
    if (stuck.length === 0) return stuck;
    if (search.placedCount === before && !(yield* lastResort(search, stuck, effort))) return stuck;
    waiting = stuck;
  }
}

/** So much is done before anybody is asked whether to go on. */
const grain = 100;

/** Onto nodes that are there or on their way: who is still to be placed comes back in order. */
export function* ontoWhatIs(search: Search, effort: Effort): Generator<void, PodClass[]> {
  yield* search.price(effort);
  const waiting = yield* search.pending.arrange(search.worth, effort);
  if (search.picture.hosts.order.length === 0 && search.picture.upcoming.length === 0) return waiting;
  let rest = grain;
  for (const one of waiting) {
    if (one.kind.volumes.trouble !== undefined) continue;
    const way = { at: 0, misses: 0 };
    while (!search.walk(one, way, 500)) {
      effort.work += search.effort();
      yield;
    }
    search.onUpcoming(one);
    const work = 0.5 + search.effort();
    effort.work += work;
    rest -= work;
    if (rest > 0) continue;
    rest = grain;
    yield;
  }
  return waiting;
}

function* placeAll(search: Search, one: PodClass, effort: Effort): Generator<void, void> {
  let current: PodClass | undefined = one.kind.volumes.trouble === undefined ? one : undefined;
  while (current !== undefined && current.pods.length > 0) {
    const isPlaced = (yield* again(search, current, effort)) || (yield* placeNext(search, current, effort));
    if (!isPlaced) current = withLess(search, current);
    effort.work += search.effort();
    yield;
  }
}

/** Says whether it placed a pod: then the others are asked again. */
function* lastResort(search: Search, stuck: readonly PodClass[], effort: Effort): Generator<void, boolean> {
  const before = search.placedCount;
  for (const one of stuck) {
    yield* withDomainsAsTheyAre(search, one, () => placeAll(search, one, effort));
    if (search.placedCount > before) return true;
  }
  return false;
}

/** On nodes that were closed to the pods before, and may be open now that others are placed. */
function* again(search: Search, one: PodClass, effort: Effort): Generator<void, boolean> {
  const before = one.pods.length;
  if (!one.kind.isShifting) return false;
  search.onHosts(one);
  search.onUpcoming(one);
  for (const opening of search.roomy) {
    topUp(search, opening, one);
    if (search.work > atOnceMax) yield* paused(search, effort);
  }
  return one.pods.length < before;
}

/** So much is done for one class before anybody is asked whether to go on. */
const atOnceMax = 500;

function* paused(search: Search, effort: Effort): Generator<void, void> {
  effort.work += search.effort();
  yield;
}

/** With one wish less; undefined: there is none, and the pods have all their wishes again for the next round. */
function withLess(search: Search, one: PodClass): PodClass | undefined {
  const [pod] = one.pods;
  const kind = pod === undefined ? undefined : search.picture.relaxed(one.kind, pod);
  if (kind !== undefined) {
    const next = search.pending.turn(one, kind);
    search.onHosts(next);
    search.onUpcoming(next);
    return next;
  }
  search.pending.turn(one, search.picture.unrelaxed(one.kind));
  return undefined;
}

function* placeNext(search: Search, one: PodClass, effort: Effort): Generator<void, boolean> {
  const floor = search.pending.hostFloor();
  const share = search.pending.demand.map(amount => amount / Math.max(1, floor));
  const opening = openFor(search, one, share);
  if (opening === undefined || isBetterJoined(search, one, { opening, floor })) {
    const most = opening === undefined ? Number.POSITIVE_INFINITY : alone(opening, one.size.amounts);
    if (yield* joinCheapest(search, one, { most, effort })) return true;
  }
  if (opening === undefined) return false;
  search.open(opening.node);
  search.put(one, opening.node, opening.state);
  if (fill(search, opening)) search.roomy.push(opening);
  close(search, opening);
  return true;
}

// Who wants to be with others on their host is not given a new one; and near the end a pod is cheaper on a node that is
// there than on one of its own.
function isBetterJoined(
  search: Search,
  { kind }: PodClass,
  { opening, floor }: { opening: Opening; floor: number },
): boolean {
  if (kind.affinities.some(({ counts }) => counts.some(({ isHost }) => isHost))) return true;
  if (floor > 0 || search.opened.length === 0) return false;
  const rest = dot(search.worth, search.pending.demand);
  return rest <= Math.max(2 * (opening.state.priceByType[opening.type] ?? 0), 0.05 * search.spent);
}

function alone({ node, state }: Opening, amounts: Float64Array): number {
  return state.priceByType[cheapestType(node, state, amounts)] ?? Number.POSITIVE_INFINITY;
}

type Joining = { readonly most: number; readonly effort: Effort };

/** Puts pods of the class on the open nodes whose price that raises least, and by no more than `most` each. */
function* joinCheapest(search: Search, one: PodClass, { most, effort }: Joining): Generator<void, boolean> {
  const { amounts } = one.size;
  // What rules narrow only raises the price: nodes are asked in the order of what they would cost without.
  const offers: { node: OpenNode; more: number }[] = [];
  for (const node of search.opened) {
    const more = raiseOf(node, node.state, amounts);
    if (Number.isFinite(more) && more <= most) offers.push({ node, more });
    search.work += 0.2;
    if (search.work > atOnceMax) yield* paused(search, effort);
  }
  offers.sort((a, b) => a.more - b.more || a.node.index - b.node.index);
  const before = one.pods.length;
  for (const { node, more } of offers) {
    while (one.pods.length > 0 && raiseOf(node, node.state, amounts) <= more) {
      const state = search.fit(one, node);
      if (typeof state === "string" || raiseOf(node, state, amounts) > most) break;
      search.put(one, node, state);
    }
    if (one.pods.length === 0) break;
    if (search.work > atOnceMax) yield* paused(search, effort);
  }
  return one.pods.length < before;
}

export function close(search: Search, { node, left }: Opening): void {
  left.nodes--;
  search.spent += priceOf(node);
  if (left.limits !== undefined) reserve(node, left.limits);
  if (left.nodes < 1) search.exhaust(left);
}

// The node may become any of its types, so the limits pay for the largest. That it does not eat them up at once, types of
// more than twice the size of the cheapest are left out, unless the pool asks for a wide choice.
function reserve(node: OpenNode, limits: Float64Array): void {
  const { capacity, minValues, types } = node.template;
  const possible = possibleTypes(node);
  const cheapest = capacity[possible[0] ?? 0] ?? new Float64Array(0);
  const isLimited = (r: number) => Number.isFinite(limits[r] ?? Number.POSITIVE_INFINITY);
  const isNear = (type: number) =>
    (capacity[type] ?? cheapest).every((amount, r) => !isLimited(r) || amount <= 2 * (cheapest[r] ?? 0));
  const kept = minValues.length > 0 ? possible : possible.filter(isNear);
  node.allowed = new Uint8Array(types.length);
  for (const type of kept) node.allowed[type] = 1;
  for (let r = 0; r < limits.length; r++) {
    limits[r] = (limits[r] ?? 0) - Math.max(0, ...kept.map(type => capacity[type]?.[r] ?? 0));
  }
}
