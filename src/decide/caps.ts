// The caps of the SafetyPolicy as limits: how many nodes may be going away at once in the cluster, in a zone, and within
// a span of time. A cap counts whoever asked; it never stops what has begun.

import { parseAmount, roundedUp } from "../api/amount.ts";
import type { EffectiveCap } from "../api/effective-safety-policy.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { type Instant, type Millis, parseDuration, secondMs } from "../api/time.ts";
import type { Departure } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import { type Counted, type Gone, numbersOf, soonestFirst } from "./counted.ts";
import type { Context, Proposal } from "./decision.ts";
import { finishedAt } from "./ledger.ts";
import { classOf, type LedgerAction } from "./precedence.ts";
import type { Objection } from "./safety.ts";

/** How many may go, by whose word. Budgets are limits of the same shape. */
export type Limit = {
  readonly role: "cap" | "budget";
  readonly place: NonNullable<NodeActionSpec["policy"]>;
  /** What it counts, as the end of "3 nodes …". */
  readonly what: string;
  readonly allowed: number;
  /** Before the turn; what the turn grants is counted on top. */
  readonly counted: number;
  /** When those that are counted only for having gone lately stop to count, in order. */
  readonly frees: readonly Instant[];
  /** Who that is. Absent: it counts something else than nodes that go. */
  readonly against?: Counted;
  /** The next edge of its window: from then on it is no limit any more, or begins to be one. */
  readonly changesAt?: Instant;
  /** Only for nodes of this zone. */
  readonly zone?: string;
  applies(proposal: Proposal): boolean;
  /** Whether a grant adds to it. Absent: of those that it holds. */
  counts?(proposal: Proposal): boolean;
};

/** When one more fits by the passing of time alone; `spent` has been granted since. Undefined: that is not known. */
export function freeAt({ allowed, counted, frees, changesAt }: Limit, spent: number): Instant | undefined {
  const freesAt = allowed === 0 ? undefined : frees[counted + spent - allowed];
  return changesAt === undefined ? freesAt : Math.min(changesAt, freesAt ?? changesAt);
}

type Scope = "repair" | "disruption" | "all";

const wordsOf: Record<Scope, string> = {
  repair: "going away by repair or remediation",
  disruption: "going away by consolidation, emptiness, expiration or drift",
  all: "going away, whoever asked,",
};

export type Asked = { readonly actions: ReadonlySet<LedgerAction>; readonly zones: ReadonlySet<string> };

/** Those that can hold one of the actions in one of the zones, or in none. */
export function capLimits({ actions, zones }: Asked, context: Context): readonly Limit[] {
  const departures = [...context.picture.departures()];
  return scopesOf(actions).flatMap(scope => capsOf(scope, { context, zones, departures }));
}

/** One that lets none go at all by now: it holds also what was counted before, and has not begun. */
export function closedCap(
  { action, node }: Pick<Proposal, "action" | "node">,
  context: Context,
): Objection | undefined {
  const { picture } = context;
  const view = picture.nodeByUid(node.uid);
  const isInZone = view !== undefined && picture.zoneOf(view) !== undefined;
  for (const scope of scopesOf([action])) {
    const { cluster, zone, perWindow } = picture.safety.policy.caps[scope];
    const written = { cluster, zone: isInZone ? zone : undefined, perWindow: perWindow?.nodes };
    // Of how many nodes makes no difference to whether it is any at all.
    const field = capFields.find(one => written[one] !== undefined && amountOf(written[one], 1) === 0);
    if (field === undefined) continue;
    const path = `spec.caps.${scope}.${field}`;
    const message = `SafetyPolicy default lets no node go by ${action} now (${path}).`;
    return { code: "cap-closed", message, liftedBy: `a greater ${path} of SafetyPolicy default` };
  }
  return undefined;
}

const capFields = ["cluster", "zone", "perWindow"] as const satisfies readonly (keyof EffectiveCap)[];

function scopesOf(actions: Iterable<LedgerAction>): readonly Scope[] {
  const asked = [...actions];
  return (["repair", "disruption", "all"] as const).filter(scope => asked.some(action => isIn(scope, action)));
}

type Surroundings = { context: Context; zones: ReadonlySet<string>; departures: readonly Departure[] };

