// Whether a pool lets its nodes go for what that saves: a least share of their price, and for Balanced pools savings in
// proportion to what is disturbed, by upstream's measure.

import type { Candidate, Saving, Terms } from "./question.ts";

/**
 * What a saving is worth: its share of what all nodes of the pool cost, for each such share of what there is to disturb in
 * them. Upstream's k of 2 for Balanced pools.
 */
export const balancedWorth = 0.5;

type Asked = {
  readonly termsByPool: ReadonlyMap<string, Terms>;
  /** Whatever the pools say. */
  readonly leastWorth?: number;
};

export function refusedBy(
  { price, podCount }: Saving,
  nodes: readonly Candidate[],
  { termsByPool, leastWorth = 0 }: Asked,
): string | undefined {
  const saved = price.before - price.after;
  if (!(saved > 0)) return "nothing would be saved";
  for (const pool of new Set(nodes.map(one => one.pool))) {
    const terms = termsByPool.get(pool);
    if (terms === undefined) return `NodePool ${pool} is not there`;
    // Prices are decimal fractions, and their difference is not exact.
    if (saved < terms.minSavings * price.before * (1 - 1e-9))
      return `${percent(saved / price.before)} would be saved, and NodePool ${pool} wants ${percent(terms.minSavings)}`;
    const least = terms.isBalanced ? Math.max(leastWorth, balancedWorth) : leastWorth;
    const isWorth = saved / terms.price >= (least * disturbed(nodes)) / terms.disturbance;
    if (least > 0 && !isWorth) return `too little would be saved for ${moving(podCount)}`;
  }
  return undefined;
}

/** How the Balanced pools of its nodes weigh a saving; none where nothing is known of what they cost or would disturb. */
export function scoresOf(
  { price }: Pick<Saving, "price">,
  nodes: readonly Candidate[],
  { termsByPool }: Pick<Asked, "termsByPool">,
): readonly { readonly pool: string; readonly score: number }[] {
  return [...new Set(nodes.map(one => one.pool))].flatMap(pool => {
    const terms = termsByPool.get(pool);
    if (terms?.isBalanced !== true) return [];
    const score = (price.before - price.after) / terms.price / (disturbed(nodes) / terms.disturbance);
    return Number.isFinite(score) ? { pool, score } : [];
  });
}

function disturbed(nodes: readonly Candidate[]): number {
  return nodes.reduce((sum, { disturbance }) => sum + disturbance, 0);
}

function moving(podCount: number): string {
  return podCount === 1 ? "1 pod that has to move" : `${podCount} pods that have to move`;
}

function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10}%`;
}
