// Many nodes that turn sick in the same way at about the same time have one cause elsewhere: while that lasts, nothing
// is repaired for it. Remembers which node has what since when, and since when it is no longer so many.

import { type Amount, parseAmount } from "../api/amount.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { formatTime, type Instant, type Millis, parseDuration } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ConditionView, NodeView, SafetyView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import type { Context, Proposal } from "./decision.ts";
import { type Onset, Onsets } from "./onsets.ts";
import { classOf } from "./precedence.ts";
import type { Objection } from "./safety.ts";

export type IsSick = (node: NodeView, condition: ConditionView) => boolean;

/** A node as it was and as it is. Without `before` it is seen for the first time, without `after` it has gone. */
export type NodeSeen = { readonly before?: NodeView; readonly after?: NodeView };

type Pair = { readonly conditionType: string; readonly conditionStatus: string };

/** A failure that is held to have one cause. `belowSince`: since when it is no longer on so many. */
export type Outbreak = Pair & {
  readonly zone?: string;
  readonly nodes: number;
  readonly since: Instant;
  readonly belowSince?: Instant;
};

export type Outbreaks = ReadonlyMap<string, Outbreak>;

type Observing = { readonly picture: Picture; readonly now: Instant; readonly isSick: IsSick };

export class CorrelatedFailures {
  /** By condition and status: who has it. */
  readonly #sick = new Map<string, Pair & { readonly onsets: Onsets }>();
  #outbreaks: Outbreaks = new Map();
  #reviewed: SafetyView | undefined;

  get outbreaks(): Outbreaks {
    return this.#outbreaks;
  }

  /** Who has a condition in a status, in the order in which it began. */
  having(conditionType: string, conditionStatus: string): readonly Onset[] {
    return this.#sick.get(placeKey({ conditionType, conditionStatus }, undefined))?.onsets.inOrder ?? [];
  }

