// What the first lists of a large cluster leave behind would stay for hours: little is made anew after them, so nothing
// makes V8 collect it. Once all is listed it is collected, and where what is kept is large, garbage is not let grow to
// twice as much again.

import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { secondMs } from "../api/time.ts";
import type { Clock } from "../control/ports.ts";

/** The first turns are over by then, and what they made is garbage too. */
const settledMs = 5 * secondMs;
/** From here on a third more is tens of megabytes; below it a burst would pay for a saving that nobody sees. */
const largeBytes = 100e6;

export type Heap = {
  collect(): void;
  readonly usedBytes: number;
  /** Garbage may come to so many percent of what is in use before it is collected. */
  holdGrowth(percent: number): void;
};

type Process = { readonly clock: Pick<Clock, "after">; readonly isListed: () => boolean; readonly heap?: Heap };

/** The returned function ends it. */
export function giveBack({ clock, isListed, heap = heapOfV8 }: Process): () => void {
  let cancel = () => {};
  const collect = () => {
    heap.collect();
    if (heap.usedBytes >= largeBytes) heap.holdGrowth(30);
  };
  const look = () => {
    cancel = isListed() ? clock.after(settledMs, collect) : clock.after(secondMs, look);
  };
  look();
  return () => cancel();
}

const heapOfV8: Heap = {
  collect() {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
  },
  get usedBytes() {
    return getHeapStatistics().used_heap_size;
  },
  holdGrowth(percent) {
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  },
};
