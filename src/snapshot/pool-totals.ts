// What a pool's claims come to, kept with every claim that comes, changes or goes: a pool of thousands is counted without
// looking at each.

import { compareLaunches, type LaunchResult, launchResultOf } from "./launch-result.ts";
import type { PoolTotals } from "./picture.ts";
import type { Change } from "./tables.ts";
import type { ClaimView } from "./views.ts";

class Totals implements PoolTotals {
  claims = 0;
  staying = 0;
  launched = 0;
  readonly capacity = new Map<string, Map<string, number>>();
  readonly launches: LaunchResult[] = [];

  count(claim: ClaimView, by: 1 | -1): void {
    this.claims += by;
    this.#countLaunch(claim, by);
    if (claim.deletingSince !== undefined) return;
    this.staying += by;
    if (claim.providerID === undefined) return;
    this.launched += by;
    const { capacity = {} } = claim.status;
    for (const resource in capacity) this.#countCapacity(resource, String(capacity[resource]), by);
  }

  #countCapacity(resource: string, amount: string, by: 1 | -1): void {
    const counts = this.capacity.get(resource) ?? new Map<string, number>();
    const count = (counts.get(amount) ?? 0) + by;
    if (count === 0) counts.delete(amount);
    else counts.set(amount, count);
    if (counts.size === 0) this.capacity.delete(resource);
    else this.capacity.set(resource, counts);
  }

  #countLaunch(claim: ClaimView, by: 1 | -1): void {
    const result = launchResultOf(claim);
    if (result === undefined) return;
    const place = this.#placeOf(result);
    if (by === 1) this.launches.splice(place, 0, result);
    else this.launches.splice(place, 1);
  }

  #placeOf(result: LaunchResult): number {
    let low = 0;
    let high = this.launches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // middle < high, so it exists
      if (compareLaunches(this.launches[middle] as LaunchResult, result) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const none: PoolTotals = new Totals();

export class TotalsByPool {
  readonly #byPool = new Map<string, Totals>();

  of(pool: string): PoolTotals {
    return this.#byPool.get(pool) ?? none;
  }

  replace({ before, after }: Change<ClaimView>): void {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
  }

  #count(claim: ClaimView, by: 1 | -1): void {
    if (claim.pool === undefined) return;
    const totals = this.#byPool.get(claim.pool) ?? new Totals();
    totals.count(claim, by);
    if (totals.claims === 0) this.#byPool.delete(claim.pool);
    else this.#byPool.set(claim.pool, totals);
  }
}