  observe({ before, after }: NodeSeen, { picture, now, isSick }: Observing): void {
    const uid = (after ?? before)?.uid;
    if (uid === undefined) return;
    const zone = after && picture.zoneOf(after);
    const sick = (after?.conditions ?? []).filter(condition => after && isSick(after, condition));
    const keys = new Set(sick.map(condition => placeKey(pairOf(condition), undefined)));
    for (const [key, { onsets }] of this.#sick) if (!keys.has(key)) onsets.delete(uid);
    for (const condition of sick) {
      const { onsets } = this.#of(pairOf(condition));
      const known = onsets.get(uid);
      if (known?.zone !== zone || known === undefined) {
        onsets.set({ uid, zone, at: known?.at ?? beganAt(condition, before, { now, isSick }) });
      }
    }
    for (const [key, { onsets }] of this.#sick) if (onsets.inOrder.length === 0) this.#sick.delete(key);
    this.#reviewed = undefined;
  }

  /** The clock was set back to now: what was noted at instants to come was no later than that. */
  setBack(now: Instant): void {
    for (const { onsets } of this.#sick.values()) {
      for (const onset of onsets.inOrder.filter(({ at }) => at > now)) onsets.set({ ...onset, at: now });
    }
    const known = [...this.#outbreaks].map(([key, { belowSince, ...outbreak }]): [string, Outbreak] => {
      const since = Math.min(outbreak.since, now);
      return [
        key,
        { ...outbreak, since, ...(belowSince === undefined ? {} : { belowSince: Math.min(belowSince, now) }) },
      ];
    });
    this.#outbreaks = new Map(known);
    this.#reviewed = undefined;
  }

  /** Once a turn, before anything is granted: which outbreaks there are, and since when each is below its bound. */
  review({ picture, now }: Pick<Context, "picture" | "now">): void {
    const { safety } = picture;
    const clearsAt = nextClearing(this.#outbreaks, safety);
    if (this.#reviewed === safety && (clearsAt === undefined || now < clearsAt)) return;
    this.#reviewed = safety;
    const found = new Map<string, Outbreak>();
    for (const { onsets, ...pair } of this.#sick.values()) {
      for (const [zone, those] of places(onsets.inOrder)) {
        if (!isOutbreak(those, { zone, picture })) continue;
        const key = placeKey(pair, zone);
        const since = this.#outbreaks.get(key)?.since ?? now;
        found.set(key, { ...pair, ...(zone === undefined ? {} : { zone }), nodes: those.length, since });
      }
    }
    const clearAfterMs = durationOf(safety.policy.correlatedFailure.clearAfter);
    for (const [key, outbreak] of this.#outbreaks) {
      const belowSince = outbreak.belowSince ?? now;
      if (found.has(key) || now >= belowSince + clearAfterMs) continue;
      found.set(key, { ...outbreak, nodes: this.#countOf(outbreak), belowSince });
    }
    // The same map while it says the same: whoever compares sees whether something has changed.
    if (!isEqual([...found], [...this.#outbreaks])) this.#outbreaks = found;
  }

  #of(pair: Pair): { readonly onsets: Onsets } {
    const key = placeKey(pair, undefined);
    const known = this.#sick.get(key) ?? { ...pair, onsets: new Onsets() };
    this.#sick.set(key, known);
    return known;
  }

  #countOf({ conditionType, conditionStatus, zone }: Outbreak): number {
    const those = this.having(conditionType, conditionStatus);
    return zone === undefined ? those.length : those.filter(onset => onset.zone === zone).length;
  }
}

/** By our own eyes where we saw it begin; else by its own word, which is believed as far as now. */
function beganAt(
  { type, status, since }: ConditionView,
  before: NodeView | undefined,
  { now, isSick }: Pick<Observing, "now" | "isSick">,
): Instant {
  const known = before && conditionOf(before.conditions, type);
  const wasSick = before && known?.status === status && isSick(before, known);
  return before === undefined || wasSick ? Math.min(now, since ?? now) : now;
}

function isOutbreak(
  onsets: readonly Onset[],
  { zone, picture }: { zone: string | undefined; picture: Picture },
): boolean {
  const { within, cluster, zone: inZone } = picture.safety.policy.correlatedFailure;
  const count = mostWithin(onsets, durationOf(within));
  return zone === undefined
    ? isBroad(count, picture.nodeCount, cluster)
    : isBroad(count, picture.nodeCountIn(zone), inZone);
}

/** When the next outbreak is over by time alone. */
export function nextClearing(outbreaks: Outbreaks, { policy }: SafetyView): Instant | undefined {
  const below = [...outbreaks.values()].flatMap(({ belowSince }) => belowSince ?? []);
  const clearsAt = Math.min(...below) + durationOf(policy.correlatedFailure.clearAfter);
  return Number.isFinite(clearsAt) ? clearsAt : undefined;
}

/** The cluster, and each zone apart. */
function places(onsets: readonly Onset[]): ReadonlyMap<string | undefined, readonly Onset[]> {
  const byPlace = new Map<string | undefined, Onset[]>();
  for (const onset of onsets) {
    if (onset.zone === undefined) continue;
    const inZone = byPlace.get(onset.zone);
    if (inZone === undefined) byPlace.set(onset.zone, [onset]);
    else inZone.push(onset);
  }
  return new Map<string | undefined, readonly Onset[]>([[undefined, onsets], ...byPlace]);
}

/** The most that began within one span; `onsets` are in order. */
function mostWithin(onsets: readonly Onset[], withinMs: Millis): number {
  let most = 0;
  let first = 0;
  for (const [last, { at }] of onsets.entries()) {
    while (at - (onsets[first]?.at ?? at) > withinMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function isBroad(count: number, total: number, breadth: { nodes: number; share: string }): boolean {
  const share = parseAmount(breadth.share);
  // A share that cannot be read is reached by one.
  const bound: Amount = share.ok ? share.value : { percent: 0 };
  return count >= breadth.nodes && "percent" in bound && count * 100 > bound.percent * total;
}

/** Repair and remediation whose evidence is part of an outbreak wait, also where they have more evidence than that. */
export function correlatedVeto(outbreaks: Outbreaks, proposal: Proposal, context: Context): Objection | undefined {
  const { picture, now } = context;
  const { mode, clearAfter } = picture.safety.policy.correlatedFailure;
  if (mode === "Disabled" || outbreaks.size === 0 || classOf(proposal.action) !== "repair") return undefined;
  const node = picture.nodeByUid(proposal.node.uid);
  const zone = node && picture.zoneOf(node);
  for (const { conditionType = "", conditionStatus = "" } of proposal.evidence) {
    const pair = { conditionType, conditionStatus };
    const found = [undefined, zone].map(place => outbreaks.get(placeKey(pair, place))).find(one => one !== undefined);
    if (found === undefined) continue;
    const clearAt = (found.belowSince ?? now) + durationOf(clearAfter);
    const until = found.belowSince === undefined || !Number.isFinite(clearAt) ? undefined : clearAt;
    if (until === undefined || until > now) return outbreakObjection(found, until);
  }
  return undefined;
}

function outbreakObjection({ conditionType, conditionStatus, zone, since }: Outbreak, until: Instant | undefined) {
  const where = zone === undefined ? "the cluster" : `zone ${zone}`;
  const began = `${conditionType}=${conditionStatus} came over so many nodes of ${where} at once (seen at ${formatTime(since)})`;
  const end = until === undefined ? "" : ` It is on fewer now; repair goes on at ${formatTime(until)}.`;
  return {
    code: "correlated-failure",
    message: `${began} that its cause is held to lie elsewhere.${end}`,
    ...(until === undefined ? {} : { until }),
    liftedBy: "recovery of the nodes, or spec.correlatedFailure of SafetyPolicy default",
  };
}

/** A span that cannot be read never ends. */
function durationOf(text: string): Millis {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.value : Number.POSITIVE_INFINITY;
}

function pairOf({ type, status }: ConditionView): Pair {
  return { conditionType: type, conditionStatus: status };
}

function placeKey({ conditionType, conditionStatus }: Pair, zone: string | undefined): string {
  return `${conditionType}=${conditionStatus}${zone === undefined ? "" : ` in ${zone}`}`;
}
