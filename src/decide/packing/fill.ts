// Fills a node that was opened up to the room of one type, always with the pod that leaves the least of it unused. Pods
// that are alike are looked at once; a kind that the node cannot take is not asked again.

import type { Pod } from "../../api/pod.ts";
import { admit } from "./admit.ts";
import { isPlain } from "./kind.ts";
import { tooFewValues } from "./min-values.ts";
import { sum } from "./node-view.ts";
import type { Opening, Search } from "./search.ts";
import type { PodClass, Size } from "./pending.ts";
import type { Amounts } from "./resources.ts";
import type { State } from "./template.ts";

/** How many sizes that fit are weighed for each pod, from the largest down. */
const weighed = 64;

type Pick = { one: PodClass; state: State };

/** Says whether room is left that some pods would fit in, were it not for rules. */
export function fill(search: Search, opening: Opening): boolean {
  const { node, type } = opening;
  const room = roomOf(search, opening);
  const refused = new Set<number>();
  const lanes = lanesOf(search);
  const draws: Draw[] = [];
  const drawBySize = new Map<Size, Draw>();
  const choice: Choice = { lane: undefined, at: 0, waste: 0, isOnly: false };
  let isRoomy = false;
  for (;;) {
    choose(search, lanes, { room, choice });
    const { lane, at } = choice;
    const size = lane?.weighed[at];
    if (lane === undefined || size === undefined) break;
    const known = drawBySize.get(size);
    if (known !== undefined && known.one.pods.length > 0 && known.state === node.state) {
      draw(search, known, { room, isOnly: choice.isOnly });
      continue;
    }
    const pick = firstOf(search, size, { node, type, refused });
    if (pick === undefined) {
      isRoomy = true;
      lane.weighed.splice(at, 1);
      continue;
    }
    const { one, state } = pick;
    // What can go on nodes that exist now that others are placed goes there.
    if (one.kind.isShifting && hostsTake(search, one)) continue;
    if (node.template.minValues.length === 0 && isPlain(one.kind)) {
      const begun = { one, state, pods: [] };
      node.state = state;
      draws.push(begun);
      drawBySize.set(size, begun);
      draw(search, begun, { room, isOnly: choice.isOnly });
      continue;
    }
    search.put(one, node, state);
    take(room, size, 1);
  }
  for (const { one, pods } of draws) search.putDrawn(one, node, pods);
  return isRoomy;
}

/** What an empty room would come to hold with `first` in it, were it not for rules. */
export function wouldUse(search: Search, whole: Amounts, first: Amounts): Amounts {
  const room = roomIn(search, whole, first);
  const lanes = lanesOf(search);
  const choice: Choice = { lane: undefined, at: 0, waste: 0, isOnly: false };
  const taken: { size: Size; count: number }[] = [];
  for (;;) {
    choose(search, lanes, { room, choice });
    const size = choice.lane?.weighed[choice.at];
    if (size === undefined) break;
    const count = choice.isOnly ? Math.min(size.left, countOf(size, room.free)) : 1;
    take(room, size, count);
    size.left -= count;
    taken.push({ size, count });
  }
  for (const { size, count } of taken) size.left += count;
  return Float64Array.from(whole, (amount, r) => amount - (room.free[r] ?? 0));
}

/** Pods of a plain class that are to be put on the node together. */
type Draw = { readonly one: PodClass; readonly state: State; readonly pods: Pod[] };

/** What is free, what each resource gains by being used, and one over what there was of it. */
type Room = { readonly free: Float64Array; readonly gains: Float64Array; readonly scale: Float64Array };

function roomOf(search: Search, { node, type }: Opening): Room {
  return roomIn(search, search.rooms(node.template)[type] ?? new Float64Array(0), node.used);
}

function roomIn(search: Search, whole: Amounts, used: Amounts): Room {
  return {
    free: Float64Array.from(whole, (amount, r) => amount - (used[r] ?? 0)),
    gains: Float64Array.from(whole, (amount, r) => (search.worth[r] ?? 0) * amount),
    scale: Float64Array.from(whole, amount => (amount > 0 ? 1 / amount : 0)),
  };
}

function lanesOf(search: Search): Lane[] {
  return search.pending.lanes(search.worth).map(sizes => ({ sizes, next: 0, weighed: [] }));
}

