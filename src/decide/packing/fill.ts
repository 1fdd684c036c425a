// Fills a node that was opened up to the room of one type, always with the pod that leaves the least of it unused. Pods
// that are alike are looked at once; a kind that the node cannot take is not asked again.

import { admit } from "./admit.ts";
import { isPlain, type Kind } from "./kind.ts";
import { blockSize, type Lane } from "./lanes.ts";
import { tooFewValues } from "./min-values.ts";
import { sum } from "./node-view.ts";
import { type Opening, type Search, targetOf } from "./search.ts";
import type { PodClass } from "./pending.ts";
import type { Amounts } from "./resources.ts";
import type { SizeTable } from "./sizes.ts";
import type { State } from "./template.ts";

/** How many sizes that fit are weighed for each pod, from the largest down. */
const weighed = 64;

// As long as many are going to follow they can make up for any choice: so many times over it is made with care.
const choices = 8;
const weighedAhead = 16;

/** Says whether room is left that some pods would fit in, were it not for rules. */
export function fill(search: Search, opening: Opening): boolean {
  const { node, type } = opening;
  const { pending } = search;
  const filling: Filling = { node, type, refused: new Set(), taken: new Set(), state: node.state };
  const choice = choiceIn(search, search.rooms(node.template)[type] ?? new Float64Array(0), node.used);
  const seat = { node, target: targetOf(node), drawn: new Float64Array(pending.table.stride) };
  let isRoomy = false;
  for (;;) {
    const row = choose(search, choice);
    const size = pending.sizes[row];
    if (size === undefined) break;
    const one = firstOf(search, size.classes, filling);
    if (one === undefined) {
      isRoomy = true;
      drop(choice);
      continue;
    }
    // What can go on nodes that exist now that others are placed goes there.
    if (one.kind.isShifting && hostsTake(search, one)) continue;
    if (filling.taken.has(one.kind)) {
      node.state = filling.state;
      const count = Math.min(one.pods.length, countOf(choice, row), choice.isOnly ? one.pods.length : choice.ahead);
      search.draw(one, seat, count);
      take(choice, row, count);
      continue;
    }
    search.put(one, node, filling.state);
    take(choice, row, 1);
  }
  search.settle(seat);
  return isRoomy;
}

/** What an empty room would come to hold with `first` in it, were it not for rules. */
export function wouldUse(search: Search, whole: Amounts, first: Amounts): Amounts {
  const { left } = search.pending.table;
  const choice = choiceIn(search, whole, first);
  const taken: { row: number; count: number }[] = [];
  for (let row = choose(search, choice); row >= 0; row = choose(search, choice)) {
    const count = choice.isOnly ? Math.min(left[row] ?? 0, countOf(choice, row)) : 1;
    take(choice, row, count);
    left[row] = (left[row] ?? 0) - count;
    taken.push({ row, count });
  }
  for (const { row, count } of taken) left[row] = (left[row] ?? 0) + count;
  return Float64Array.from(whole, (amount, r) => amount - (choice.free[r] ?? 0));
}

/** How far a lane was looked through, and the rows that are weighed. */
type Scan = { readonly lane: Lane; next: number; readonly rows: Int32Array; count: number };

/** The room of a node while it is filled, and of the sizes that fit in it the one that leaves the least unused. */
type Choice = {
  readonly table: SizeTable;
  /** What is free, what each resource gains by being used, and one over what there was of it. */
  readonly free: Float64Array;
  readonly gains: Float64Array;
  readonly scale: Float64Array;
  readonly scans: readonly Scan[];
  /** One over what a pod asks for on average. */
  readonly perPod: Float64Array;
  /** The best or -1, its scan and its place there. */
  row: number;
  scan: Scan | undefined;
  at: number;
  waste: number;
  isOnly: boolean;
  /** How many may be taken of it without another look. */
  ahead: number;
};

function choiceIn(search: Search, whole: Amounts, used: Amounts): Choice {
  const { table, demand, count } = search.pending;
  const lanes = search.pending.lanes();
  const most = Math.ceil(weighed / lanes.length);
  const free = new Float64Array(table.stride);
  const gains = new Float64Array(table.stride);
  const scale = new Float64Array(table.stride);
  const perPod = new Float64Array(table.stride);
  for (let r = 0; r < table.stride; r++) {
    const amount = whole[r] ?? 0;
    free[r] = amount - (used[r] ?? 0);
    gains[r] = (search.worth[r] ?? 0) * amount;
    scale[r] = amount > 0 ? 1 / amount : 0;
    perPod[r] = count / (demand[r] ?? 0);
  }
  const scans = lanes.map(lane => ({ lane, next: 0, rows: new Int32Array(most), count: 0 }));
  return {
    table,
    free,
    gains,
    scale,
    perPod,
    scans,
    row: -1,
    scan: undefined,
    at: 0,
    waste: 0,
    isOnly: false,
    ahead: 1,
  };
}

/** The row of the best size, or -1. */
function choose(search: Search, choice: Choice): number {
  choice.ahead = aheadIn(choice);
  const most = Math.ceil((choice.ahead > 1 ? weighedAhead : weighed) / choice.scans.length);
  let count = 0;
  choice.scan = undefined;
  choice.row = -1;
  choice.waste = Number.POSITIVE_INFINITY;
  for (let lane = 0; lane < choice.scans.length; lane++) {
    // Within bounds.
    const scan = choice.scans[lane] as Scan;
    weigh(scan, most, choice);
    count += scan.count;
  }
  search.work += 0.3 + count * 0.01;
  choice.isOnly = count === 1;
  return choice.row;
}

