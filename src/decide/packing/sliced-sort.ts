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

/** So many numbers are sorted at once. */
const numbersMax = 2 ** 14;

/** Numbers in order; those that are given are used for it. */
export function* sortedNumbers(numbers: Float64Array, effort: Effort): Generator<void, Float64Array> {
  for (let start = 0; start < numbers.length; start += numbersMax) {
    numbers.subarray(start, start + numbersMax).sort();
    effort.work += Math.min(numbersMax, numbers.length - start) * 0.1;
    yield;
  }
  let from = numbers;
  let to: Float64Array = new Float64Array(numbers.length > numbersMax ? numbers.length : 0);
  for (let width = numbersMax; width < numbers.length; width *= 2) {
    for (let start = 0; start < numbers.length; start += 2 * width) {
      mergeNumbers(from, to, { start, width });
      effort.work += 2 * width * 0.02;
      yield;
    }
    [from, to] = [to, from];
  }
  return from;
}

function mergeNumbers(from: Float64Array, to: Float64Array, { start, width }: { start: number; width: number }): void {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  for (let i = start, j = middle, at = start; at < end; at++) {
    const isFirst = j >= end || (i < middle && (from[i] ?? 0) <= (from[j] ?? 0));
    to[at] = (isFirst ? from[i++] : from[j++]) ?? 0;
  }
}
