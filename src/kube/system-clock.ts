// The production Clock: wall time, the process's monotonic time, and real timers.

import type { Clock } from "../control/ports.ts";

// Node fires a longer timer at once instead of late, so a long wait is made of several.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : run()), stepMs);
    };
    wait(Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};
