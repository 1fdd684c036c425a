// What new nodes in place of others may become, so that the price goes down whatever the provider launches: the types whose
// dearest offering that it may choose is within a node's share of what may be spent. None: it does not pay.

import type { InstanceType } from "../../../api/instance-type.ts";
import { capacityTypeKey } from "../../../api/node.ts";
import type { NodeRequirement } from "../../../api/node-selector.ts";
import type { NewNode } from "../../packing/answer.ts";
import type { Pool } from "../../packing/problem.ts";
import { type SetByKey, setsOfRequirements } from "../../packing/requirements.ts";
import { allows, overlaps } from "../../packing/value-set.ts";

/** As upstream: from so many cheaper types the provider has a choice of machines that last. */
const spotTypesMin = 15;

const dearer = "nothing that is cheaper could take its pods";
/** What a provider that may choose takes first: a reservation is paid for, and spot is cheaper than on demand. */
const takenFirst = ["reserved", "spot"] as const;
const only = (kind: string): NodeRequirement => ({ key: capacityTypeKey, operator: "In", values: [kind] });

export type Spending = {
  /** What all new nodes together must cost less than. */
  readonly most: number;
  /** They would take the place of spot nodes. */
  readonly isForSpot: boolean;
  /** Which spot nodes may do; false unless said. */
  readonly spotToSpot?: boolean;
};

type Offered = { readonly sets: SetByKey; readonly price: number; readonly kind: Kind | undefined };
type Kind = (typeof takenFirst)[number];
type Priced = { readonly type: InstanceType; readonly price: number };

export class Replacements {
  readonly #poolByName: ReadonlyMap<string, { readonly pool: Pool; readonly types: ReadonlyMap<string, InstanceType> }>;
  readonly #offeredByType = new Map<InstanceType, readonly Offered[]>();

  constructor(pools: readonly Pool[]) {
    const named = (pool: Pool) => new Map(pool.instanceTypes.map(type => [type.name, type]));
    this.#poolByName = new Map(pools.map(pool => [pool.name, { pool, types: named(pool) }]));
  }

  /** The nodes with the types that they may become; or why there is none that pays. */
  withinPrice(newNodes: readonly NewNode[], spending: Spending): readonly NewNode[] | string {
    const cheapest = newNodes.reduce((sum, { price }) => sum + price, 0);
    if (!(cheapest < spending.most)) return dearer;
    const narrowed: NewNode[] = [];
    for (const node of newNodes) {
      const share = cheapest === 0 ? 1 / newNodes.length : node.price / cheapest;
      const one = this.#narrowed(node, { ...spending, most: share * spending.most });
      if (typeof one === "string") return one;
      narrowed.push(one);
    }
    return narrowed;
  }

  #narrowed(node: NewNode, { most, isForSpot, spotToSpot = false }: Spending): NewNode | string {
    const { pool, types } = this.#poolByName.get(node.pool) ?? {};
    const open = setsOfRequirements(node.requirements);
    const possible = node.instanceTypes.flatMap(name => types?.get(name) ?? []);
    // Then nothing else is left open, so that the price is what was reckoned.
    const offers = possible.flatMap(type => this.#offered(type, open));
    const taken = takenFirst.find(kind => offers.some(offer => offer.kind === kind));
    if (taken === "spot" && isForSpot && !spotToSpot) return "spot nodes are not replaced by spot nodes";
    const requirements = taken
      ? [...node.requirements.filter(({ key }) => key !== capacityTypeKey), only(taken)]
      : node.requirements;
    const sets = taken ? setsOfRequirements(requirements) : open;
    const kept = possible.flatMap((type): Priced[] => {
      const prices = this.#offered(type, sets).map(offer => offer.price);
      return prices.length > 0 && Math.max(...prices) < most ? [{ type, price: Math.min(...prices) }] : [];
    });
    const isSpotToSpot = isForSpot && taken === "spot";
    if (isSpotToSpot && kept.length < spotTypesMin)
      return `its pods could go onto ${kept.length} types of cheaper spot nodes, where ${spotTypesMin} are wanted to choose from`;
    // They come by their cheapest offering, which need not be the spot one.
    const cut = isSpotToSpot ? kept.toSorted((a, b) => a.price - b.price).slice(0, spotTypesMin) : kept;
    // Those that a wide choice was asked of get it all.
    const chosen = [cut, kept].find(list => list.length > 0 && isWide(list, pool));
    if (chosen === undefined) return dearer;
    const price = Math.min(...chosen.map(one => one.price));
    return { ...node, requirements, instanceTypes: chosen.map(({ type }) => type.name), price };
  }

  /** What of a type can be had under the requirements. */
  #offered(type: InstanceType, wanted: SetByKey): readonly Offered[] {
    let all = this.#offeredByType.get(type);
    if (all === undefined) {
      all = type.offerings.flatMap(({ available, requirements, price }): Offered[] => {
        const sets = setsOfRequirements(requirements);
        const capacity = sets.get(capacityTypeKey);
        const kind = capacity && takenFirst.find(one => allows(capacity, one));
        return available ? [{ sets, price, kind }] : [];
      });
      this.#offeredByType.set(type, all);
    }
    return all.filter(({ sets }) => {
      for (const [key, set] of sets) {
        const asked = wanted.get(key);
        if (asked !== undefined && !overlaps(set, asked)) return false;
      }
      return true;
    });
  }
}

/** Whether the pool's minValues are still met. */
function isWide(kept: readonly Priced[], pool: Pool | undefined): boolean {
  return (pool?.requirements ?? []).every(({ key, minValues = 0 }) => {
    if (minValues === 0) return true;
    const values = new Set<string>();
    for (const { type } of kept) {
      for (const one of type.requirements) if (one.key === key) for (const value of one.values ?? []) values.add(value);
    }
    return values.size >= minValues;
  });
}
