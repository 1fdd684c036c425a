// The committed answers of Go and Kubernetes (written by test/control-plane/cmd/vectors), for the tests of src/api.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Their shape is the reader's word: cmd/vectors says what it writes. */
export function vectors(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), "utf8"));
}

/** Which of several things hold, one bit each, as the vectors write it. */
export function bits(holds: readonly boolean[]): number {
  return holds.reduce((sum, one, index) => (one ? sum | (1 << index) : sum), 0);
}

/** The cases where two answers differ: empty if all agree, and readable if not. */
export function differences<T>(
  cases: readonly T[],
  answers: (one: T) => { ours: unknown; theirs: unknown },
): unknown[] {
  return cases.flatMap(one => {
    const { ours, theirs } = answers(one);
    return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ case: one, ours, theirs }];
  });
}
