// How long a pod's annotation karpenter.sh/do-not-disrupt holds its node: for ever, or for a time from the pod's start.

import { accepted, type Parsed, quoted, refused } from "../api/parsed.ts";
import { type Instant, type Millis, parseDuration } from "../api/time.ts";
import { doNotDisruptKey } from "../api/well-known.ts";
import type { PodView, PoolView } from "../snapshot/views.ts";

/** Infinity: nobody knows; -Infinity: not at all. Refused: nobody can read it, and it holds nothing. */
export function heldUntil(pod: PodView, maxMs: Millis): Parsed<Instant> {
  const written = pod.doNotDisrupt;
  if (written === undefined || written === "false") return accepted(Number.NEGATIVE_INFINITY);
  const lasting = written === "true" || isEndless(written) ? forEver : parseDuration(written);
  if (!lasting.ok || lasting.value <= 0) {
    return refused(`${doNotDisruptKey}: ${quoted(written)} holds nothing: write "true" or a duration such as 30m.`);
  }
  // One that has not started has not begun to use up its time.
  if (pod.startedAt === undefined) return accepted(Number.POSITIVE_INFINITY);
  return accepted(pod.startedAt + Math.min(lasting.value, maxMs));
}

const forEver = accepted(Number.POSITIVE_INFINITY);

// A duration in form, but longer than one can be: whoever writes 292 years or more means for ever, not nothing.
function isEndless(written: string): boolean {
  if (parseDuration(written).ok) return false;
  const unit = parseDuration(written.replace(/\d+/g, "1"));
  return unit.ok && unit.value > 0;
}

/** The longest that a pool bears it; one that cannot be read bounds nothing. */
export function longestHold(pool: PoolView | undefined): Millis {
  const written = pool?.effective.disruption.maxDoNotDisrupt;
  const max = written === undefined ? undefined : parseDuration(written);
  return max?.ok ? max.value : Number.POSITIVE_INFINITY;
}
