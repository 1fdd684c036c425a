// Many nodes that turn sick in the same way at about the same time have one cause elsewhere: while that lasts, nothing
// is repaired for it. Remembers which node has what since when, and since when it is no longer so many.

import { type Amount, parseAmount } from "../api/amount.ts";
import { formatTime, type Instant, type Millis, parseDuration } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ConditionView, NodeView, SafetyView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import type { Context, Proposal } from "./decision.ts";
import { classOf } from "./precedence.ts";
import type { Objection } from "./safety.ts";

export type IsSick = (node: NodeView, condition: ConditionView) => boolean;

/** A node as it was and as it is. Without `before` it is seen for the first time, without `after` it has gone. */
export type NodeSeen = { readonly before?: NodeView; readonly after?: NodeView };

type Onset = { readonly uid: string; readonly zone: string | undefined; readonly at: Instant };
type Pair = { readonly conditionType: string; readonly conditionStatus: string };
/** Who has it now, in the order in which it began. */
type Sickness = Pair & { readonly onsets: readonly Onset[] };

/** A failure that is held to have one cause. `belowSince`: since when it is no longer on so many. */
export type Outbreak = Pair & {
  readonly zone?: string;
  readonly nodes: number;
  readonly since: Instant;
  readonly belowSince?: Instant;
};

export type Correlated = {
  readonly sicknesses: ReadonlyMap<string, Sickness>;
  readonly outbreaks: ReadonlyMap<string, Outbreak>;
};

export const nothingCorrelated: Correlated = { sicknesses: new Map(), outbreaks: new Map() };

type Observing = { readonly picture: Picture; readonly now: Instant; readonly isSick: IsSick };

export function observeSickness(state: Correlated, { before, after }: NodeSeen, observing: Observing): Correlated {
  const uid = (after ?? before)?.uid;
  if (uid === undefined) return state;
  const { picture, now, isSick } = observing;
  const zone = after && picture.zoneOf(after);
  const sick = new Map(
    (after?.conditions ?? []).flatMap(one => (after && isSick(after, one) ? [[keyOf(one), one]] : [])),
  );
  const sicknesses = new Map(state.sicknesses);
  for (const [key, sickness] of state.sicknesses) {
    if (!sick.has(key)) put(sicknesses, key, without(sickness, uid));
  }
  for (const [key, condition] of sick) {
    const sickness = sicknesses.get(key) ?? { ...pairOf(condition), onsets: [] };
    const known = sickness.onsets.find(onset => onset.uid === uid);
    if (known !== undefined && known.zone === zone) continue;
    const at = known?.at ?? beganAt(condition, before, now);
    put(sicknesses, key, withOnset(without(sickness, uid), { uid, zone, at }));
  }
  return { ...state, sicknesses };
}

/** By our own eyes where we saw it begin; else by its own word, which is believed as far as now. */
function beganAt(condition: ConditionView, before: NodeView | undefined, now: Instant): Instant {
  const sawItBegin =
    before !== undefined && conditionOf(before.conditions, condition.type)?.status !== condition.status;
  return sawItBegin ? now : Math.min(now, condition.since ?? now);
}

function put(sicknesses: Map<string, Sickness>, key: string, sickness: Sickness): void {
  if (sickness.onsets.length === 0) sicknesses.delete(key);
  else sicknesses.set(key, sickness);
}

function without(sickness: Sickness, uid: string): Sickness {
  const index = sickness.onsets.findIndex(onset => onset.uid === uid);
  return index < 0 ? sickness : { ...sickness, onsets: sickness.onsets.toSpliced(index, 1) };
}

function withOnset(sickness: Sickness, onset: Onset): Sickness {
  // Most begin last: look from the end.
  const before = sickness.onsets.findLastIndex(({ at }) => at <= onset.at);
  return { ...sickness, onsets: sickness.onsets.toSpliced(before + 1, 0, onset) };
}

