// What is wrong with a node, since when by whose clock, and when each of it is due. A back-dated time gains nothing where
// we were watching, one in the future loses nothing, and what comes and goes is added up. Decides nothing.

import type { Evidence } from "../api/node-action.ts";
import { formatDuration, formatTime, type Instant, type Millis } from "../api/time.ts";
import type { ConditionView, NodeView } from "../snapshot/views.ts";
import { type RepairRules, type Ruling, rulingOn, type State } from "./repair-policy.ts";
import type { ConditionHistory, Sight, Stretch } from "./remembered.ts";
import { addsUpAt, runBegan } from "./sickness-history.ts";

export type Sickness = {
  readonly condition: ConditionView;
  readonly ruling: Ruling;
  readonly timing: Timing | Untimed;
};

export type Timing = {
  /** Flapping: it is due for what it was in total, before the present spell alone would make it due. */
  readonly kind: "Condition" | "Flapping";
  readonly since: Instant;
  readonly clock: NonNullable<Evidence["clock"]>;
  readonly toleration: Millis;
  readonly dueAt: Instant;
  /** Of what does not flap: when the node was last seen without it; where nobody saw that, what it says itself. */
  readonly wellUntil?: Instant;
  /** Of what flaps: it was away in between, and is not only told with another time or as another kind of bad. */
  readonly wasAway?: boolean;
};

/** Nobody can tell when it is due, so it is not. */
export type Untimed = { readonly doubt: string };

/** What is known of the node beyond how it is now. */
type Past = {
  readonly sight: Sight;
  /** When it was Ready for the first time: what came and went before was its boot. */
  readonly bootedAt?: Instant | undefined;
};

/** In the order of the node's conditions. */
export function sicknessesOf(node: NodeView, rules: RepairRules, { sight, bootedAt }: Past): readonly Sickness[] {
  return node.conditions.flatMap(condition => {
    const ruling = rulingOn(condition, rules);
    if (ruling === undefined) return [];
    const history = sight.history(node.uid, condition.type);
    const rulingOf = ({ status, reason }: PastState) => rulingOn({ type: condition.type, status, reason }, rules);
    const isBad = (state: PastState) => rulingOf(state) !== undefined;
    const isAsBad = (state: PastState) => isBorneNoLonger(rulingOf(state), ruling);
    return { condition, ruling, timing: timingOf({ node, condition, ruling, history, bootedAt, isBad, isAsBad }) };
  });
}

export function isTimed(sickness: Sickness): sickness is Sickness & { readonly timing: Timing } {
  return !("doubt" in sickness.timing);
}

type PastState = Pick<State, "status" | "reason">;

/** Time for which a state was there that is borne for longer is none of this one's, whose shorter time begins with it. */
function isBorneNoLonger(other: Ruling | undefined, { toleration }: Ruling): boolean {
  return other?.toleration.ok === true && toleration.ok && other.toleration.value <= toleration.value;
}

type Case = Omit<Sickness, "timing"> & {
  readonly node: NodeView;
  readonly history: ConditionHistory | undefined;
  readonly bootedAt: Instant | undefined;
  readonly isBad: (state: PastState) => boolean;
  /** Bad, and by a word that bears it for no longer than it does the present state. */
  readonly isAsBad: (state: PastState) => boolean;
};

function timingOf({ node, condition, ruling, history, bootedAt = 0, isBad, isAsBad }: Case): Timing | Untimed {
  const { toleration, flappingWindow } = ruling;
  if (!toleration.ok) return { doubt: `its toleration cannot be read: ${toleration.error}` };
  if (!flappingWindow.ok) return { doubt: `spec.repair.flappingWindow cannot be read: ${flappingWindow.error}` };
  const spell = spellOf({ node, condition, history, isAsBad });
  if (spell === undefined) return { doubt: `it does not say since when, and nobody saw it begin` };
  const dueAt = spell.since + toleration.value;
  const totalMs = toleration.value;
  const sum = { isBad: isAsBad, totalMs, windowMs: flappingWindow.value };
  const stretches = inService(history?.stretches ?? [], condition.type, bootedAt);
  const addedUpAt = addsUpAt(stretches, sum);
  const isFlapping = addedUpAt !== undefined && addedUpAt < dueAt;
  return {
    kind: isFlapping ? "Flapping" : "Condition",
    ...spell,
    toleration: totalMs,
    dueAt: isFlapping ? addedUpAt : dueAt,
    ...(isFlapping
      ? { wasAway: stretches.slice(stretches.findIndex(isBad)).some(state => !isBad(state)) }
      : { wellUntil: (history && runBegan(history.stretches, isBad)) ?? spell.since }),
  };
}

