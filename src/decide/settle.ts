// A failure that is still spreading is counted whole before anything goes: repair and remediation of a pool or check
// wait until nothing in it has newly turned sick for a while, and never longer than a bound.

import { formatTime, type Instant, type Millis, parseDuration } from "../api/time.ts";
import type { ConditionView, NodeView, SafetyView } from "../snapshot/views.ts";
import type { IsSick, NodeSeen } from "./correlated.ts";
import type { Context, Proposal } from "./decision.ts";
import { classOf } from "./precedence.ts";
import type { Objection } from "./safety.ts";

/** Who counts them, as an asker is named: `NodePool/web`; `cluster` for claims of no pool. */
export type Spread = string;

type Episode = { readonly from: Instant; readonly last: Instant };

type Observing = { readonly safety: SafetyView; readonly now: Instant; readonly spreads: readonly Spread[] };

export class Settling {
  readonly #episodes = new Map<Spread, Episode>();
  /** By spread: who turned sick of late and how, and when. */
  readonly #onsets = new Map<Spread, Map<string, Instant>>();

  #count = 0;

  /** How often an episode has begun or gone on so far. */
  get count(): number {
    return this.#count;
  }

  observe({ before, after }: NodeSeen, { isSick, ...observing }: Observing & { readonly isSick: IsSick }): void {
    // Looked at once more, as it was: nothing of it is new.
    if (after === undefined || after === before) return;
    for (const { type, status } of newlySick(before, after, isSick)) {
      this.note(`${after.uid} ${type}=${status}`, observing);
    }
  }

  /**
   * What one node has counts once in as long as the longest wait: whatever comes and goes there is no spreading, and
   * neither holds up its pool for ever nor uses up the wait of what turns sick after it.
   */
  note(onset: string, { safety, now, spreads }: Observing): void {
    const { maxMs } = spansOf(safety);
    for (const spread of spreads) {
      const onsets = this.#onsets.get(spread) ?? new Map<string, Instant>();
      const known = onsets.get(onset);
      if (known !== undefined && now < known + maxMs) continue;
      const episode = this.#episodes.get(spread);
      const goesOn = episode !== undefined && now < endOf(episode, safety);
      if (!goesOn) for (const [other, at] of onsets) if (now >= at + maxMs) onsets.delete(other);
      this.#onsets.set(spread, onsets.set(onset, now));
      this.#count++;
      this.#episodes.set(spread, { from: goesOn ? episode.from : now, last: now });
    }
  }

  /** The clock was set back to now: what was noted at instants to come was no later than that. */
  setBack(now: Instant): void {
    for (const [spread, { from, last }] of this.#episodes) {
      this.#episodes.set(spread, { from: Math.min(from, now), last: Math.min(last, now) });
    }
    for (const onsets of this.#onsets.values()) {
      for (const [onset, at] of onsets) onsets.set(onset, Math.min(at, now));
    }
  }

  veto(proposal: Proposal, { picture, now }: Context): Objection | undefined {
    if (classOf(proposal.action) !== "repair") return undefined;
    const { kind, name } = proposal.askedBy;
    const spread = kind === "Controller" ? "cluster" : `${kind}/${name}`;
    const episode = this.#episodes.get(spread);
    if (episode === undefined) return undefined;
    const until = endOf(episode, picture.safety);
    if (until <= now) return undefined;
    const sick = `A node of ${spread} turned sick at ${formatTime(episode.last)}`;
    if (!Number.isFinite(until)) {
      const message = `${sick}; for how long that is waited for cannot be read.`;
      return { code: "settling", message, liftedBy: "mending spec.settle of SafetyPolicy default" };
    }
    return {
      code: "settling",
      message: `${sick}; whether more follow is known at ${formatTime(until)}.`,
      until,
      liftedBy: "time",
    };
  }
}

/** What is bad now and was not bad so before: also where the status is the same, and only now its reason makes it bad. */
function newlySick(before: NodeView | undefined, after: NodeView, isSick: IsSick): readonly ConditionView[] {
  const known = before?.conditions.filter(condition => isSick(before, condition)) ?? [];
  return after.conditions.filter(
    condition =>
      isSick(after, condition) &&
      !known.some(({ type, status }) => type === condition.type && status === condition.status),
  );
}

function endOf({ from, last }: Episode, safety: SafetyView): Instant {
  const { quietMs, maxMs } = spansOf(safety);
  return Math.min(last + quietMs, from + maxMs);
}

function spansOf({ policy }: SafetyView): { quietMs: Millis; maxMs: Millis } {
  const quiet = parseDuration(policy.settle.quiet);
  const max = parseDuration(policy.settle.max);
  const forEver = Number.POSITIVE_INFINITY;
  return { quietMs: quiet.ok ? quiet.value : forEver, maxMs: max.ok ? max.value : forEver };
}
