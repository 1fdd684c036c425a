// How long a write of a leader may take: so short that it ends, one way or the other, before another can lead. Pure.

import type { Fence } from "../control/ports.ts";
import { FencedError } from "./errors.ts";

// For an abort to reach the server and for clocks that do not run alike.
const MARGIN_MS = 500;
// A write with less time would mostly end as "unknown"; refusing it is kinder.
const SHORTEST_MS = 250;
const LONGEST_MS = 10_000;

/** The time-out of a write decided on now, with `leftMs` of the lease left. Throws if there is none. */
export function writeTimeoutMs(leftMs: number, askedMs: number): number {
  // A quarter is kept for waiting for a connection, so that the same time-out still fits at the socket.
  const timeoutMs = Math.floor(Math.min(askedMs, LONGEST_MS, (leftMs - MARGIN_MS) * 0.75));
  if (timeoutMs < SHORTEST_MS && timeoutMs < askedMs) throw fenced(leftMs);
  return timeoutMs;
}

/** Asked where the bytes go to the socket: does a write of this time-out still end inside the term it was decided in? */
export function assertFits(fence: Fence, write: { epoch: number | undefined; timeoutMs: number }): void {
  const leftMs = fence.remainingMs();
  if (leftMs < write.timeoutMs + MARGIN_MS) throw fenced(leftMs);
  if (fence.epoch !== write.epoch) throw new FencedError("Not sent: it was decided in an earlier term as leader.");
}

function fenced(leftMs: number): FencedError {
  return new FencedError(
    leftMs <= 0
      ? "Not sent: this process does not hold the leader's lease."
      : `Not sent: only ${Math.floor(leftMs)} ms of the leader's lease are left, too few to be sure of the result.`,
  );
}
