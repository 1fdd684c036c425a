// Gives each node to one action: over all that is asked for, in one order, each grant counted before the next is judged.
// Every proposal is granted, joins what already runs, or is refused with the reason.

import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import type { Subject } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import { capLimits, freeAt, type Limit } from "./caps.ts";
import { namesOf } from "./counted.ts";
import type { Command, Context, Decision, Proposal, Refusal, Veto } from "./decision.ts";
import { closedDryRuns, dryRunWord, openDryRun, shownOnly } from "./dry-run.ts";
import { canJoin, join } from "./join.ts";
import { actionSpec, nextAttempt, type Permission } from "./ledger.ts";
import { classOf, type LedgerAction, outranks, rankOf } from "./precedence.ts";
import { isPersonsDelete, objection, type Objection, vetoed } from "./safety.ts";

/** A proposal, with the rule that made it and the subject that the rule judged. */
export type Candidate = { readonly subject: Subject; readonly rule: string; readonly proposal: Proposal };

/** What holds starts back beyond what the picture shows: budgets, and what is remembered. */
export type Gates = { readonly limits?: readonly Limit[]; readonly vetoes?: readonly Veto[] };

export function arbitrate(asked: {
  readonly proposals: readonly Candidate[];
  readonly context: Context;
  readonly gates?: Gates;
}): Decision {
  const { context, gates } = asked;
  const cases = inOrder(asked.proposals).map((candidate, place) => ({ ...caseOf(candidate, context), place }));
  const pass = passOver(cases, context, gates);
  const groups = groupsOf(cases);
  const meant = groups.filter(group => !isShown(group));
  const shown = groups.filter(isShown).map(asShown);
  // Dry runs come last: they see what is granted, and never stand in its way.
  const ends = [...meant, ...shown].flatMap(group => endsOf(group, pass));
  const refusals = ends.flatMap(({ refusal }) => refusal ?? []);
  const closed = closedDryRuns(
    shown.flatMap(group => group.map(({ proposal }) => proposal)),
    context,
  );
  return {
    commands: [...ends.flatMap(({ commands }) => commands), ...closed],
    proposals: [],
    refusals,
    notices: [],
    wakeAt: nextLook(refusals, pass),
  };
}

type Case = Candidate & {
  /** In the order of precedence. */
  readonly place: number;
  /** Of the node; without one it is held by what speaks of the whole cluster alone. */
  readonly zone: string | undefined;
  readonly objection: Objection | undefined;
  readonly dryRun: string | undefined;
};

function caseOf(candidate: Candidate, context: Context): Omit<Case, "place"> {
  const { proposal } = candidate;
  const node = context.picture.nodeByUid(proposal.node.uid);
  const zone = node && context.picture.zoneOf(node);
  return { ...candidate, zone, objection: objection(proposal, context), dryRun: dryRunWord(proposal, context) };
}

/** Who goes together, at the place of the first; whoever is of no batch goes alone. */
function groupsOf(cases: readonly Case[]): readonly (readonly Case[])[] {
  const groups: Case[][] = [];
  const byBatch = new Map<string, Case[]>();
  for (const one of cases) {
    const { batch } = one.proposal;
    const known = batch === undefined ? undefined : byBatch.get(batch);
    const group = known ?? [];
    group.push(one);
    if (known !== undefined) continue;
    groups.push(group);
    if (batch !== undefined) byBatch.set(batch, group);
  }
  return groups;
}

function isShown(group: readonly Case[]): boolean {
  return group.some(({ dryRun }) => dryRun !== undefined);
}

/** Where one is only shown, all are. */
function asShown(group: readonly Case[]): readonly Case[] {
  const word = group.find(({ dryRun }) => dryRun !== undefined)?.dryRun;
  return group.map(one => ({ ...one, dryRun: one.dryRun ?? word }));
}

/** What the turn has granted that a limit counts: the last, and what came before it. */
type Spent = { readonly count: number; readonly last: Proposal; readonly before: Spent | undefined };

/** One look at everything that is asked for. `spent` and `owners` grow with each grant. */
type Pass = {
  readonly context: Context;
  readonly vetoes: readonly Veto[];
  readonly limits: readonly Limit[];
  readonly spent: Map<Limit, Spent>;
  /** Who is counted, in words, by when that was: many are refused by one limit. */
  readonly named: Map<Limit, { readonly spent: Spent | undefined; readonly names: string }>;
  readonly departing: ReadonlySet<string>;
  /**
   * By node uid: to whom the node was given, now or before, or who only waits for room: it would join a lower one past the
   * limit. What is vetoed could not join either, and keeps nobody from the node; nor does a plan, which hastens nothing.
   */
  readonly owners: Map<string, Case>;
};