/** One pod; where there is nothing else to choose, as many as fit. */
function draw(search: Search, { one, pods }: Draw, { room, isOnly }: { room: Room; isOnly: boolean }): void {
  let count = isOnly ? Math.min(one.pods.length, countOf(one.size, room.free)) : 1;
  take(room, one.size, count);
  for (; count > 0; count--) {
    const pod = search.pending.draw(one);
    if (pod !== undefined) pods.push(pod);
  }
}

function take({ free }: Room, { amounts }: Size, count: number): void {
  for (let r = 0; r < amounts.length; r++) free[r] = (free[r] ?? 0) - count * (amounts[r] ?? 0);
}

function countOf({ amounts }: Size, free: Float64Array): number {
  let count = Number.POSITIVE_INFINITY;
  for (let r = 0; r < amounts.length; r++) {
    const amount = amounts[r] ?? 0;
    if (amount > 0) count = Math.min(count, Math.floor((free[r] ?? 0) / amount));
  }
  return count;
}

/** Sizes with the same scarcest resource, so that there is always a choice of each to fill the node evenly. */
type Lane = { readonly sizes: readonly Size[]; next: number; weighed: Size[] };

/** The size that leaves the least unused: its lane and its place there. */
type Choice = { lane: Lane | undefined; at: number; waste: number; isOnly: boolean };

type Choosing = { readonly room: Room; readonly choice: Choice };

function choose(search: Search, lanes: readonly Lane[], { room, choice }: Choosing): void {
  const most = Math.ceil(weighed / lanes.length);
  let count = 0;
  choice.lane = undefined;
  choice.waste = Number.POSITIVE_INFINITY;
  for (const lane of lanes) {
    weigh(lane, most, { room, choice });
    count += lane.weighed.length;
  }
  search.work += 1 + count * 0.04;
  choice.isOnly = count === 1;
}

// Sizes that do not fit any more are dropped, for free room only shrinks, and as many more are looked at as are wanted.
function weigh(lane: Lane, most: number, { room, choice }: Choosing): void {
  const { sizes, weighed: list } = lane;
  let kept = 0;
  for (let at = 0; at < list.length || (kept < most && lane.next < sizes.length); at++) {
    const size = at < list.length ? list[at] : sizes[lane.next++];
    if (size === undefined || size.left === 0) continue;
    const left = waste(size.amounts, room);
    if (left < 0) continue;
    list[kept] = size;
    if (left < choice.waste) {
      choice.waste = left;
      choice.lane = lane;
      choice.at = kept;
    }
    kept++;
  }
  list.length = kept;
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
    const pick = firstOf(search, { ...one.size, classes: [one] }, { node, type, refused: new Set() });
    if (pick === undefined) return;
    search.put(one, node, pick.state);
  }
}

function hostsTake(search: Search, one: PodClass): boolean {
  const before = one.pods.length;
  search.onHosts(one);
  return one.pods.length < before;
}

// What would be left, as the fourth power of its share: a lot of one resource without the other is far worse than a
// little of both. Negative: it does not fit.
function waste(amounts: Amounts, { free, gains, scale }: Room): number {
  let total = 0;
  for (let r = 0; r < free.length; r++) {
    const amount = amounts[r] ?? 0;
    const left = (free[r] ?? 0) - amount;
    if (left < 0 && amount > 0) return -1;
    const share = left * (scale[r] ?? 0);
    const square = share * share;
    total += (gains[r] ?? 0) * square * square;
  }
  return fitsBeyond(amounts, free.length) ? total : -1;
}

/** Of resources that the node has none of nothing may be asked for. */
function fitsBeyond(amounts: Amounts, known: number): boolean {
  for (let r = known; r < amounts.length; r++) if ((amounts[r] ?? 0) > 0) return false;
  return true;
}

type Filling = { node: Opening["node"]; type: number; refused: Set<number> };

function firstOf(search: Search, size: Size, { node, type, refused }: Filling): Pick | undefined {
  const holds = (state: State) => Number.isFinite(state.priceByType[type] ?? Number.POSITIVE_INFINITY);
  for (const one of size.classes) {
    if (one.pods.length === 0 || refused.has(one.kind.id)) continue;
    search.work += 2;
    const state = search.isTolerated(one.kind, node)
      ? admit(one.kind, node, { around: search.around, holds })
      : "taints";
    if (typeof state === "string") {
      refused.add(one.kind.id);
      continue;
    }
    if (node.template.minValues.length > 0 && tooFewValues(node, state, sum(node.used, size.amounts)) !== undefined)
      continue;
    if (search.isInUse(one.kind)) continue;
    return { one, state };
  }
  return undefined;
}
