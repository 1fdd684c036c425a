// Machines that could be launched, and what they cost: a bound on what would do for pods, which asks for room alone.

import type { InstanceType } from "../../../api/instance-type.ts";
import { isEqual } from "../../../api/schema/correlate.ts";
import type { PoolTemplate } from "../../packing/pool-template.ts";
import type { Amounts } from "../../packing/resources.ts";

type Machine = { readonly room: Amounts; readonly price: number };

export class Offered {
  /** The cheapest first. */
  readonly #machines: readonly Machine[];
  readonly #rules: string;
  readonly #types: readonly InstanceType[];

  constructor(pools: readonly PoolTemplate[]) {
    this.#machines = pools.flatMap(({ template }) => machinesOf(template)).sort((a, b) => a.price - b.price);
    this.#types = pools.flatMap(({ pool }) => pool.instanceTypes);
    this.#rules = JSON.stringify(
      pools.map(({ pool: { name, weight, labels, taints, requirements, instanceTypes } }) => [
        [name, weight, labels, taints, requirements],
        instanceTypes.length,
      ]),
    );
  }

  isSame(other: Offered): boolean {
    return this.#rules === other.#rules && this.#types.every((type, index) => isAlike(type, other.#types[index]));
  }

  /** Nothing where no room is asked for; infinite where no machine has so much. */
  cheapestFor(amounts: Amounts): number {
    if (amounts.every(amount => amount <= 0)) return 0;
    const fitting = this.#machines.find(({ room }) =>
      amounts.every((amount, r) => amount <= Math.max(0, room[r] ?? 0)),
    );
    return fitting?.price ?? Number.POSITIVE_INFINITY;
  }
}

// Mostly the very same.
function isAlike(type: InstanceType, other: InstanceType | undefined): boolean {
  return type === other || isEqual(type, other);
}

function machinesOf({ room, root }: PoolTemplate["template"]): readonly Machine[] {
  return room.flatMap((amounts, type): Machine[] => {
    const price = root.priceByType[type] ?? Number.POSITIVE_INFINITY;
    return Number.isFinite(price) ? [{ room: amounts, price }] : [];
  });
}