function capsOf(scope: Scope, { context, zones, departures }: Surroundings): Limit[] {
  const { picture } = context;
  const cap = picture.safety.policy.caps[scope];
  const going = departures.filter(({ action }) => isIn(scope, action?.spec.action));
  const limit = (
    field: keyof EffectiveCap,
    { against, ...rest }: Pick<Limit, "what" | "allowed"> & Partial<Limit> & { readonly against: Counted },
  ) => ({
    role: "cap" as const,
    place: placeOf(`spec.caps.${scope}.${field}`, context),
    ...numbersOf(against),
    applies: ({ action }: Proposal) => isIn(scope, action),
    ...rest,
  });
  const limits: Limit[] = [];
  if (cap.cluster !== undefined) {
    const allowed = amountOf(cap.cluster, picture.nodeCount);
    limits.push(limit("cluster", { what: `${wordsOf[scope]} in the cluster`, allowed, against: { going, gone: [] } }));
  }
  for (const zone of zones) {
    if (cap.zone === undefined) break;
    const allowed = amountOf(cap.zone, picture.nodeCountIn(zone));
    const against = { going: going.filter(departure => departure.zone === zone), gone: [] };
    limits.push(limit("zone", { what: `${wordsOf[scope]} in zone ${zone}`, allowed, against, zone }));
  }
  if (cap.perWindow !== undefined) {
    const allowed = amountOf(cap.perWindow.nodes, picture.nodeCount);
    const goneByUid = goneWithin(scope, { context, going, duration: cap.perWindow.duration });
    limits.push(
      limit("perWindow", {
        what: `${wordsOf[scope]} or gone within ${cap.perWindow.duration}`,
        allowed,
        against: { going, gone: soonestFirst([...goneByUid.values()]) },
        // A node counts once: one that was rebooted within the window is in the number already.
        applies: ({ action, node }) => isIn(scope, action) && !goneByUid.has(node.uid),
      }),
    );
  }
  return limits;
}

type Window = { context: Context; going: readonly Departure[]; duration: string };

/** The nodes that have gone within the window, by uid; one that is going again is counted there. */
function goneWithin(scope: Scope, { context, going, duration }: Window): ReadonlyMap<string, Gone> {
  const windowMs = windowOf(duration);
  const stillGoing = new Set(going.map(({ node }) => node.uid));
  const goneByUid = new Map<string, Gone>();
  for (const action of context.picture.finishedSince(context.now - windowMs)) {
    const uid = action.spec.node.uid;
    if (!isIn(scope, action.spec.action) || !hasTaken(action) || stillGoing.has(uid)) continue;
    const until = (finishedAt(action) ?? action.createdAt) + windowMs;
    if (until > context.now) goneByUid.set(uid, { action, until });
  }
  return goneByUid;
}

/** Times in objects are whole seconds, rounded down: a second more, so that no window is shorter than it was written. */
function windowOf(duration: string): Millis {
  const parsed = parseDuration(duration);
  return parsed.ok ? parsed.value + secondMs : Number.POSITIVE_INFINITY;
}

/** The longest span of time in which some cap looks back; finished actions are kept at least so long. */
export function longestWindow({ picture }: Context): Millis {
  const { repair, disruption, all } = picture.safety.policy.caps;
  return Math.max(0, ...[repair, disruption, all].map(cap => (cap.perWindow ? windowOf(cap.perWindow.duration) : 0)));
}

/** For each node that has gone within the window of caps.repair, when it drops out of it; the next one first. */
export function goneInRepairWindow(context: Context): readonly Instant[] {
  const { perWindow } = context.picture.safety.policy.caps.repair;
  if (perWindow === undefined) return [];
  const goneByUid = goneWithin("repair", { context, going: [], duration: perWindow.duration });
  return soonestFirst([...goneByUid.values()]).map(({ until }) => until);
}

/** One that was given up before anything was done took nothing away. */
function hasTaken({ status }: ActionView): boolean {
  return status.phase !== "Abandoned" || status.startedAt !== undefined;
}

/** An action counts as what it was opened for, whatever joined it; a deletion of others counts only among all. */
function isIn(scope: Scope, action: LedgerAction | undefined): boolean {
  return scope === "all" || (action !== undefined && classOf(action) === scope);
}

/** What cannot be read allows nothing. */
function amountOf(text: string, total: number): number {
  const amount = parseAmount(text);
  return amount.ok ? roundedUp(amount.value, total) : 0;
}

function placeOf(path: string, { picture }: Context): Limit["place"] {
  const { meta } = picture.safety;
  return meta
    ? { kind: "SafetyPolicy", name: meta.name, path, generation: meta.generation }
    : { kind: "Default", path };
}
