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

/** Of the sizes of which pods are left. */
export function* lanesOf(table: SizeTable, measure: Measure, effort: Effort): Generator<void, Lane[]> {
  const { count, left, stride } = table;
  const rows = new Int32Array(count);
  const laneByRow = new Uint8Array(count);
  const lengths = new Int32Array(stride);
  let found = 0;
  for (let row = 0; row < count; row++) {
    if (left[row] === 0) continue;
    const lane = scarcest(table, row, measure);
    laneByRow[found] = lane;
    rows[found++] = row;
    lengths[lane] = (lengths[lane] ?? 0) + 1;
    if (found % rowsAtOnce !== 0) continue;
    effort.work += rowsAtOnce * 0.1;
    yield;
  }
  const lists = Array.from(lengths, length => new Int32Array(length));
  lengths.fill(0);
  for (let at = 0; at < found; at++) {
    const lane = laneByRow[at] ?? 0;
    const list = lists[lane];
    const place = lengths[lane] ?? 0;
    if (list !== undefined) list[place] = rows[at] ?? 0;
    lengths[lane] = place + 1;
  }
  effort.work += found * 0.02;
  yield;
  const lanes: Lane[] = [];
  for (const list of lists) {
    if (list.length === 0) continue;
    lanes.push({ rows: list, least: leastByBlock(table, list) });
    effort.work += list.length * 0.05;
    yield;
  }
  return lanes;
}

function scarcest({ cells, stride }: SizeTable, row: number, { worth, demand }: Measure): number {
  let lane = 0;
  let most = -1;
  for (let r = 0; r < stride; r++) {
    const isCounted = (worth[r] ?? 0) > 0 && r !== pods;
    const share = isCounted ? (cells[row * stride + r] ?? 0) / (demand[r] || 1) : 0;
    if (share <= most) continue;
    lane = r;
    most = share;
  }
  return lane;
}

function leastByBlock({ cells, stride }: SizeTable, rows: Int32Array): Float64Array {
  const least = new Float64Array(Math.ceil(rows.length / blockSize) * stride).fill(Number.POSITIVE_INFINITY);
  for (let at = 0; at < rows.length; at++) {
    const block = Math.floor(at / blockSize) * stride;
    const start = (rows[at] ?? 0) * stride;
    for (let r = 0; r < stride; r++) {
      const amount = cells[start + r] ?? 0;
      if (amount < (least[block + r] ?? 0)) least[block + r] = amount;
    }
  }
  return least;
}