function passOver(cases: readonly Case[], context: Context, { limits = [], vetoes = [] }: Gates = {}): Pass {
  const able = cases.filter(one => one.objection === undefined);
  const actions = new Set(able.map(({ proposal }) => proposal.action));
  const zones = new Set(able.flatMap(({ zone }) => zone ?? []));
  return {
    context,
    vetoes,
    limits: able.length === 0 ? [] : [...limits, ...capLimits({ actions, zones }, context)],
    spent: new Map(),
    named: new Map(),
    departing: new Set(able.length === 0 ? [] : [...context.picture.departures()].map(({ node }) => node.uid)),
    owners: new Map(),
  };
}

type End = { readonly commands: readonly Command[]; readonly refusal?: Refusal };

/** All of a batch, or none: whatever holds one of them holds all. */
function endsOf(group: readonly Case[], pass: Pass): readonly End[] {
  const apart = separated(group, pass.context);
  if (apart !== undefined) return group.map(({ proposal }) => ({ commands: [], refusal: refusal(proposal, apart) }));
  const tried = group.length === 1 ? [] : attempt(group, pass);
  const holder = tried.flatMap(({ one, verdict }) => ("objection" in verdict ? { one, ...verdict } : []))[0];
  if (holder === undefined) return group.map(one => endOf(one, pass));
  return tried.map(({ one, verdict }) => {
    const own = "objection" in verdict ? verdict : undefined;
    if (own?.keepsNode) ownedBy(one, pass);
    const why = own?.objection ?? heldTogether(one.proposal, holder.one.proposal, holder.objection);
    return { commands: [], refusal: refusal(one.proposal, why) };
  });
}

/** As it would go; nothing is spent by it. */
function attempt(group: readonly Case[], pass: Pass): readonly { readonly one: Case; readonly verdict: Verdict }[] {
  const trial = { ...pass, spent: new Map(pass.spent), owners: new Map(pass.owners) };
  return group.map(one => ({ one, verdict: judge(one, trial).verdict }));
}

/** A batch of which one is missing, or which was found for what is no longer so, would do something else. */
function separated(group: readonly Case[], { picture }: Context): Objection | undefined {
  const [first] = group;
  const { batch, node } = first?.proposal ?? {};
  if (batch === undefined || node === undefined) return undefined;
  const move = picture.moveOf(node.uid);
  if (move?.batch !== batch) {
    const message = `What was found for node ${node.name} (batch ${batch}) stands no longer.`;
    return { code: "move-outdated", message, liftedBy: "the next search" };
  }
  const asked = new Set(group.map(({ proposal }) => proposal.node.uid));
  const missing = move.nodes.find(({ uid }) => !asked.has(uid) && picture.openActionOn(uid)?.spec.batch !== batch);
  if (missing === undefined) return undefined;
  const message = `Node ${node.name} goes only together with node ${missing.name}, which is not asked for now.`;
  return { code: "batch-incomplete", message, liftedBy: `what is said of node ${missing.name}` };
}

function heldTogether({ node }: Proposal, holder: Proposal, { message: why, ...rest }: Objection): Objection {
  const message = `Node ${node.name} goes only together with node ${holder.node.name}, and that is held: ${why}`;
  return { ...rest, code: "batch-held", message };
}

/** What it is granted counts from here on. */
function judge(one: Case, pass: Pass): { readonly verdict: Verdict; readonly permission: Permission } {
  const verdict = verdictOn(one, pass);
  if (!("objection" in verdict) || verdict.keepsNode) ownedBy(one, pass);
  return { verdict, permission: "leave" in verdict ? spend(one, verdict.leave, pass) : {} };
}

function endOf(one: Case, pass: Pass): End {
  const { proposal, dryRun } = one;
  if (isSecond(one, pass)) return { commands: [] };
  const { verdict, permission } = judge(one, pass);
  if ("objection" in verdict) return { commands: [], refusal: refusal(proposal, verdict.objection) };
  if (dryRun !== undefined) {
    const commands = openDryRun(proposal, pass.context, permission);
    return { commands, refusal: refusal(proposal, shownOnly(dryRun, proposal)) };
  }
  if ("joins" in verdict) return { commands: [join(proposal, verdict.joins)] };
  const { name } = nextAttempt(pass.context.picture, proposal, { dryRun: false });
  const spec = actionSpec(proposal, pass.context, permission);
  const commands: Command[] = [{ kind: "open-action", why: proposal.message, name, spec, phase: "Pending" }];
  return { commands };
}

