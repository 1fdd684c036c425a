// Equal amounts are one row, and rows come in the order of what they are worth, however many there are.
import { expect, test } from "vitest";
import { atOnce } from "./effort.ts";
import { lanesOf, thinned } from "./lanes.ts";
import { rowsAtOnce, SizeTable } from "./sizes.ts";
import { sortedNumbers } from "./sliced-sort.ts";

const amounts = (...list: number[]) => Float64Array.from(list);

function tableOf(rows: readonly number[][], stride = 3): SizeTable {
  const table = new SizeTable(stride, rows.length);
  for (const row of rows) {
    const index = table.row(amounts(...row));
    table.left[index] = (table.left[index] ?? 0) + 1;
  }
  return table;
}

const listOf = (table: SizeTable) => Array.from({ length: table.count }, (_, row) => [...table.amounts(row)]);

test("pods that ask for the same are of one row, and those of other amounts of another", () => {
  const gib = 2 ** 30;
  const table = tableOf([
    [500, gib, 1],
    [500, 2 * gib, 1],
    [500, gib, 1],
    [gib, 500, 1],
    [500, gib, 0],
  ]);
  expect(listOf(table)).toEqual([
    [500, gib, 1],
    [500, 2 * gib, 1],
    [gib, 500, 1],
    [500, gib, 0],
  ]);
  expect([...table.left.subarray(0, table.count)]).toEqual([2, 1, 1, 1]);
});

test("a resource that is met later makes rows wider and leaves them what they are", () => {
  const table = tableOf(
    [
      [1, 2],
      [3, 4],
      [1, 2, 7],
      [1, 2, 0],
      [3, 4],
    ],
    2,
  );
  expect(listOf(table)).toEqual([
    [1, 2, 0],
    [3, 4, 0],
    [1, 2, 7],
  ]);
});

test("rows whose amounts differ in high bits alone are told apart", () => {
  const rows = Array.from({ length: 4_000 }, (_, index) => [100, index * 2 ** 32, 1]);
  expect(tableOf([...rows, ...rows]).count).toBe(4_000);
});

test.each<[string, number[][]]>([
  ["by what they are worth", Array.from({ length: 3_000 }, (_, i) => [(i * 7919) % 3_001, (i * 104_729) % 997, 1])],
  [
    "of the same worth by their amounts",
    Array.from({ length: 300 }, (_, i) => [(i * 7) % 300, 600 - 2 * ((i * 7) % 300), 1]),
  ],
  [
    "more than are gone through at once",
    Array.from({ length: 3 * rowsAtOnce + 5 }, (_, i) => [(i * 7919) % 65_537, i, 1]),
  ],
  [
    "worth nothing at all",
    [
      [0, 0, 1],
      [0, 0, 2],
      [0, 0, 3],
    ],
  ],
])("rows are in order: %s", (_, rows) => {
  const worth = amounts(2, 1, 0);
  const table = tableOf(rows);
  const before = listOf(table);
  const order = atOnce(table.arrange(worth, { work: 0 }));
  const valueOf = ([cpu = 0, memory = 0]: number[]) => 2 * cpu + memory;
  const byHand = before.toSorted(
    (a, b) =>
      valueOf(b) - valueOf(a) || (b[0] ?? 0) - (a[0] ?? 0) || (b[1] ?? 0) - (a[1] ?? 0) || (b[2] ?? 0) - (a[2] ?? 0),
  );
  expect([...order].map(row => before[row])).toEqual(byHand);
});

test("lanes part sizes by the resource that they take the largest share of, in order, and know the least of a block", () => {
  const table = tableOf([
    [10, 1, 1],
    [8, 8, 1],
    [1, 10, 1],
    [6, 2, 1],
    [2, 6, 1],
  ]);
  table.left[3] = 0;
  const measure = { worth: amounts(1, 1, 1), demand: amounts(27, 27, 5) };
  table.order = Int32Array.of(1, 0, 2, 3, 4);
  const lanes = atOnce(lanesOf(table, measure, { work: 0 }));
  expect(lanes.map(({ rows }) => [...rows])).toEqual([
    [1, 0],
    [2, 4],
  ]);
  expect(lanes.map(({ least }) => [...least])).toEqual([
    [8, 1, 1],
    [1, 6, 1],
  ]);
  table.left[1] = 0;
  table.left[2] = 0;
  const rest = lanes.map(lane => thinned(lane, table));
  expect(rest.map(({ rows, least }) => [[...rows], [...least]])).toEqual([
    [[0], [10, 1, 1]],
    [[4], [2, 6, 1]],
  ]);
});

test("numbers are sorted as they would be at once, also in several pieces", () => {
  const numbers = Float64Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 65_537);
  expect(atOnce(sortedNumbers(numbers.slice(), { work: 0 }))).toEqual(numbers.slice().sort());
});
