// Whether one new node could take all that several were opened for, and for less: machines are filled one by one for the
// best yield, and with what is left over at the end a larger one may be the cheaper after all.

import type { Effort } from "./effort.ts";
import type { Kind } from "./kind.ts";
import { cheapestType, type OpenNode, priceOf, sum } from "./node-view.ts";
import { openIn } from "./open.ts";
import type { Amounts } from "./resources.ts";
import type { Search } from "./search.ts";
import { close, ontoWhatIs } from "./solve.ts";

/** A pool of which one node may do, for less than so much. */
type One = { readonly pool: number; readonly most: number };

/** By room and price alone, among pools of the same weight: what does not pay by that does not pay. */
export function oneInstead({ opened, pools }: Search): One | undefined {
  const [first] = opened;
  const weights = new Set(opened.map(({ pool }) => pools[pool]?.pool.pool.weight ?? 0));
  if (first === undefined || weights.size > 1 || areApart(opened)) return undefined;
  const total = opened.reduce((all, { used }) => sum(all, used), first.used.map(() => 0) as Amounts);
  const most = opened.reduce((price, node) => price + priceOf(node), 0);
  let best: One | undefined;
  let least = most * (1 - 1e-9);
  for (const [pool, { pool: of }] of pools.entries()) {
    // What its own pool has for one that was opened alone is known already.
    if (!weights.has(of.pool.weight ?? 0) || (opened.length === 1 && pool === first.pool)) continue;
    const { template } = of;
    const state = opened.find(node => node.pool === pool)?.state ?? template.root;
    const node: OpenNode = { ...first, template, state, allowed: undefined, cheapest: undefined };
    const price = state.priceByType[cheapestType(node, state, total)] ?? Number.POSITIVE_INFINITY;
    if (price < least) [best, least] = [{ pool, most }, price];
  }
  return best;
}

/** Pods of a kind that keeps its own away from its host were put on several. */
function areApart(opened: readonly OpenNode[]): boolean {
  const seen = new Set<Kind>();
  return opened.some(({ seated }) => {
    const kinds = new Set(seated.map(({ kind }) => kind).filter(isOfHosts));
    const isSeen = [...kinds].some(kind => seen.has(kind));
    for (const kind of kinds) seen.add(kind);
    return isSeen;
  });
}

function isOfHosts({ antis, spreads }: Kind): boolean {
  return antis.some(({ isHost }) => isHost) || spreads.some(({ count }) => count.isHost);
}

/** Says whether all found a place on what is there and on one new node for less; else the search is good for nothing. */
export function* placeAsOne(search: Search, { pool, most }: One, effort: Effort): Generator<void, boolean> {
  const waiting = (yield* ontoWhatIs(search, effort)).filter(({ pods }) => pods.length > 0);
  const [first] = waiting;
  if (first === undefined) return false;
  const opening = openIn(search, first, { index: pool, share: search.pending.demand });
  if (typeof opening === "string") return false;
  const { node } = opening;
  search.open(node);
  search.put(first, node, opening.state);
  for (let before = 0; before < search.placedCount; ) {
    before = search.placedCount;
    for (const one of waiting) {
      while (one.pods.length > 0 && typeof search.joinNode(one, node) !== "string");
      effort.work += search.effort();
      yield;
    }
  }
  if (waiting.some(({ pods }) => pods.length > 0) || priceOf(node) >= most) return false;
  close(search, opening);
  return true;
}