/** Whoever asked for it has the node already, by a reason that came before. */
function isSecond({ rule, subject, proposal }: Case, { owners }: Pass): boolean {
  const owner = owners.get(proposal.node.uid);
  // Two health checks ask by one rule, and each is told what comes first.
  const isOfSame = owner?.rule === rule && owner.subject === subject && isAskedAlike(owner.proposal, proposal);
  return isOfSame && !outranks(proposal.action, owner.proposal.action);
}

function isAskedAlike({ askedBy: a }: Proposal, { askedBy: b }: Proposal): boolean {
  return a.kind === b.kind && a.name === b.name && a.uid === b.uid;
}

/** Not so; or into what runs already; or anew, by leave of these limits. */
type Verdict =
  | { readonly objection: Objection; readonly keepsNode?: true }
  | { readonly joins: ActionView }
  | { readonly leave: readonly Limit[] };

function verdictOn(one: Case, pass: Pass): Verdict {
  const { proposal, zone } = one;
  const { context } = pass;
  const open = context.picture.openActionOn(proposal.node.uid);
  const first = one.objection ?? outranked(one, pass);
  if (first !== undefined) return { objection: first };
  const going = alreadyGoing(proposal, open, pass);
  if (going !== undefined) return { objection: going, keepsNode: true };
  const isPersons = isPersonsDelete(proposal, context);
  const held = isPersons ? undefined : (vetoed(proposal, pass.vetoes, context) ?? triedBefore(one, context));
  if (held !== undefined) return { objection: held };
  if (open !== undefined) return { joins: open };
  if (isPersons) return { leave: [] };
  const limits = pass.limits.filter(
    limit => (limit.zone === undefined || limit.zone === zone) && limit.applies(proposal),
  );
  const spent = limitSpent(limits, pass);
  if (spent === undefined) return { leave: limits };
  // Budgets by action are there so that one may be closed while another is open.
  return classOf(proposal.action) === "disruption" ? { objection: spent } : { objection: spent, keepsNode: true };
}

function ownedBy(one: Case, { owners }: Pass): void {
  const { uid } = one.proposal.node;
  if (one.place < (owners.get(uid)?.place ?? Number.POSITIVE_INFINITY)) owners.set(uid, one);
}

/** A dry run comes after all that is meant, and yet may be the higher. */
function outranked({ proposal, place }: Case, { owners }: Pass): Objection | undefined {
  const owner = owners.get(proposal.node.uid);
  if (owner === undefined || owner.place > place) return undefined;
  const { action, askedBy, node } = owner.proposal;
  const message = `${action} (asked for by ${askedBy.kind} ${askedBy.name}) comes first on node ${node.name}.`;
  return { code: "outranked", message, liftedBy: `the end of ${action} on the node` };
}

function alreadyGoing(proposal: Proposal, open: ActionView | undefined, pass: Pass): Objection | undefined {
  const code = "already-going";
  const { name, uid } = proposal.node;
  if (open === undefined) {
    if (!pass.departing.has(uid) || isPersonsDelete(proposal, pass.context)) return undefined;
    const message = `Node ${name} is being deleted already, and no action stands for that yet.`;
    return { code, message, liftedBy: "the action that is opened for the deletion" };
  }
  const under = `Node ${name} is under ${open.spec.action} (NodeAction ${open.name})`;
  const liftedBy = `the end of NodeAction ${open.name}`;
  if (!canJoin(proposal, open)) return { code, message: `${under}.`, liftedBy };
  if (!open.isProvisional) return undefined;
  return { code, message: `${under}, which is being written.`, liftedBy: `the server's answer for ${open.name}` };
}

function triedBefore({ proposal, dryRun }: Case, { picture, now }: Context): Objection | undefined {
  const { last, notBefore } = nextAttempt(picture, proposal, { dryRun: dryRun !== undefined });
  if (last === undefined || notBefore === undefined || notBefore <= now) return undefined;
  const how = last.status.outcome ?? last.status.error ?? "it says not why";
  const message = `NodeAction ${last.name} ended as ${last.status.phase}: ${how}; not tried again before ${formatTime(notBefore)}.`;
  return { code: "tried-before", message, until: notBefore, liftedBy: `deleting NodeAction ${last.name}` };
}

/** Of several that are spent, the one that lasts longest. */
function limitSpent(limits: readonly Limit[], pass: Pass): Objection | undefined {
  let worst: SpentLimit | undefined;
  for (const limit of limits) {
    const granted = pass.spent.get(limit)?.count ?? 0;
    const counted = limit.counted + granted;
    if (counted < limit.allowed) continue;
    const until = freeAt(limit, granted);
    const lasts = until === undefined || (worst?.until !== undefined && until > worst.until);
    if (worst === undefined || (worst.until !== undefined && lasts)) worst = { limit, counted, until };
  }
  return worst && limitObjection(worst, pass);
}

