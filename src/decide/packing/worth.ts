// What a unit of each resource is worth, given what can be launched and what is asked for: the prices under which no
// machine is worth more than it costs, and the demand as much as can be. They tell a well filled machine from a badly
// filled one, and their sum over the demand is a floor under every answer's price.

import { type Amounts, pods } from "./resources.ts";

export type Machine = { room: Amounts; price: number };

const sweeps = 2;
const narrowings = 14;

/** Resources nobody asks for, or nobody has, are worth nothing. A step at a time. */
export function* worth(machines: readonly Machine[], demand: Amounts): Generator<void, Float64Array> {
  const asked = [...demand.keys()].filter(r => (demand[r] ?? 0) > 0 && machines.some(({ room }) => (room[r] ?? 0) > 0));
  let best = new Float64Array(demand.length);
  // Along a line between two price vectors the floor has one peak: mix in each resource as far as it pays, some times over.
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const r of asked) {
      const alone = new Float64Array(demand.length);
      alone[r] = 1 / (demand[r] ?? 1);
      best = peakBetween(best, feasible(alone, machines), { machines, demand });
      yield;
    }
  }
  return best;
}

/**
 * Half of that, half of what each resource would be worth if all were equally scarce: so that what is plenty today is
 * not given away for nothing, and machines are filled evenly.
 */
export function balanced(exact: Float64Array, machines: readonly Machine[], demand: Amounts): Float64Array {
  const even = evenWorth(machines, demand);
  return exact.map((price, r) => (price + (even[r] ?? 0)) / 2);
}

/** If all were equally scarce. Places for pods are no resource to be even about. */
export function evenWorth(machines: readonly Machine[], demand: Amounts): Float64Array {
  return feasible(
    Float64Array.from(demand, (amount, r) => (r !== pods && amount > 0 ? 1 / amount : 0)),
    machines,
  );
}

type Market = { machines: readonly Machine[]; demand: Amounts };

function peakBetween(
  a: Float64Array<ArrayBuffer>,
  b: Float64Array<ArrayBuffer>,
  { machines, demand }: Market,
): Float64Array<ArrayBuffer> {
  const at = (share: number) =>
    feasible(
      a.map((price, r) => (1 - share) * price + share * (b[r] ?? 0)),
      machines,
    );
  const floor = (share: number) => dot(at(share), demand);
  let [low, high] = [0, 1];
  for (let step = 0; step < narrowings; step++) {
    const third = (high - low) / 3;
    if (floor(low + third) < floor(high - third)) low += third;
    else high -= third;
  }
  const peaks = [0, (low + high) / 2, 1].map(share => ({ share, value: floor(share) }));
  return at(peaks.reduce((one, other) => (other.value > one.value ? other : one)).share);
}

/** As high as they can be without any machine being worth more than it costs. */
function feasible(prices: Float64Array<ArrayBuffer>, machines: readonly Machine[]): Float64Array<ArrayBuffer> {
  let ratio = 0;
  for (const { room, price } of machines)
    ratio = Math.max(ratio, dot(prices, room) / Math.max(price, Number.MIN_VALUE));
  return ratio === 0 ? prices : prices.map(one => one / ratio);
}

export function dot(a: Amounts, b: Amounts): number {
  let total = 0;
  for (let r = 0; r < a.length; r++) total += (a[r] ?? 0) * (b[r] ?? 0);
  return total;
}
