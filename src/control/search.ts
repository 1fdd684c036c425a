// Searches that take longer than a turn may: they run beside the turns, a slice at a time, on what the picture showed
// when they began. One of a kind at a time: a question that comes meanwhile waits and is then asked of what is there
// by then. The answer comes into the picture, which keeps of it what still stands, and the next turn acts on that.

import type { Millis } from "../api/time.ts";
import type { Outcome } from "../decide/decision.ts";
import { done, type Execution } from "./execution.ts";
import type { Clock } from "./ports.ts";

/** Of work as packing counts it, about a microsecond each: well below the 20 ms that a slice may take. */
const sliceWork = 2_500;
const pauseMs: Millis = 0;

/** For pods that want a node: where they shall go. */
export async function search({ picture, clock, searches, signal }: Execution): Promise<Outcome> {
  const effort = { work: 0 };
  const run = searches.packing.search(() => clock.now(), effort);
  try {
    picture.settleSearch(await inSlices(run, effort, { clock, signal }));
    return done;
  } catch (error) {
    picture.abandonSearch();
    throw error;
  }
}

type Around = { readonly clock: Clock; readonly signal: AbortSignal };

async function inSlices<T>(run: Generator<void, T>, effort: { work: number }, { clock, signal }: Around): Promise<T> {
  try {
    for (;;) {
      const end = effort.work + sliceWork;
      while (effort.work < end) {
        const step = run.next();
        if (step.done === true) return step.value;
      }
      await new Promise<void>(resolve => clock.after(pauseMs, resolve));
      signal.throwIfAborted();
    }
  } finally {
    // Given up half-way it takes back what it has tried.
    run.return(undefined as T);
  }
}
