// Searches that take longer than a turn may: they run beside the turns, a slice at a time, on what the picture showed
// when they began. One at a time: a question that comes meanwhile waits and is then asked of what is there
// by then. The answer comes into the picture, which keeps of it what still stands, and the next turn acts on that.

import type { Millis } from "../api/time.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { searchMoves } from "../decide/disruption/search.ts";
import type { Effort } from "../decide/packing/effort.ts";
import type { MovesFound } from "../snapshot/moves.ts";
import { done, type Execution } from "./execution.ts";
import type { Clock } from "./ports.ts";

/** Of work as packing counts it, about a microsecond each: well below the 20 ms that a slice may take. */
const sliceWork = 2_500;
/** Code that has only just been loaded, or a machine that is busy, takes longer for it: the slice ends by time then. */
const sliceMs: Millis = 8;
const pauseMs: Millis = 0;

type Search = Extract<Command, { kind: "search" }>;

export function search(command: Search, execution: Execution): Promise<Outcome> {
  const { searches } = execution;
  return searches.inTurn(() => (command.for === "disruption" ? searchForMoves(execution) : searchForPlaces(execution)));
}

/** For pods that want a node: where they shall go. */
async function searchForPlaces({ picture, clock, searches, signal }: Execution): Promise<Outcome> {
  const effort = { work: 0 };
  const run = searches.packing.search(() => clock.now(), effort);
  try {
    const plan = await inSlices(run, effort, { clock, signal });
    await eachApart(picture.settlingSearch(plan), { clock, signal });
    return done;
  } catch (error) {
    picture.abandonSearch();
    if (!signal.aborted) searches.packing.forget();
    throw error;
  }
}

/** For nodes that may go: where their pods would. Pods that want a node now do not wait for it to come to its end. */
async function searchForMoves(execution: Execution): Promise<Outcome> {
  const { picture, clock, searches, signal } = execution;
  const { staleness } = picture;
  if (staleness !== undefined) return { result: "retry", reason: "Stale", message: staleness.message };
  const effort = { work: 0 };
  const startedAt = clock.monotonic();
  try {
    const found = await inSlices(moves(execution, effort), effort, { clock, signal });
    picture.settleMoves(found);
    const isCutShort = found.unanswered.length > 0;
    const { scores = [] } = found;
    return { result: "done", tookMs: clock.monotonic() - startedAt, scores, ...(isCutShort ? { isCutShort } : {}) };
  } catch (error) {
    picture.abandonMoves();
    if (!signal.aborted) searches.packing.forget();
    throw error;
  }
}

function* moves(execution: Execution, effort: Effort): Generator<void, MovesFound> {
  const { picture, clock, searches, settings, epoch } = execution;
  const { at, ...ready } = yield* searches.packing.whatIf(() => clock.now(), effort);
  const context = { picture, settings, epoch, now: at };
  const isStopped = () => searches.isAwaited;
  const { known, stuck } = searches;
  return yield* searchMoves({ picture, ...ready, context, effort, isStopped, known, stuck });
}

type Around = { readonly clock: Clock; readonly signal: AbortSignal };

/** A turn may come between any two pieces. */
async function eachApart(pieces: Generator<void, void>, { clock, signal }: Around): Promise<void> {
  for (const _ of pieces) {
    await new Promise<void>(resolve => clock.after(pauseMs, resolve));
    signal.throwIfAborted();
  }
}

async function inSlices<T>(run: Generator<void, T>, effort: Effort, { clock, signal }: Around): Promise<T> {
  try {
    for (;;) {
      const [end, endsAt] = [effort.work + sliceWork, clock.monotonic() + sliceMs];
      while (effort.work < end && clock.monotonic() < endsAt) {
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
