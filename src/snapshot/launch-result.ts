// How the launch of a claim ended, as far as the claim itself tells.

import { type Instant, type Millis, minuteMs, parseDuration, parseTime, secondMs } from "../api/time.ts";
import type { ClaimView } from "./views.ts";

export type LaunchResult = { readonly at: Instant; readonly uid: string; readonly isGood: boolean };

/** A deletion has the server's time, the rest ours: were its clock a moment behind, no failure would ever count. */
const skewMs: Millis = minuteMs;

/**
 * Good once its node was Ready; bad when the provider could not launch it, or when it goes at the end of its readinessTTL
 * or later and never was. Undefined: nothing can be said yet. Whole seconds, as objects keep them.
 */
export function launchResultOf(claim: ClaimView): LaunchResult | undefined {
  const { uid, conditions, createdAt, deletingSince, spec } = claim;
  const registered = conditions.find(({ type, status }) => type === "Registered" && status === "True");
  const launched = conditions.find(({ type }) => type === "Launched");
  const result = (at: Instant, isGood: boolean) => ({ at: Math.floor(at / secondMs) * secondMs, uid, isGood });
  if (!registered && launched?.status === "False") return result(launched.since ?? createdAt, false);
  const since = registered?.since ?? createdAt;
  const ttl = parseDuration(spec.readinessTTL);
  const endsAt = ttl.ok ? since + ttl.value : undefined;
  // When it was Ready is the node's own word: believed only within the time that it had.
  if (registered && wasReady(claim))
    return result(Math.max(since, Math.min(readyAt(claim) ?? since, endsAt ?? since)), true);
  const isLate = deletingSince !== undefined && endsAt !== undefined && deletingSince >= endsAt - skewMs;
  return isLate ? result(deletingSince, false) : undefined;
}

function wasReady({ status, conditions }: ClaimView): boolean {
  const isInitialized = conditions.some(condition => condition.type === "Initialized" && condition.status === "True");
  return status.firstReadyTime !== undefined || isInitialized;
}

function readyAt({ status }: ClaimView): Instant | undefined {
  const written = parseTime(status.firstReadyTime ?? "");
  return written.ok ? written.value : undefined;
}

/** By time, then by claim: one order, whoever came first. */
export function compareLaunches(a: LaunchResult, b: LaunchResult): number {
  return a.at - b.at || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0);
}