/** What was there at the end of the boot counts from then on. Of Ready itself it was the boot. */
function inService(stretches: readonly Stretch[], type: string, bootedAt: Instant): readonly Stretch[] {
  return stretches.flatMap((stretch, index) => {
    if (stretch.from >= bootedAt) return stretch;
    const isOver = (stretches[index + 1]?.from ?? Number.POSITIVE_INFINITY) <= bootedAt;
    return isOver || type === "Ready" ? [] : { ...stretch, from: bootedAt };
  });
}

type Spell = Pick<Timing, "since" | "clock">;

/** The latest of what the reporter says, when we last saw it otherwise, and when the node came to be. */
function spellOf({
  node,
  condition,
  history,
  isAsBad,
}: Pick<Case, "node" | "condition" | "history" | "isAsBad">): Spell | undefined {
  const said = history?.since ?? condition.since;
  if (said === undefined) return undefined;
  const seen = history && runBegan(history.stretches, isAsBad);
  const reported: Spell = { since: said, clock: said === condition.since ? "Reporter" : "Observer" };
  const observed: Spell = seen !== undefined && seen > said ? { since: seen, clock: "Observer" } : reported;
  return node.createdAt > observed.since ? { since: node.createdAt, clock: "Creation" } : observed;
}

/** As it stands in the ledger, so that it can be judged again without us. */
export function evidenceOf(
  { condition, ruling, timing }: Sickness & { readonly timing: Timing },
  { resourceVersion }: NodeView,
): Omit<Evidence, "seenAt"> {
  const { kind, since, clock, toleration, dueAt } = timing;
  return {
    kind,
    conditionType: condition.type,
    conditionStatus: condition.status,
    conditionReason: shortReason(condition),
    message: sentenceOf({ condition, ruling, timing }),
    since: formatTime(since),
    clock,
    ...(clock === "Reporter" || condition.since === undefined ? {} : { reportedSince: formatTime(condition.since) }),
    toleration: formatDuration(toleration),
    dueAt: formatTime(dueAt),
    resourceVersion,
  };
}

/** A node writes what it likes: one whose reason does not fit into the ledger must not be safe by that. */
const reasonMax = 256;

export function shortReason({ reason }: ConditionView): string {
  return reason.slice(0, reasonMax);
}

const wordsOfClock: Record<Timing["clock"], string> = {
  Reporter: "as it says itself",
  Observer: "as we saw it",
  Creation: "the node being no older",
};

/** For people; the whole of it in instants, so that it stays true. */
export function sentenceOf({ condition, ruling, timing }: Sickness & { readonly timing: Timing }): string {
  const { kind, since, clock, toleration, dueAt, wasAway } = timing;
  const reason = condition.reason === "" ? "" : ` (${shortReason(condition)})`;
  const state = `${condition.type}=${condition.status}${reason}`;
  const place = [ruling.place.kind, ruling.place.name, ruling.place.path].filter(Boolean).join(" ");
  const borne = `${formatDuration(toleration)} (${place})`;
  return kind === "Flapping"
    ? `${state}${wasAway ? " comes and goes" : ""}, now since ${formatTime(since)}; at ${formatTime(dueAt)} it had been there for ${borne} in all.`
    : `${state} since ${formatTime(since)}, ${wordsOfClock[clock]}; it is tolerated for ${borne}, until ${formatTime(dueAt)}.`;
}
