// How the launch of a claim ended, as far as the claim itself tells.

import { type Instant, parseDuration, secondMs } from "../api/time.ts";
import type { ClaimView } from "./views.ts";

export type LaunchResult = { readonly at: Instant; readonly uid: string; readonly isGood: boolean };

/**
 * Good once its node has registered; bad when the provider could not launch it, or when it goes without ever having
 * registered within its readinessTTL. Undefined: nothing can be said yet. Whole seconds, as objects keep them.
 */
export function launchResultOf({ uid, conditions, createdAt, deletingSince, spec }: ClaimView) {
  const registered = conditions.find(({ type }) => type === "Registered");
  const launched = conditions.find(({ type }) => type === "Launched");
  const result = (at: Instant, isGood: boolean): LaunchResult => {
    return { at: Math.floor(at / secondMs) * secondMs, uid, isGood };
  };
  if (registered?.status === "True") return result(registered.since ?? createdAt, true);
  if (launched?.status === "False") return result(launched.since ?? createdAt, false);
  if (deletingSince === undefined) return undefined;
  const ttl = parseDuration(spec.readinessTTL);
  return ttl.ok && deletingSince >= createdAt + ttl.value ? result(deletingSince, false) : undefined;
}

/** By time, then by claim: one order, whoever came first. */
export function compareLaunches(a: LaunchResult, b: LaunchResult): number {
  return a.at - b.at || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0);
}
