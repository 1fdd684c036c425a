// What a unit of each resource is worth, given what can be launched and what is asked for: the prices under which the
// cheapest mix of machines that covers the demand pays off exactly. They tell a well filled machine from a badly filled
// one, and their sum over the demand is a floor under every answer's price.

import type { Amounts } from "./resources.ts";

export type Machine = { room: Amounts; price: number };

const rounds = 400;

/** By multiplicative weights: always a valid floor, near the best one. Resources nobody asks for are worth nothing. */
export function worth(machines: readonly Machine[], demand: Amounts): Float64Array {
  const asked = [...demand.keys()].filter(r => (demand[r] ?? 0) > 0 && machines.some(({ room }) => (room[r] ?? 0) > 0));
  const weights = new Float64Array(demand.length);
  const covered = new Float64Array(demand.length);
  const best = new Float64Array(demand.length);
  for (const r of asked) weights[r] = 1;
  let bestFloor = 0;
  for (let round = 1; round <= rounds; round++) {
    const prices = asPrices(weights, demand, machines);
    const floor = dot(prices, demand);
    if (floor > bestFloor) {
      bestFloor = floor;
      best.set(prices);
    }
    const { room } = mostUseful(machines, prices);
    // One round buys of the best machine what covers the scarcest resource once.
    const scale = Math.max(...asked.map(r => (room[r] ?? 0) / (demand[r] ?? 1)), Number.MIN_VALUE);
    for (const r of asked) {
      covered[r] = (covered[r] ?? 0) + (room[r] ?? 0) / (demand[r] ?? 1) / scale;
      weights[r] = Math.exp(-(covered[r] ?? 0) * 0.1);
    }
    const top = Math.max(...asked.map(r => weights[r] ?? 0));
    if (top < 1e-200) break;
    if (top > 0) for (const r of asked) weights[r] = (weights[r] ?? 0) / top;
  }
  return best;
}

// Weights made prices: as high as they can be without any machine being worth more than it costs.
function asPrices(weights: Float64Array, demand: Amounts, machines: readonly Machine[]): Float64Array {
  const prices = weights.map((weight, r) => ((demand[r] ?? 0) > 0 ? weight / (demand[r] ?? 1) : 0));
  let ratio = 0;
  for (const { room, price } of machines)
    ratio = Math.max(ratio, dot(prices, room) / Math.max(price, Number.MIN_VALUE));
  return ratio === 0 ? prices.fill(0) : prices.map(one => one / ratio);
}

function mostUseful(machines: readonly Machine[], prices: Float64Array): Machine {
  let best: Machine | undefined;
  let most = -1;
  for (const machine of machines) {
    const value = dot(prices, machine.room) / Math.max(machine.price, Number.MIN_VALUE);
    if (value > most) [best, most] = [machine, value];
  }
  return best ?? { room: new Float64Array(0), price: 1 };
}

export function dot(a: Amounts, b: Amounts): number {
  let total = 0;
  for (let r = 0; r < a.length; r++) total += (a[r] ?? 0) * (b[r] ?? 0);
  return total;
}
