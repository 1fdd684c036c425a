// Fills a node that was opened up to the room of one type, always with the pod that leaves the least of it unused. Pods
// that are alike are looked at once; a kind that the node cannot take is not asked again.

import { admit } from "./admit.ts";
import { tooFewValues } from "./min-values.ts";
import { sum } from "./node-view.ts";
import type { Opening } from "./open.ts";
import type { PodClass, Size } from "./pending.ts";
import type { Search } from "./search.ts";
import type { State } from "./template.ts";

/** How many sizes that fit are weighed for each pod, from the largest down. */
const weighed = 64;

type Pick = { one: PodClass; state: State };

/** Says whether room is left that some pods would fit in, were it not for rules. */
export function fill(search: Search, { node, type }: Opening): boolean {
  const room = node.template.room[type] ?? new Float64Array(0);
  const free = Float64Array.from(room, (amount, r) => amount - (node.used[r] ?? 0));
  const gains = Float64Array.from(room, (amount, r) => (amount > 0 ? (search.worth[r] ?? 0) / amount : 0));
  const refused = new Set<number>();
  const window = { sizes: search.pending.sizes.slice(), start: 0, end: 0 };
  let isRoomy = false;
  for (;;) {
    slide(window, free);
    search.work += (window.end - window.start) * 0.02;
    if (window.end === window.start) return isRoomy;
    const at = leastWaste(window, free, gains);
    const size = window.sizes[at];
    const pick = size === undefined ? undefined : firstOf(search, size, { node, type, refused });
    if (pick === undefined) {
      isRoomy = true;
      // Nothing of this size may go here: the others close the gap.
      window.sizes.copyWithin(window.start + 1, window.start, at);
      window.start++;
      continue;
    }
    // What can go on nodes that exist now that others are placed goes there.
    if (pick.one.kind.isShifting && hostsTake(search, pick.one)) continue;
    const { amounts } = pick.one.size;
    search.put(pick.one, node, pick.state);
    for (let r = 0; r < amounts.length; r++) free[r] = (free[r] ?? 0) - (amounts[r] ?? 0);
  }
}

/** The sizes from `start` to `end` are weighed; those before are out for this node, those after not yet looked at. */
type Window = { sizes: Size[]; start: number; end: number };

// Drops the sizes that do not fit, free room only shrinks, and looks at as many more as are wanted.
function slide(window: Window, free: Float64Array): void {
  const { sizes } = window;
  const isOut = (size: Size | undefined) => size === undefined || size.left === 0 || !fits(size, free);
  let kept = window.end;
  for (let at = window.end - 1; at >= window.start; at--) {
    const size = sizes[at];
    if (size !== undefined && !isOut(size)) sizes[--kept] = size;
  }
  window.start = kept;
  while (window.end < sizes.length && window.end - window.start < weighed) {
    const size = sizes[window.end];
    if (isOut(size)) {
      sizes.copyWithin(window.start + 1, window.start, window.end);
      window.start++;
    }
    window.end++;
  }
}

function leastWaste({ sizes, start, end }: Window, free: Float64Array, gains: Float64Array): number {
  let best = start;
  let least = Number.POSITIVE_INFINITY;
  for (let at = start; at < end; at++) {
    const size = sizes[at];
    const left = size === undefined ? least : waste(size, free, gains);
    if (left < least) [best, least] = [at, left];
  }
  return best;
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

// What would be left, squared by resource: a lot of one resource without the other is worse than a little of both.
function waste({ amounts }: Size, free: Float64Array, gains: Float64Array): number {
  let total = 0;
  for (let r = 0; r < free.length; r++) {
    const left = (free[r] ?? 0) - (amounts[r] ?? 0);
    total += (gains[r] ?? 0) * left * left;
  }
  return total;
}

type Filling = { node: Opening["node"]; type: number; refused: Set<number> };

function firstOf(search: Search, size: Size, { node, type, refused }: Filling): Pick | undefined {
  for (const one of size.classes) {
    if (one.pods.length === 0 || refused.has(one.kind.id)) continue;
    search.work += 0.5;
    const state = search.isTolerated(one.kind, node) ? admit(one.kind, node, search.around) : "taints";
    if (typeof state === "string" || !Number.isFinite(state.priceByType[type] ?? Number.POSITIVE_INFINITY)) {
      refused.add(one.kind.id);
      continue;
    }
    if (node.template.minValues.length > 0 && tooFewValues(node, state, sum(node.used, size.amounts)) !== undefined)
      continue;
    if (one.kind.volumes.exclusive.some(claim => (search.picture.exclusiveUsers.get(claim) ?? 0) > 0)) continue;
    return { one, state };
  }
  return undefined;
}
