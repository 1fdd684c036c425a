// What this process has seen of each node's conditions, by its own clock: so that a time which somebody wrote is believed
// only as far as we were not there. Every replica remembers; nothing of it is stored; what is bad is for others to say.

import { dayMs, type Instant, type Millis } from "../api/time.ts";
import type { ConditionView, NodeView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import type { NodeSeen } from "./correlated.ts";
import type { ConditionHistory, Sight, Stretch } from "./remembered.ts";

/** Nobody bears a sickness for longer. */
const keptMs: Millis = 30 * dayMs;
/** One change every ten seconds for more than an hour; of more of them, sums. */
const stretchesMax = 512;

export class ConditionMemory implements Sight {
  readonly #byUid = new Map<string, Map<string, ConditionHistory>>();

  history(nodeUid: string, conditionType: string): ConditionHistory | undefined {
    return this.#byUid.get(nodeUid)?.get(conditionType);
  }

  /** For every visible change of a node. */
  observe({ before, after }: NodeSeen, now: Instant): void {
    if (before !== undefined && before.uid !== after?.uid) this.#byUid.delete(before.uid);
    if (after === undefined) return;
    const known = before?.uid === after.uid ? before : undefined;
    for (const type of typesOf(known, after)) {
      const history = this.history(after.uid, type);
      const next = nextHistory(history, { before: known, after, type }, now);
      if (next !== undefined && next !== history) this.#keep(after.uid, type, next);
    }
  }

  /** The clock was set back to now: what was seen at instants to come was seen no later than that. */
  setBack(now: Instant): void {
    for (const [uid, byType] of this.#byUid) {
      for (const [type, { stretches, since, ...rest }] of byType) {
        const seen = stretches.map(stretch => ({ ...stretch, from: Math.min(stretch.from, now) }));
        this.#keep(uid, type, { ...rest, stretches: seen, since: Math.min(since, now) });
      }
    }
  }

  /** The clock was set forward: of what began later than it said then, no more time has gone by than before. */
  setForward(byMs: Millis): void {
    for (const [uid, byType] of this.#byUid) {
      for (const [type, { stretches, since, isAhead = false }] of byType) {
        if (!isAhead) continue;
        const seen = stretches.map(stretch => ({ ...stretch, from: stretch.from + byMs }));
        this.#keep(uid, type, { stretches: seen, since: since + byMs });
      }
    }
  }

  #keep(uid: string, type: string, history: ConditionHistory): void {
    const byType = this.#byUid.get(uid) ?? new Map<string, ConditionHistory>();
    this.#byUid.set(uid, byType.set(type, history));
  }
}

function typesOf(before: NodeView | undefined, { conditions }: NodeView): ReadonlySet<string> {
  if (before?.conditions === conditions) return new Set();
  return new Set([...(before?.conditions ?? []), ...conditions].map(({ type }) => type));
}

type Change = { readonly before: NodeView | undefined; readonly after: NodeView; readonly type: string };

function nextHistory(
  history: ConditionHistory | undefined,
  { before, after, type }: Change,
  now: Instant,
): ConditionHistory | undefined {
  const next = conditionOf(after.conditions, type);
  if (before === undefined) {
    const isDoubtful = next?.since === undefined || next.since > now;
    return next && isDoubtful ? { stretches: [stretchOf(next, now)], since: now, ...aheadOf(next, now) } : undefined;
  }
  const previous = conditionOf(before.conditions, type);
  const isSameState = previous?.status === next?.status && previous?.reason === next?.reason;
  const isSameTime = previous?.status === next?.status && previous?.since === next?.since;
  if (isSameState && isSameTime) return history;
  const known = history ?? firstHistory(previous, { createdAt: after.createdAt, now });
  const from = Math.max(now, known.stretches.at(-1)?.from ?? now);
  return {
    stretches: isSameState ? known.stretches : bounded([...known.stretches, stretchOf(next, from)], now),
    since: isSameTime ? known.since : Math.min(next?.since ?? now, now),
    ...(isSameTime ? { ...(known.isAhead && { isAhead: known.isAhead }) } : aheadOf(next, now)),
  };
}

function aheadOf(condition: ConditionView | undefined, now: Instant): Pick<ConditionHistory, "isAhead"> {
  return (condition?.since ?? now) > now ? { isAhead: true } : {};
}

/** What we knew before its first change: since when it was so, only it can say. */
function firstHistory(
  condition: ConditionView | undefined,
  { createdAt, now }: { createdAt: Instant; now: Instant },
): ConditionHistory {
  const from = Math.min(now, Math.max(condition?.since ?? createdAt, createdAt));
  return { stretches: [stretchOf(condition, from)], since: from };
}

