// Where each pod goes: first on nodes that exist, then on nodes on their way, then on new ones, opened and filled one by
// one. A pod that finds no place gives up its preferences one after the other. Deterministic, in slices, cancellable.

import type { Pod } from "../../api/pod.ts";
import type { Answer } from "./answer.ts";
import { buildPicture } from "./build.ts";
import { cheapestType, type OpenNode, sum } from "./node-view.ts";
import { fill } from "./fill.ts";
import { type Opening, openFor } from "./open.ts";
import type { PodClass } from "./pending.ts";
import type { Picture } from "./picture.ts";
import type { Problem } from "./problem.ts";
import { answerOf, possibleTypes } from "./result.ts";
import { Search } from "./search.ts";
import { dot } from "./worth.ts";

/** A search that its caller drives, a slice at a time. Dropping it cancels it. */
export type Solver = {
  /** Works about so many microseconds; the answer once it is found. */
  step(budget: number): Answer | undefined;
};

/** What a slice of the picture's building and of the search costs, in about microseconds. */
export type Effort = { work: number };

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
  return yield* asked(picture, problem.pods, { gone: undefined, effort });
}

type Asked = { gone: ReadonlySet<number> | undefined; effort: Effort };

function* asked(picture: Picture, pods: readonly Pod[], { gone, effort }: Asked): Generator<void, Answer> {
  const search = new Search(picture, pods, gone);
  effort.work += pods.length * 2;
  try {
    yield;
    const stuck = yield* place(search, effort);
    return answerOf(search, stuck);
  } finally {
    search.undo();
  }
}

// Rounds, for a pod may wait for another: whoever found no place is asked again as long as somebody else found one.
function* place(search: Search, effort: Effort): Generator<void, PodClass[]> {
  let waiting = search.pending.arrange(search.worth);
  for (const one of waiting) {
    if (one.kind.volumes.trouble !== undefined) continue;
    search.onHosts(one);
    search.onUpcoming(one);
    effort.work += search.effort();
    yield;
  }
  for (;;) {
    const before = search.placed.length;
    const stuck: PodClass[] = [];
    for (const one of waiting) {
      let current: PodClass | undefined = one.kind.volumes.trouble === undefined ? one : undefined;
      while (current !== undefined && current.pods.length > 0) {
        if (!placeNext(search, current)) current = withLess(search, current);
        effort.work += search.effort();
        yield;
      }
      if (one.pods.length > 0) stuck.push(one);
    }
    if (stuck.length === 0 || search.placed.length === before) return stuck;
    waiting = stuck;
  }
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

function placeNext(search: Search, one: PodClass): boolean {
  const floor = search.pending.hostFloor();
  const share = search.pending.demand.map(amount => amount / Math.max(1, floor));
  const opening = openFor(search, one, share);
  const { kind, size } = one;
  const mustJoin = opening === undefined || kind.affinities.some(({ counts }) => counts.some(({ isHost }) => isHost));
  // Near the end a last pod is cheaper on a node that is there than on one of its own.
  const isLate = opening !== undefined && floor === 0 && isNearEnd(search, opening);
  if (mustJoin || isLate) {
    const most = opening === undefined ? Number.POSITIVE_INFINITY : alone(opening, size.amounts);
    if (joinCheapest(search, one, most)) return true;
  }
  if (opening === undefined) return false;
  search.open(opening.node);
  search.put(one, opening.node, opening.state);
  fill(search, opening);
  close(search, opening);
  return true;
}

function alone({ node, state }: Opening, amounts: Float64Array): number {
  return state.priceByType[cheapestType(node, state, amounts)] ?? Number.POSITIVE_INFINITY;
}

function isNearEnd({ worth, pending }: Search, { state, type }: Opening): boolean {
  return dot(worth, pending.demand) <= 2 * (state.priceByType[type] ?? 0);
}

/** On the open node whose price it raises least, if by no more than `most`. */
function joinCheapest(search: Search, one: PodClass, most: number): boolean {
  let best: OpenNode | undefined;
  let least = most;
  for (const node of search.opened) {
    const state = search.fit(one, node);
    if (typeof state === "string") continue;
    const [now] = possibleTypes(node);
    const then = cheapestType(node, state, sum(node.used, one.size.amounts));
    const more = (state.priceByType[then] ?? Number.POSITIVE_INFINITY) - (node.state.priceByType[now ?? 0] ?? 0);
    if (more < least || (more === least && best === undefined)) [best, least] = [node, more];
    if (least === 0) break;
  }
  return best !== undefined && typeof search.joinNode(one, best) !== "string";
}

function close(search: Search, { node, left }: Opening): void {
  left.nodes--;
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
