// Whether a node is healthy in the eyes of a check: which of its unhealthy conditions it has, since when by whose clock,
// and when each is due. Knows no present time, so that what is told of it stays true.

import type { Evidence } from "../../api/node-action.ts";
import { formatDuration, formatTime, type Instant } from "../../api/time.ts";
import type { CheckView, UnhealthyPair } from "../../snapshot/check-views.ts";
import type { ConditionView, NodeView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import type { ConditionHistory } from "../remembered.ts";
import { runBegan } from "../sickness-history.ts";
import { shortReason } from "../sickness.ts";

type Clock = NonNullable<Evidence["clock"]>;

export type Match = {
  readonly pair: UnhealthyPair;
  readonly condition: ConditionView;
  /** Absent: nobody can tell since when, so it is never due. */
  readonly spell?: Spell;
};

type Spell = {
  readonly since: Instant;
  readonly clock: Clock;
  readonly dueAt: Instant;
  /** Where it was unhealthy by another status of the same condition right before: since then in all, which counts. */
  readonly inAllSince?: Instant;
};

/** No matches: healthy. Otherwise unhealthy from `dueAt` on, and until then not healthy either. */
export type Health = { readonly matches: readonly Match[]; readonly dueAt: Instant | undefined };

/** `triedAt`: when the last remediation was made. What turned since then, from False to Unknown say, has its time anew. */
export function healthOf(
  node: NodeView,
  { pairs }: CheckView,
  { remembered, triedAt }: Pick<Context, "remembered"> & { readonly triedAt?: Instant | undefined },
): Health {
  const matches = pairs.flatMap(pair => {
    const condition = node.conditions.find(({ type, status }) => type === pair.type && status === pair.status);
    if (condition === undefined) return [];
    const kindred = pairs.filter(({ type }) => type === pair.type);
    return matchOf({ node, pair, condition, kindred, triedAt }, remembered?.sight);
  });
  const due = matches.flatMap(({ spell }) => spell?.dueAt ?? []);
  return { matches, dueAt: due.length === 0 ? undefined : Math.min(...due) };
}

export function isHealthy({ matches }: Health): boolean {
  return matches.length === 0;
}

/** At exactly the end of its duration a condition is due. */
export function isUnhealthy({ dueAt }: Health, now: Instant): boolean {
  return dueAt !== undefined && dueAt <= now;
}

type Sight = NonNullable<Context["remembered"]>["sight"];
type Seen = {
  readonly node: NodeView;
  readonly pair: UnhealthyPair;
  readonly condition: ConditionView;
  /** All by which the check calls this condition unhealthy. */
  readonly kindred: readonly UnhealthyPair[];
  readonly triedAt: Instant | undefined;
};

/** The latest of what the reporter says, when we last saw it otherwise, and when the node came to be. */
function matchOf(seen: Seen, sight: Sight | undefined): Match {
  const { node, pair, condition } = seen;
  const history = sight?.history(node.uid, condition.type);
  const said = history?.since ?? condition.since;
  if (said === undefined || !Number.isFinite(pair.durationMs)) return { pair, condition };
  const began = history && runBegan(history.stretches, ({ status }) => status === pair.status);
  const since = Math.max(said, began ?? said, node.createdAt);
  const clock = since === condition.since ? "Reporter" : since === node.createdAt ? "Creation" : "Observer";
  const spell = { since, clock, dueAt: since + pair.durationMs } as const;
  const inAllSince = history && unhealthySince(history, seen);
  if (inAllSince === undefined || inAllSince >= (began ?? since)) return { pair, condition, spell };
  // What changes its status and never gets well is borne for the longest time that any of them is.
  const dueAt = inAllSince + Math.max(...seen.kindred.map(({ durationMs }) => durationMs));
  return { pair, condition, spell: dueAt < spell.dueAt ? { ...spell, dueAt, inAllSince } : spell };
}

/** By whichever of the check's statuses, without a break. */
function unhealthySince({ stretches }: ConditionHistory, { node, kindred, triedAt }: Seen): Instant | undefined {
  const began = runBegan(stretches, stretch => kindred.some(({ status }) => status === stretch.status));
  if (began === undefined) return undefined;
  const turned = stretches.find(({ from }) => from >= began && from > (triedAt ?? Number.POSITIVE_INFINITY));
  return Math.max(turned?.from ?? began, node.createdAt);
}

/** Since when its conditions have been well, as far as they say; for people, and to notice a failure in between. */
export function wellSince(node: NodeView, { pairs }: CheckView, { remembered }: Pick<Context, "remembered">): Instant {
  const types = new Set(pairs.map(({ type }) => type));
  const instants = node.conditions.flatMap(({ type, since }) =>
    types.has(type) ? (remembered?.sight.history(node.uid, type)?.since ?? since ?? []) : [],
  );
  return Math.max(node.createdAt, ...instants);
}

/** For the ledger: what is due, the earliest first. */
export function evidenceOf(
  { matches }: Health,
  { node, now }: { readonly node: NodeView; readonly now: Instant },
): readonly Omit<Evidence, "seenAt">[] {
  return inOrder(matches)
    .filter(({ spell }) => spell !== undefined && spell.dueAt <= now)
    .slice(0, 100)
    .map(match => ({
      kind: "Condition",
      conditionType: match.condition.type,
      conditionStatus: match.condition.status,
      conditionReason: shortReason(match.condition),
      message: sentenceOf(match),
      since: formatTime(match.spell?.since ?? 0),
      clock: match.spell?.clock ?? "Reporter",
      toleration: formatDuration(match.pair.durationMs),
      dueAt: formatTime(match.spell?.dueAt ?? 0),
      resourceVersion: node.resourceVersion,
    }));
}

/** The match that is due first, or the first that nobody can time. */
export function firstMatch({ matches }: Health): Match | undefined {
  return inOrder(matches)[0];
}

function inOrder(matches: readonly Match[]): readonly Match[] {
  const place = ({ spell }: Match) => spell?.dueAt ?? Number.POSITIVE_INFINITY;
  return [...matches].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

/** In instants, so that it stays true. */
export function sentenceOf({ condition, spell }: Match): string {
  const reason = condition.reason === "" ? "" : ` (${shortReason(condition)})`;
  const state = `${condition.type}=${condition.status}${reason}`;
  if (spell === undefined) return `${state}, and nobody can tell since when`;
  const until = formatTime(spell.dueAt);
  const { since, inAllSince } = spell;
  const inAll = inAllSince === undefined ? "" : `, and by another status since ${formatTime(inAllSince)}`;
  const borne = formatDuration(spell.dueAt - (inAllSince ?? since));
  return `${state} since ${formatTime(since)}${inAll}; it is borne for ${borne}, until ${until}`;
}
