// Sorts lists of any length without holding the event loop: short runs at once, then merged a piece at a time.

import type { Effort } from "./effort.ts";

const run = 512;

/** The list in order, as a new one; equals keep their order. */
export function* sortedInSlices<T>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
  effort: Effort,
): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < list.length; start += run) {
    runs.push(list.slice(start, start + run).sort(compare));
    effort.work += Math.min(run, list.length - start);
    if (list.length > run) yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(yield* merged(runs[at] ?? [], runs[at + 1] ?? [], { compare, effort }));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

type Merging<T> = { compare: (a: T, b: T) => number; effort: Effort };

function* merged<T>(a: readonly T[], b: readonly T[], { compare, effort }: Merging<T>): Generator<void, T[]> {
  const all: T[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    // Within bounds: `i` and `j` are checked before what is at them is taken.
    const isFirst = j >= b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0);
    all.push((isFirst ? a[i++] : b[j++]) as T);
    if (all.length % run !== 0) continue;
    effort.work += run * 0.2;
    yield;
  }
  return all;
}