type SpentLimit = { readonly limit: Limit; readonly counted: number; readonly until: Instant | undefined };

function limitObjection({ limit, counted, until }: SpentLimit, pass: Pass): Objection {
  const { role, place, what, allowed } = limit;
  const source = [place.kind, place.name, place.path].filter(Boolean).join(" ");
  const common = { code: `${role}-spent`, ...(until === undefined ? {} : { until }) };
  if (allowed === 0) {
    const liftedBy = until === undefined ? `a greater ${role}` : `time, or a greater ${role}`;
    return { ...common, message: `No node may be ${what} (${source}).`, liftedBy };
  }
  const names = namesIn(limit, pass);
  const nodes = counted === 1 ? "1 node is" : `${counted} nodes are`;
  return {
    ...common,
    message: `${nodes} ${what}; at most ${allowed} may be (${source}).`,
    ...(names === undefined ? {} : { counted: names }),
    liftedBy: `an end of what is counted, or a greater ${role}`,
  };
}

function namesIn(limit: Limit, { spent, named }: Pass): string | undefined {
  if (limit.against === undefined) return undefined;
  const now = spent.get(limit);
  const known = named.get(limit);
  if (known !== undefined && known.spent === now) return known.names;
  const granted: Proposal[] = [];
  for (let one = now; one !== undefined; one = one.before) granted.push(one.last);
  const names = namesOf(limit.against, granted.reverse());
  named.set(limit, { spent: now, names });
  return names;
}

/** Counts one more in each limit, and says what they stood at before. */
function spend({ proposal }: Case, limits: readonly Limit[], { spent, limits: all, context }: Pass): Permission {
  const before = limits.map(limit => ({ ...limit, counted: limit.counted + (spent.get(limit)?.count ?? 0) }));
  // A person's delete is among the departures already.
  const isNew = !isPersonsDelete(proposal, context);
  const counting = all.filter(limit => (limit.counts ? isNew && limit.counts(proposal) : limits.includes(limit)));
  for (const limit of counting) {
    const so = spent.get(limit);
    spent.set(limit, { count: (so?.count ?? 0) + 1, last: proposal, before: so });
  }
  const written = (role: Limit["role"]) =>
    before
      .filter(limit => limit.role === role)
      .sort((a, b) => a.allowed - a.counted - (b.allowed - b.counted))
      .map(({ place, allowed, counted }) => ({ ...place, allowed, counted }));
  const [budget] = written("budget");
  return { ...(budget ? { budget } : {}), caps: written("cap") };
}

function refusal({ node, askedBy }: Proposal, reason: Objection): Refusal {
  const check = askedBy.kind === "NodeHealthCheck" ? { check: askedBy.name } : {};
  return { subject: `node/${node.name}`, ...check, ...reason };
}

function nextLook(refusals: readonly Refusal[], { limits }: Pass): Instant | undefined {
  const instants = [
    ...refusals.map(({ until }) => until),
    ...limits.flatMap(({ frees, changesAt }) => [frees[0], changesAt]),
  ];
  return instants.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
}

/** So much time overdue weighs as much as one step of priority: nobody waits for ever. */
const priorityStepMs = 30 * minuteMs;

/** By precedence, then by priority's rank and time overdue, then the longest due; the rest only makes it one order. */
function inOrder(candidates: readonly Candidate[]): readonly Candidate[] {
  const rank = priorityRanks(candidates);
  const places = candidates.map(candidate => {
    const { action, dueAt } = candidate.proposal;
    const weight = rank(candidate.proposal) * priorityStepMs - dueAt;
    return { candidate, rank: rankOf(action), weight, dueAt, text: textOf(candidate) };
  });
  places.sort((a, b) => b.rank - a.rank || b.weight - a.weight || a.dueAt - b.dueAt || (a.text < b.text ? -1 : 1));
  return places.map(({ candidate }) => candidate);
}

function textOf({ rule, subject, proposal: { node, askedBy, message } }: Candidate): string {
  return `${node.name}\n${node.uid}\n${rule}\n${subject}\n${askedBy.kind}\n${askedBy.name}\n${message}`;
}

/** The place of a priority among those that are asked with for the same action, the lowest being 0. */
function priorityRanks(candidates: readonly Candidate[]): (proposal: Proposal) => number {
  const known = new Map<LedgerAction, Set<number>>();
  for (const { proposal } of candidates) {
    known.set(proposal.action, (known.get(proposal.action) ?? new Set()).add(proposal.priority ?? 0));
  }
  const sorted = new Map([...known].map(([action, found]) => [action, [...found].sort((a, b) => a - b)]));
  return ({ action, priority = 0 }) => sorted.get(action)?.indexOf(priority) ?? 0;
}
