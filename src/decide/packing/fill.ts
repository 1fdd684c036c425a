// Fills a node that was opened up to the room of one type, always with the pod that leaves the least of it unused. Pods
// that are alike are looked at once; a kind that the node cannot take is not asked again.

import { admit } from "./admit.ts";
import { tooFewValues } from "./min-values.ts";
import { sum } from "./node-view.ts";
import type { Opening, Search } from "./search.ts";
import type { PodClass, Size } from "./pending.ts";
import type { State } from "./template.ts";

/** How many sizes that fit are weighed for each pod, from the largest down. */
const weighed = 64;

type Pick = { one: PodClass; state: State };

/** Says whether room is left that some pods would fit in, were it not for rules. */
export function fill(search: Search, { node, type }: Opening): boolean {
  const room = node.template.room[type] ?? new Float64Array(0);
  const free = Float64Array.from(room, (amount, r) => amount - (node.used[r] ?? 0));
  const gains = Float64Array.from(room, (amount, r) => (search.worth[r] ?? 0) * amount);
  const scale = Float64Array.from(room, amount => (amount > 0 ? 1 / amount : 0));
  const refused = new Set<number>();
  const lanes = search.pending.lanes(search.worth).map(sizes => ({ sizes, next: 0, weighed: [] as Size[] }));
  let isRoomy = false;
  for (;;) {
    const best = leastWaste(search, lanes, { free, gains, scale });
    if (best === undefined) return isRoomy;
    const { lane, at, size } = best;
    const pick = firstOf(search, size, { node, type, refused });
    if (pick === undefined) {
      isRoomy = true;
      lane.weighed.splice(at, 1);
      continue;
    }
    // What can go on nodes that exist now that others are placed goes there.
    if (pick.one.kind.isShifting && hostsTake(search, pick.one)) continue;
    const { amounts } = pick.one.size;
    search.put(pick.one, node, pick.state);
    for (let r = 0; r < amounts.length; r++) free[r] = (free[r] ?? 0) - (amounts[r] ?? 0);
  }
}

/** Sizes with the same scarcest resource, so that there is always a choice of each to fill the node evenly. */
type Lane = { readonly sizes: readonly Size[]; next: number; weighed: Size[] };

type Free = { free: Float64Array; gains: Float64Array; scale: Float64Array };

function leastWaste(search: Search, lanes: readonly Lane[], { free, gains, scale }: Free) {
  let best: { lane: Lane; at: number; size: Size } | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const lane of lanes) {
    replenish(lane, free, Math.ceil(weighed / lanes.length));
    search.work += lane.weighed.length * 0.02;
    for (let at = 0; at < lane.weighed.length; at++) {
      const size = lane.weighed[at];
      if (size === undefined) continue;
      const left = waste(size, free, gains, scale);
      if (left < least) {
        best = { lane, at, size };
        least = left;
      }
    }
  }
  return best;
}

// Drops the sizes that do not fit any more, free room only shrinks, and looks at as many more as are wanted.
function replenish(lane: Lane, free: Float64Array, count: number): void {
  const { sizes, weighed: list } = lane;
  let kept = 0;
  for (let at = 0; at < list.length; at++) {
    const size = list[at];
    if (size !== undefined && size.left > 0 && fits(size, free)) list[kept++] = size;
  }
  list.length = kept;
  for (; lane.next < sizes.length && list.length < count; lane.next++) {
    const size = sizes[lane.next];
    if (size !== undefined && size.left > 0 && fits(size, free)) list.push(size);
  }
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

function fits({ amounts }: Size, free: Float64Array): boolean {
  for (let r = 0; r < amounts.length; r++) {
    const amount = amounts[r] ?? 0;
    if (amount > 0 && !(amount <= (free[r] ?? 0))) return false;
  }
  return true;
}

// What would be left, as the fourth power of its share: a lot of one resource without the other is far worse than a
// little of both.
function waste({ amounts }: Size, free: Float64Array, gains: Float64Array, scale: Float64Array): number {
  let total = 0;
  for (let r = 0; r < free.length; r++) {
    const left = ((free[r] ?? 0) - (amounts[r] ?? 0)) * (scale[r] ?? 0);
    total += (gains[r] ?? 0) * left * left * left * left;
  }
  return total;
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
