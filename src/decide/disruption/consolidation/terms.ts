// Whether a pool lets its nodes go for what that saves: a least share of their price, and for Balanced pools savings in
// proportion to what is disturbed, by upstream's measure.

import type { Candidate, Saving, Terms } from "./question.ts";

/** Upstream's k: a share of the savings may cost up to twice that share of the disturbance. */
const disturbancePerSaving = 2;

export function refusedBy(
  { price, podCount: moving }: Saving,
  nodes: readonly Candidate[],
  termsByPool: ReadonlyMap<string, Terms>,
  podCount = moving,
): string | undefined {
  const saved = price.before - price.after;
  if (!(saved > 0)) return "nothing would be saved";
  for (const pool of new Set(nodes.map(one => one.pool))) {
    const terms = termsByPool.get(pool);
    if (terms === undefined) return `NodePool ${pool} is not there`;
    // Prices are decimal fractions, and their difference is not exact.
    if (saved < terms.minSavings * price.before * (1 - 1e-9))
      return `${percent(saved / price.before)} would be saved, and NodePool ${pool} wants ${percent(terms.minSavings)}`;
    // Each node counts as one, and each pod that has to move.
    const isWorth = saved / terms.price >= (nodes.length + podCount) / terms.disturbance / disturbancePerSaving;
    if (terms.isBalanced && !isWorth) return `too little would be saved for ${podCount} pods that have to move`;
  }
  return undefined;
}

function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10}%`;
}
