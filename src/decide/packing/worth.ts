// What a unit of each resource is worth, given what can be launched and what is asked for: the prices under which no
// machine is worth more than it costs, and the demand as much as can be. They tell a well filled machine from a badly
// filled one, and their sum over the demand is a floor under every answer's price.

import { type Amounts, pods } from "./resources.ts";

export type Machine = { room: Amounts; price: number };

const sweeps = 2;
const narrowings = 14;

/** Machines as rows of one table. */
type Rooms = { readonly cells: Float64Array; readonly prices: Float64Array; readonly stride: number };

/**
 * Without machines that have no more of anything that is asked for than another has for the same money: what resources are
 * worth does not depend on them, and they are most. From the large ones on, which mostly are the others.
 */
export function unbeaten(machines: readonly Machine[], demand: Amounts): Machine[] {
  const found: Machine[] = [];
  for (let index = machines.length - 1; index >= 0; index--) {
    const one = machines[index];
    if (one === undefined) continue;
    let isBeaten = false;
    for (let at = 0; at < found.length && !isBeaten; at++) isBeaten = isSuperior(found[at] ?? one, one, demand);
    if (!isBeaten) found.push(one);
  }
  return found;
}

function isSuperior(a: Machine, b: Machine, demand: Amounts): boolean {
  for (let r = 0; r < demand.length; r++) {
    if ((demand[r] ?? 0) > 0 && (a.room[r] ?? 0) * b.price < (b.room[r] ?? 0) * a.price) return false;
  }
  return true;
}

/** Resources nobody asks for, or nobody has, are worth nothing. A step at a time. */
export function* worth(machines: readonly Machine[], demand: Amounts): Generator<void, Float64Array> {
  const rooms = roomsOf(machines, demand.length);
  const asked = [...demand.keys()].filter(r => (demand[r] ?? 0) > 0 && machines.some(({ room }) => (room[r] ?? 0) > 0));
  let best = new Float64Array(demand.length);
  // Along a line between two price vectors the floor has one peak: mix in each resource as far as it pays, some times over.
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const r of asked) {
      const alone = new Float64Array(demand.length);
      alone[r] = 1 / (demand[r] ?? 1);
      best = peakBetween(best, scaled(alone, rooms), { rooms, demand });
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
  const even = Float64Array.from(demand, (amount, r) => (r !== pods && amount > 0 ? 1 / amount : 0));
  return scaled(even, roomsOf(machines, demand.length));
}

type Market = { readonly rooms: Rooms; readonly demand: Amounts };

type Prices = Float64Array<ArrayBuffer>;

function peakBetween(a: Prices, b: Prices, { rooms, demand }: Market): Prices {
  const lines = linesBetween(a, b, rooms);
  const [atA, atB] = [dot(a, demand), dot(b, demand)];
  const floor = (share: number) => ((1 - share) * atA + share * atB) / (highest(lines, share) || 1);
  let [low, high] = [0, 1];
  for (let step = 0; step < narrowings; step++) {
    const third = (high - low) / 3;
    if (floor(low + third) < floor(high - third)) low += third;
    else high -= third;
  }
  const peaks = [0, (low + high) / 2, 1].map(share => ({ share, value: floor(share) }));
  const { share } = peaks.reduce((one, other) => (other.value > one.value ? other : one));
  const mixed = a.map((price, r) => (1 - share) * price + share * (b[r] ?? 0));
  return scaled(mixed, rooms);
}

/** What machines are worth for their price at either end of a mixture, two numbers each: between them it is a line. */
function linesBetween(a: Prices, b: Prices, { cells, prices, stride }: Rooms): Float64Array {
  const lines = new Float64Array(2 * prices.length);
  let best = 0;
  for (let row = 0; row < prices.length; row++) {
    let atA = 0;
    let atB = 0;
    for (let r = 0; r < stride; r++) {
      const amount = cells[row * stride + r] ?? 0;
      atA += (a[r] ?? 0) * amount;
      atB += (b[r] ?? 0) * amount;
    }
    lines[2 * row] = atA / (prices[row] ?? 1);
    lines[2 * row + 1] = atB / (prices[row] ?? 1);
    if (sumAt(lines, row) > sumAt(lines, best)) best = row;
  }
  return above(lines, best);
}

function sumAt(lines: Float64Array, row: number): number {
  return (lines[2 * row] ?? 0) + (lines[2 * row + 1] ?? 0);
}

/** Without those that lie below one line all the way: they are most, and never the highest. */
function above(lines: Float64Array, best: number): Float64Array {
  const bestA = lines[2 * best] ?? 0;
  const bestB = lines[2 * best + 1] ?? 0;
  const kept = [bestA, bestB];
  for (let at = 0; at < lines.length; at += 2) {
    const atA = lines[at] ?? 0;
    const atB = lines[at + 1] ?? 0;
    if (atA > bestA || atB > bestB) kept.push(atA, atB);
  }
  return Float64Array.from(kept);
}

function highest(lines: Float64Array, share: number): number {
  let most = 0;
  for (let at = 0; at < lines.length; at += 2) {
    const value = (1 - share) * (lines[at] ?? 0) + share * (lines[at + 1] ?? 0);
    if (value > most) most = value;
  }
  return most;
}

/** As high as they can be without any machine being worth more than it costs. */
function scaled(prices: Prices, rooms: Rooms): Prices {
  const ratio = ratioOf(prices, rooms);
  return prices.map(price => (ratio === 0 ? price : price / ratio));
}

/** What the machine that is worth most for its price is worth by it. */
function ratioOf(prices: Prices, { cells, prices: asked, stride }: Rooms): number {
  let most = 0;
  for (let row = 0, at = 0; row < asked.length; row++) {
    let value = 0;
    for (let r = 0; r < stride; r++) value += (prices[r] ?? 0) * (cells[at++] ?? 0);
    value /= asked[row] ?? 1;
    if (value > most) most = value;
  }
  return most;
}

function roomsOf(machines: readonly Machine[], stride: number): Rooms {
  const cells = new Float64Array(machines.length * stride);
  const prices = new Float64Array(machines.length);
  let row = 0;
  for (const { room, price } of machines) {
    for (let r = 0; r < stride; r++) cells[row * stride + r] = room[r] ?? 0;
    prices[row++] = Math.max(price, Number.MIN_VALUE);
  }
  return { cells, prices, stride };
}

export function dot(a: Amounts, b: Amounts): number {
  let total = 0;
  for (let r = 0; r < a.length; r++) total += (a[r] ?? 0) * (b[r] ?? 0);
  return total;
}
