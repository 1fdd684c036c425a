// How long to wait before the next try: doubling, bounded, and never the same for two processes.

export type Backoff = {
  /** The delay before the next try; each call doubles the following one. */
  nextMs(): number;
  reset(): void;
};

export function backoff(bounds: { minMs: number; maxMs: number }, random: () => number): Backoff {
  let baseMs = bounds.minMs;
  return {
    nextMs() {
      // Between half and one and a half: processes that failed together do not come back together.
      const delayMs = baseMs * (0.5 + random());
      baseMs = Math.min(baseMs * 2, bounds.maxMs);
      return delayMs;
    },
    reset() {
      baseMs = bounds.minMs;
    },
  };
}
