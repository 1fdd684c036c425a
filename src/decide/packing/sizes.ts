// The sizes of pods as rows of one table of numbers: pods that ask for the same are of one row, and beside it stands how
// many of them are left. Decides in which order sizes are tried; knows nothing of kinds.

import type { Effort } from "./effort.ts";
import type { Amounts } from "./resources.ts";
import { sortedNumbers } from "./sliced-sort.ts";

/** So many are gone through before anybody is asked whether to go on. */
export const rowsAtOnce = 2048;

export class SizeTable {
  /** Resources a row. */
  stride: number;
  /** Row after row, what one pod of it asks for. */
  cells: Float64Array;
  /** By row, the pods that are not placed. */
  left: Int32Array;
  count = 0;
  /** Rows, the largest first, once that is found out. */
  order: Int32Array = new Int32Array(0);
  /** By hash, or in the next place that is free: rows, counted from one. */
  #slots: Int32Array;

  /** For no more rows than `most`. */
  constructor(stride: number, most: number) {
    this.stride = stride;
    this.cells = new Float64Array(most * stride);
    this.left = new Int32Array(most);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 1)));
  }

  /** The row of these amounts: the next one, if nobody asked for them before. */
  row(amounts: Amounts): number {
    if (amounts.length > this.stride) this.widen(amounts.length);
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(amounts) & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#slots[slot] ?? 0) - 1;
      if (row < 0) {
        this.#slots[slot] = ++this.count;
        this.cells.set(amounts, (this.count - 1) * this.stride);
        return this.count - 1;
      }
      if (this.#isEqual(row, amounts)) return row;
    }
  }

  amounts(row: number): Amounts {
    const { cells, stride } = this;
    const amounts = new Float64Array(stride);
    for (let r = 0; r < stride; r++) amounts[r] = cells[row * stride + r] ?? 0;
    return amounts;
  }

  /** Makes room for resources that were not known before. */
  widen(stride: number): void {
    const wide = new Float64Array(this.left.length * stride);
    for (let row = 0; row < this.count; row++) wide.set(this.amounts(row), row * stride);
    this.stride = stride;
    this.cells = wide;
  }

  /** Finds the order of rows by what they are worth, the largest first. No more may come then. */
  *arrange(worth: Float64Array, effort: Effort): Generator<void, Int32Array> {
    this.order = yield* this.#order(yield* this.#values(worth, effort), effort);
    this.#slots = new Int32Array(0);
    return this.order;
  }

  /** What all that is left asks for. */
  *demand(effort: Effort): Generator<void, Float64Array> {
    const { cells, count, left, stride } = this;
    const total = new Float64Array(stride);
    for (let row = 0, at = 0; row < count; row++) {
      const pods = left[row] ?? 0;
      for (let r = 0; r < stride; r++) total[r] = (total[r] ?? 0) + pods * (cells[at++] ?? 0);
      if (row % rowsAtOnce === rowsAtOnce - 1) yield* rested(effort);
    }
    return total;
  }

  *#values(worth: Float64Array, effort: Effort): Generator<void, Float64Array> {
    const { cells, stride } = this;
    const values = new Float64Array(this.count);
    for (let row = 0, at = 0; row < values.length; row++) {
      let value = 0;
      for (let r = 0; r < stride; r++) value += (worth[r] ?? 0) * (cells[at++] ?? 0);
      values[row] = value;
      if (row % rowsAtOnce === rowsAtOnce - 1) yield* rested(effort);
    }
    return values;
  }

  // The value, coarsely, and the row in one number: those are sorted at a tenth of the price of sorting by comparing. Only
  // rows of the same coarse value are compared.
  *#order(values: Float64Array, effort: Effort): Generator<void, Int32Array> {
    let most = 0;
    for (let row = 0; row < values.length; row++) if ((values[row] ?? 0) > most) most = values[row] ?? 0;
    const rowsMax = 2 ** Math.ceil(Math.log2(values.length + 1));
    const scale = most > 0 ? (2 ** 52 / rowsMax - 1) / most : 0;
    const keys = new Float64Array(values.length);
    for (let row = 0; row < keys.length; row++) {
      keys[row] = Math.floor((most - (values[row] ?? 0)) * scale) * rowsMax + row;
      if (row % rowsAtOnce === rowsAtOnce - 1) yield* rested(effort);
    }
    const sorted = yield* sortedNumbers(keys, effort);
    const order = new Int32Array(sorted.length);
    let start = 0;
    for (let place = 0, coarse = -1; place < order.length; place++) {
      const key = sorted[place] ?? 0;
      const own = Math.floor(key / rowsMax);
      order[place] = key - own * rowsMax;
      if (place % rowsAtOnce === rowsAtOnce - 1) yield* rested(effort);
      if (own === coarse) continue;
      if (place - start > 1) this.#compare(order, values, { start, end: place });
      start = place;
      coarse = own;
    }
    if (order.length - start > 1) this.#compare(order, values, { start, end: order.length });
    return order;
  }

  #compare(order: Int32Array, values: Float64Array, { start, end }: { start: number; end: number }): void {
    const { cells, stride } = this;
    order.subarray(start, end).sort((a, b) => {
      let difference = (values[b] ?? 0) - (values[a] ?? 0);
      for (let r = 0; r < stride && difference === 0; r++) {
        difference = (cells[b * stride + r] ?? 0) - (cells[a * stride + r] ?? 0);
      }
      return difference;
    });
  }

  #isEqual(row: number, amounts: Amounts): boolean {
    const { cells, stride } = this;
    for (let r = 0; r < stride; r++) if (cells[row * stride + r] !== (amounts[r] ?? 0)) return false;
    return true;
  }
}

function* rested(effort: Effort): Generator<void, void> {
  effort.work += rowsAtOnce * 0.05;
  yield;
}

/** Equal for equal amounts, and rarely else. What is none says nothing: rows may become wider. */
function hashOf(amounts: Amounts): number {
  let hash = 0;
  for (let r = 0; r < amounts.length; r++) {
    const amount = amounts[r] ?? 0;
    if (amount === 0) continue;
    // In two halves, for memory in bytes is more than 32 bits hold; and what is mixed high up comes down, for the amounts
    // of memory are mostly zeros in their low bits.
    hash = Math.imul(hash ^ amount ^ (amount / 0x1_0000_0000), 0x9e37_79b1) + r;
    hash ^= hash >>> 15;
  }
  return Math.imul(hash, 0x85eb_ca6b) >>> 13;
}