// Sizes that do not fit any more are dropped, for free room only shrinks, and as many more are looked at as are wanted.
function weigh(scan: Scan, most: number, choice: Choice): void {
  const { lane, rows } = scan;
  const { left } = choice.table;
  let kept = 0;
  for (let at = 0; ; at++) {
    let row = 0;
    if (at < scan.count) row = rows[at] ?? 0;
    else if (kept >= most || scan.next >= lane.rows.length) break;
    else if (scan.next % blockSize === 0 && !mayFit(lane, scan.next / blockSize, choice)) {
      scan.next += blockSize;
      continue;
    } else row = lane.rows[scan.next++] ?? 0;
    if (left[row] === 0) continue;
    const waste = wasteOf(row, choice);
    if (waste < 0) continue;
    rows[kept] = row;
    if (waste < choice.waste) {
      choice.waste = waste;
      choice.row = row;
      choice.scan = scan;
      choice.at = kept;
    }
    kept++;
  }
  scan.count = kept;
}

function mayFit({ least }: Lane, block: number, { free, table: { stride } }: Choice): boolean {
  for (let r = 0; r < stride; r++) {
    const amount = least[block * stride + r] ?? 0;
    if (amount > 0 && amount > (free[r] ?? 0)) return false;
  }
  return true;
}

// What would be left, as the fourth power of its share: a lot of one resource without the other is far worse than a
// little of both. Negative: it does not fit.
function wasteOf(row: number, { table: { cells, stride }, free, gains, scale }: Choice): number {
  const start = row * stride;
  let total = 0;
  for (let r = 0; r < stride; r++) {
    const amount = cells[start + r] ?? 0;
    const left = (free[r] ?? 0) - amount;
    if (left < 0 && amount > 0) return -1;
    const share = left * (scale[r] ?? 0);
    const square = share * share;
    total += (gains[r] ?? 0) * square * square;
  }
  return total;
}

function aheadIn({ free, perPod, table: { stride } }: Choice): number {
  let count = Number.POSITIVE_INFINITY;
  // What nobody asks for has an infinite share, or none that is a number.
  for (let r = 0; r < stride; r++) {
    const share = (free[r] ?? 0) * (perPod[r] ?? 0);
    if (share < count) count = share;
  }
  return Math.max(1, Math.floor(count / choices));
}

/** The best is none after all. */
function drop({ scan, at }: Choice): void {
  if (scan === undefined) return;
  scan.rows.copyWithin(at, at + 1, scan.count);
  scan.count--;
}

function take({ table: { cells, stride }, free }: Choice, row: number, count: number): void {
  const start = row * stride;
  for (let r = 0; r < stride; r++) free[r] = (free[r] ?? 0) - count * (cells[start + r] ?? 0);
}

/** How many of a size have room. */
function countOf({ table: { cells, stride }, free }: Choice, row: number): number {
  let count = Number.POSITIVE_INFINITY;
  for (let r = 0; r < stride; r++) {
    const amount = cells[row * stride + r] ?? 0;
    if (amount > 0) count = Math.min(count, Math.floor((free[r] ?? 0) / amount));
  }
  return count;
}

/** Puts pods of a class on a node that was filled before, within the room of the type it was filled for. */
export function topUp(search: Search, { node, type }: Opening, one: PodClass): void {
  const room = node.template.room[type] ?? new Float64Array(0);
  while (one.pods.length > 0) {
    search.work += 0.5;
    const { amounts } = one.size;
    for (let r = 0; r < amounts.length; r++) {
      const amount = amounts[r] ?? 0;
      if (amount > 0 && amount > (room[r] ?? 0) - (node.used[r] ?? 0)) return;
    }
    const filling = { node, type, refused: new Set<number>(), taken: new Set<Kind>(), state: node.state };
    if (firstOf(search, [one], filling) === undefined) return;
    search.put(one, node, filling.state);
  }
}

function hostsTake(search: Search, one: PodClass): boolean {
  const before = one.pods.length;
  search.onHosts(one);
  return one.pods.length < before;
}

type Filling = {
  readonly node: Opening["node"];
  readonly type: number;
  readonly refused: Set<number>;
  /** Plain kinds of which a pod was taken: as it was, all of them can be. */
  readonly taken: Set<Kind>;
  /** What taking the pod leaves possible. */
  state: State;
};

/** The class of which a pod can be taken, and under which state. */
function firstOf(search: Search, classes: readonly PodClass[], filling: Filling): PodClass | undefined {
  const { node, taken } = filling;
  for (let index = 0; index < classes.length; index++) {
    const one = classes[index];
    if (one === undefined || one.pods.length === 0) continue;
    // The state has become narrower since at most, and what it asks for is part of it.
    const state = taken.has(one.kind) ? node.state : admitted(search, one, filling);
    if (state === undefined) continue;
    filling.state = state;
    return one;
  }
  return undefined;
}

function admitted(search: Search, one: PodClass, { node, type, refused, taken }: Filling): State | undefined {
  const { minValues } = node.template;
  if (refused.has(one.kind.id)) return undefined;
  const holds = (state: State) => Number.isFinite(state.priceByType[type] ?? Number.POSITIVE_INFINITY);
  search.work += 2;
  const state = search.isTolerated(one.kind, node) ? admit(one.kind, node, { around: search.around, holds }) : "taints";
  if (typeof state === "string") {
    refused.add(one.kind.id);
    return undefined;
  }
  if (minValues.length > 0 && tooFewValues(node, state, sum(node.used, one.size.amounts)) !== undefined)
    return undefined;
  if (search.isInUse(one.kind)) return undefined;
  if (minValues.length === 0 && isPlain(one.kind)) taken.add(one.kind);
  return state;
}