/** Once a turn, before anything is granted: which outbreaks there are, and since when each is below its bound. */
export function reviewOutbreaks(state: Correlated, { picture, now }: Pick<Context, "picture" | "now">): Correlated {
  if (state.sicknesses.size === 0 && state.outbreaks.size === 0) return state;
  const { within, cluster, zone, clearAfter } = picture.safety.policy.correlatedFailure;
  const outbreaks = new Map<string, Outbreak>();
  for (const sickness of state.sicknesses.values()) {
    const withinMs = durationOf(within);
    const { conditionType, conditionStatus } = sickness;
    for (const [name, onsets] of places(sickness)) {
      const [breadth, total] = name === undefined ? [cluster, picture.nodeCount] : [zone, picture.nodeCountIn(name)];
      if (!isBroad(mostWithin(onsets, withinMs), total, breadth)) continue;
      const key = placeKey(sickness, name);
      const since = state.outbreaks.get(key)?.since ?? now;
      const where = name === undefined ? {} : { zone: name };
      outbreaks.set(key, { conditionType, conditionStatus, ...where, nodes: onsets.length, since });
    }
  }
  for (const [key, outbreak] of state.outbreaks) {
    const belowSince = outbreak.belowSince ?? now;
    if (outbreaks.has(key) || now >= belowSince + durationOf(clearAfter)) continue;
    outbreaks.set(key, { ...outbreak, nodes: nodesOf(state, outbreak), belowSince });
  }
  return { ...state, outbreaks };
}

/** When the next outbreak is over by time alone. */
export function nextClearing({ outbreaks }: Correlated, { policy }: SafetyView): Instant | undefined {
  const below = [...outbreaks.values()].flatMap(({ belowSince }) => belowSince ?? []);
  return below.length === 0 ? undefined : Math.min(...below) + durationOf(policy.correlatedFailure.clearAfter);
}

/** The cluster, and each zone apart. */
function places({ onsets }: Sickness): ReadonlyMap<string | undefined, readonly Onset[]> {
  const byPlace = new Map<string | undefined, Onset[]>([[undefined, [...onsets]]]);
  for (const onset of onsets) {
    if (onset.zone === undefined) continue;
    const inZone = byPlace.get(onset.zone);
    if (inZone === undefined) byPlace.set(onset.zone, [onset]);
    else inZone.push(onset);
  }
  return byPlace;
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

function nodesOf({ sicknesses }: Correlated, { zone, ...pair }: Outbreak): number {
  const onsets = sicknesses.get(`${pair.conditionType}=${pair.conditionStatus}`)?.onsets ?? [];
  return zone === undefined ? onsets.length : onsets.filter(onset => onset.zone === zone).length;
}

/** Repair and remediation whose evidence is part of an outbreak wait, also where they have more evidence than that. */
export function correlatedVeto({ outbreaks }: Correlated, proposal: Proposal, context: Context): Objection | undefined {
  const { picture, now } = context;
  const { mode, clearAfter } = picture.safety.policy.correlatedFailure;
  if (mode === "Disabled" || outbreaks.size === 0 || classOf(proposal.action) !== "repair") return undefined;
  const node = picture.nodeByUid(proposal.node.uid);
  const zone = node && picture.zoneOf(node);
  for (const { conditionType = "", conditionStatus = "" } of proposal.evidence) {
    const pair = { conditionType, conditionStatus };
    const found = [undefined, zone].map(place => outbreaks.get(placeKey(pair, place))).find(one => one !== undefined);
    if (found === undefined) continue;
    const until = found.belowSince === undefined ? undefined : found.belowSince + durationOf(clearAfter);
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
  return parsed.ok ? parsed.value : Number.MAX_SAFE_INTEGER;
}

function pairOf({ type, status }: ConditionView): Pair {
  return { conditionType: type, conditionStatus: status };
}

function keyOf({ type, status }: ConditionView): string {
  return `${type}=${status}`;
}

function placeKey({ conditionType, conditionStatus }: Pair, zone: string | undefined): string {
  return `${conditionType}=${conditionStatus}${zone === undefined ? "" : ` in ${zone}`}`;
}
