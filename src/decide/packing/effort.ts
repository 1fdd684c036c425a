// Effort in place of time: what was done so far, in units of about a microsecond. Slices end by it, so that the same
// question takes the same slices everywhere.

export type Effort = { work: number };

/** All slices of a piece of work at once. */
export function atOnce<T>(run: Generator<void, T>): T {
  for (;;) {
    const { done, value } = run.next();
    if (done === true) return value;
  }
}
