// Sizes apart by the resource that they take the largest share of, so that there is always a choice of each to fill a node
// evenly. Blocks of sizes know the least that one of them asks for, so that those too large are passed over together.

import type { Effort } from "./effort.ts";
import { type Amounts, pods } from "./resources.ts";
import { rowsAtOnce, type SizeTable } from "./sizes.ts";

/** Sizes that a lane's blocks hold. */
export const blockSize = 32;

/** Rows in order, and by block the least of each resource. */
export type Lane = { readonly rows: Int32Array; readonly least: Float64Array };

/** What resources are worth, and how much of each was asked for at first. */
type Measure = { readonly worth: Float64Array; readonly demand: Amounts };

/** A lane while it is made. */
type Making = { readonly rows: Int32Array; readonly least: Float64Array; count: number };

/** Of the sizes of which pods are left. */
export function* lanesOf(table: SizeTable, { worth, demand }: Measure, effort: Effort): Generator<void, Lane[]> {
  const { cells, left, order, stride } = table;
  // Places for pods are no resource to be even about.
  const weights = Float64Array.from(worth, (one, r) => (one > 0 && r !== pods ? 1 / (demand[r] || 1) : 0));
  const lanes: (Making | undefined)[] = [];
  for (let place = 0; place < order.length; place++) {
    const row = order[place] ?? 0;
    if (left[row] === 0) continue;
    const start = row * stride;
    let scarcest = 0;
    let most = 0;
    for (let r = 0; r < stride; r++) {
      const share = (cells[start + r] ?? 0) * (weights[r] ?? 0);
      if (share <= most) continue;
      scarcest = r;
      most = share;
    }
    let lane = lanes[scarcest];
    if (lane === undefined) {
      lane = begun(order.length - place, stride);
      lanes[scarcest] = lane;
    }
    const block = Math.floor(lane.count / blockSize) * stride;
    for (let r = 0; r < stride; r++) {
      const amount = cells[start + r] ?? 0;
      if (amount < (lane.least[block + r] ?? 0)) lane.least[block + r] = amount;
    }
    lane.rows[lane.count++] = row;
    if (place % rowsAtOnce !== rowsAtOnce - 1) continue;
    effort.work += rowsAtOnce * 0.2;
    yield;
  }
  return lanes.flatMap(lane => (lane === undefined ? [] : [finished(lane, stride)]));
}

function begun(most: number, stride: number): Making {
  const least = new Float64Array(Math.ceil(most / blockSize) * stride).fill(Number.POSITIVE_INFINITY);
  return { rows: new Int32Array(most), least, count: 0 };
}

function finished({ rows, least, count }: Making, stride: number): Lane {
  return { rows: rows.subarray(0, count), least: least.subarray(0, Math.ceil(count / blockSize) * stride) };
}

/** A lane without the sizes that are used up. */
export function thinned({ rows }: Lane, { cells, left, stride }: SizeTable): Lane {
  const lane = begun(rows.length, stride);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    if (left[row] === 0) continue;
    const block = Math.floor(lane.count / blockSize) * stride;
    for (let r = 0; r < stride; r++) {
      const amount = cells[row * stride + r] ?? 0;
      if (amount < (lane.least[block + r] ?? 0)) lane.least[block + r] = amount;
    }
    lane.rows[lane.count++] = row;
  }
  return finished(lane, stride);
}