function stretchOf(condition: ConditionView | undefined, from: Instant): Stretch {
  return { status: condition?.status ?? "", reason: condition?.reason ?? "", from };
}

function bounded(stretches: readonly Stretch[], now: Instant): readonly Stretch[] {
  const first = stretches.findIndex((_, index) => (stretches[index + 1]?.from ?? now) > now - keptMs);
  const kept = first > 0 ? stretches.slice(first) : stretches;
  return kept.length > stretchesMax ? withOneLess(kept) : kept;
}

/**
 * One that flaps faster than we can remember is neither forgiven nor taken for worse than it is: a stretch is added to the
 * one of its kind before it, where that moves it least for its age, so that sums stay what they are over the last hour as
 * over the last week, and no run begins earlier. Where each reason is another one the status alone is kept.
 */
function withOneLess(stretches: readonly Stretch[]): readonly Stretch[] {
  const merged = closest(stretches, ({ status, reason }) => `${status} ${reason}`) ?? closest(stretches, statusOf);
  if (merged === undefined) return stretches.slice(1);
  const { into, at, lengthMs, reason } = merged;
  return stretches.flatMap((stretch, index) => {
    if (index === at) return [];
    if (index === into) return { ...stretch, reason };
    return index > into && index < at ? { ...stretch, from: stretch.from + lengthMs } : stretch;
  });
}

function statusOf({ status }: Stretch): string {
  return status;
}

type Merge = {
  readonly into: number;
  readonly at: number;
  readonly lengthMs: Millis;
  /** Empty: it was not always the same. */
  readonly reason: string;
};

/** Which two of a kind lie closest, measured by how long ago they are. The present one is none of them. */
function closest(stretches: readonly Stretch[], kindOf: (stretch: Stretch) => string): Merge | undefined {
  const end = stretches.at(-1)?.from ?? 0;
  const lastByKind = new Map<string, number>();
  let best: Merge | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, stretch] of stretches.slice(0, -1).entries()) {
    const { from, reason } = stretch;
    const kind = kindOf(stretch);
    const into = lastByKind.get(kind);
    lastByKind.set(kind, at);
    const first = into === undefined ? undefined : stretches[into];
    if (into === undefined || first === undefined) continue;
    const share = (from - first.from) / Math.max(1, end - first.from);
    if (share >= least) continue;
    least = share;
    const lengthMs = (stretches[at + 1]?.from ?? from) - from;
    best = { into, at, lengthMs, reason: first.reason === reason ? reason : "" };
  }
  return best;
}

/** Of the last run of bad stretches, when it began; undefined: the last one is not bad. */
export function runBegan(stretches: readonly Stretch[], isBad: (state: Stretch) => boolean): Instant | undefined {
  const lastGood = stretches.findLastIndex(stretch => !isBad(stretch));
  return stretches[lastGood + 1]?.from;
}

type Span = { readonly from: Instant; readonly until: Instant };

/**
 * When, if it stays bad, it will have been bad for `totalMs` within the last `windowMs`; undefined: never, or it is not
 * bad now. What leaves the window while it is bad is replaced by what enters, so once due it stays due.
 */
export function addsUpAt(
  stretches: readonly Stretch[],
  { isBad, totalMs, windowMs }: { isBad: (state: Stretch) => boolean; totalMs: Millis; windowMs: Millis },
): Instant | undefined {
  const began = runBegan(stretches, isBad);
  if (began === undefined || windowMs < totalMs || windowMs === 0) return undefined;
  let tail = began - windowMs;
  const earlier = spansOf(stretches, isBad).flatMap(({ from, until }) =>
    until > tail && from < began ? { from: Math.max(from, tail), until } : [],
  );
  let missing = totalMs - earlier.reduce((sum, { from, until }) => sum + until - from, 0);
  if (missing <= 0) return began;
  // From here on each millisecond adds one; it takes one away too while the window's far end passes over bad time.
  for (const { from, until } of earlier) {
    if (tail + missing <= from) break;
    missing -= from - tail;
    tail = until;
  }
  return tail + missing + windowMs;
}

/** Those that are over, in order. */
function spansOf(stretches: readonly Stretch[], isBad: (state: Stretch) => boolean): readonly Span[] {
  return stretches.flatMap((stretch, index) => {
    const until = stretches[index + 1]?.from;
    return until !== undefined && isBad(stretch) ? { from: stretch.from, until } : [];
  });
}
