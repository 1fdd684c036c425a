// A failure that is still spreading is counted whole before anything goes: repair and remediation of a pool or check
// wait until nothing in it has newly turned sick for a while, and never longer than a bound.

import { formatTime, type Instant, type Millis, parseDuration } from "../api/time.ts";
import type { SafetyView } from "../snapshot/views.ts";
import type { IsSick, NodeSeen } from "./correlated.ts";
import type { Context, Proposal } from "./decision.ts";
import { classOf } from "./precedence.ts";
import type { Objection } from "./safety.ts";

/** Whose nodes they are, as an asker is named: `NodePool/web`; `cluster` for nodes of no pool. */
export type Spread = string;

type Episode = { readonly from: Instant; readonly last: Instant };
export type Settling = ReadonlyMap<Spread, Episode>;

export const nothingSettling: Settling = new Map();

type Observing = {
  readonly safety: SafetyView;
  readonly now: Instant;
  readonly isSick: IsSick;
  readonly spreads: readonly Spread[];
};

export function observeSpread(state: Settling, seen: NodeSeen, { safety, now, isSick, spreads }: Observing): Settling {
  if (!newlySick(seen, isSick)) return state;
  const { quietMs } = spansOf(safety);
  const next = new Map(state);
  for (const spread of spreads) {
    const episode = state.get(spread);
    const goesOn = episode !== undefined && now < episode.last + quietMs;
    next.set(spread, { from: goesOn ? episode.from : now, last: now });
  }
  return next;
}

/** Something is bad now that was not bad so before. */
function newlySick({ before, after }: NodeSeen, isSick: IsSick): boolean {
  return (after?.conditions ?? []).some(
    condition =>
      after !== undefined &&
      isSick(after, condition) &&
      !before?.conditions.some(({ type, status }) => type === condition.type && status === condition.status),
  );
}

export function settleVeto(state: Settling, proposal: Proposal, { picture, now }: Context): Objection | undefined {
  if (classOf(proposal.action) !== "repair") return undefined;
  const { kind, name } = proposal.askedBy;
  const spread = kind === "Controller" ? "cluster" : `${kind}/${name}`;
  const episode = state.get(spread);
  if (episode === undefined) return undefined;
  const { quietMs, maxMs } = spansOf(picture.safety);
  const until = Math.min(episode.last + quietMs, episode.from + maxMs);
  if (until <= now) return undefined;
  return {
    code: "settling",
    message: `A node of ${spread} turned sick at ${formatTime(episode.last)}; whether more follow is known at ${formatTime(until)}.`,
    until,
    liftedBy: "time",
  };
}

function spansOf({ policy }: SafetyView): { quietMs: Millis; maxMs: Millis } {
  const quiet = parseDuration(policy.settle.quiet);
  const max = parseDuration(policy.settle.max);
  const forEver = Number.MAX_SAFE_INTEGER;
  return { quietMs: quiet.ok ? quiet.value : forEver, maxMs: max.ok ? max.value : forEver };
}
