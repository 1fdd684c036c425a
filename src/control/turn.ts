// One pass from picture to decisions, synchronous: asks the rules about every subject that changed, is due or was held
// up, keeps what they say, and lets the arbiter judge all that is proposed. Sends nothing.

import { isEqual } from "../api/schema/correlate.ts";
import { type Instant, type Millis, secondMs } from "../api/time.ts";
import { waitOf } from "../decide/actions.ts";
import { arbitrate, type Candidate } from "../decide/arbitrate.ts";
import { brakeVeto, decideBlocked } from "../decide/brake.ts";
import { type BudgetLimit, budgetLimits } from "../decide/budget-limits.ts";
import { decideSpent } from "../decide/budget-spent.ts";
import type { NodeSeen } from "../decide/correlated.ts";
import type { Context, Decision, Refusal, Rule, Veto } from "../decide/decision.ts";
import { nothing, together } from "../decide/decision.ts";
import { laneOf } from "../decide/lane.ts";
import { surplusVeto } from "../decide/disruption/surplus.ts";
import { controlPlaneLimits, remediationVeto } from "../decide/health-check/holds.ts";
import { isSickByCheck, spreadOf } from "../decide/health-check/spread.ts";
import { StormMemory } from "../decide/health-check/storm.ts";
import type { Health, Remembered } from "../decide/remembered.ts";
import { isOverdueIn, RepairMemory, sickIn } from "../decide/repair-memory.ts";
import { SafetyMemory } from "../decide/safety-memory.ts";
import { safetyStatus } from "../decide/safety-status.ts";
import { isSameReads, type Reads, StartReads } from "../decide/start-reads.ts";
import { successorsVeto } from "../decide/successors.ts";
import { seenTogether } from "../decide/waiting.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Subject, SubjectKind } from "../snapshot/picture.ts";
import type { PoolView } from "../snapshot/views.ts";
import { type Judged, type Standing, StandingDecisions } from "./standing.ts";

/** Under which name the arbiter's own decision stands, beside those of the rules. */
export const arbiter: Judged = { rule: "arbiter", subject: "cluster" };

/** Likewise for what is told in the SafetyPolicy. */
const safety: Judged = { rule: "safety", subject: "cluster" };

/** Likewise for what is told of pools whose brake or budgets hold something. */
const blocked: Judged = { rule: "blocked", subject: "cluster" };

const withArbiter: ReadonlySet<string> = new Set([arbiter, safety, blocked].map(({ rule }) => rule));

const kinds: readonly SubjectKind[] = ["pool", "claim", "node", "action", "pod", "check", "cluster"];

/**
 * A check's own rule reads all of its nodes that are not healthy, tells of them and starts nothing. In a burst each turn has
 * news of some: where they are many it is asked again after as many milliseconds as it reads nodes.
 */
const manyNodes = 50;
const apartMaxMs: Millis = secondMs;

type Waits = {
  /** Its entry and its node, as those who are asked are named: texts that are made once. */
  readonly subjects: readonly [Subject, Subject];
  /** In words; empty: nothing does. */
  readonly held: string;
  /** What that was read from, and what of it others read alike. */
  readonly reads: Reads | undefined;
  readonly shared: Reads | undefined;
  readonly group: string;
};

type TurnHandlers = {
  refused(refusal: Refusal): void;
  lifted(refusal: Refusal): void;
  asked(): void;
  compared(subjectCount: number): void;
};

export class Turns {
  readonly standing = new StandingDecisions();
  readonly #picture: ClusterPicture;
  readonly #rulesByKind: ReadonlyMap<SubjectKind, readonly Rule[]>;
  readonly #handlers: TurnHandlers;
  readonly #asked = new Set<Subject>();
  /** Those for whom there was no room: what stands for them is still to be sent. */
  readonly #offered = new Set<Subject>();
  /** When each check may be asked again. */
  readonly #nextByCheck = new Map<Subject, Instant>();
  #mustArbitrate = false;
  #decidedAt = Number.NEGATIVE_INFINITY;
  /** By the name of an action that has not begun: what held it when it was last asked. */
  #waitsByAction: ReadonlyMap<string, Waits> = new Map();
  /** Whoever does not lead remembers, and asks nobody. */
  #isInTerm = false;
  readonly #safety = new SafetyMemory();
  readonly #repair = new RepairMemory();
  readonly #storms = new StormMemory();

  constructor(picture: ClusterPicture, rules: readonly Rule[], handlers: TurnHandlers) {
    this.#picture = picture;
    this.#rulesByKind = new Map(kinds.map(kind => [kind, rules.filter(rule => rule.kind === kind)]));
    this.#handlers = handlers;
  }

  get health(): Health {
    return this.#repair.health;
  }

  /** When somebody is to be asked by time alone. */
  get nextAt(): Instant | undefined {
    let next = this.standing.nextAt;
    for (const [subject, at] of this.#nextByCheck) {
      if (this.#asked.has(subject) && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  /** Somebody is to be asked. */
  get hasNews(): boolean {
    return this.#asked.size > 0 || this.#mustArbitrate || this.#picture.isDirty;
  }

  /** Every replica remembers, whether it leads or not. */
  observe(seen: NodeSeen, now: Instant): void {
    this.#repair.observe(seen, now);
    this.#noteSpread(seen, now);
    if (!this.#isInTerm) return;
    // An answer to us may have shown the node before, so that for the picture nothing has changed.
    for (const view of [seen.before, seen.after]) if (view !== undefined) this.#asked.add(`node/${view.name}`);
    for (const view of [seen.before, seen.after]) if (view !== undefined) this.#picture.checks.seen(view.name);
    // An outbreak may be over by what counts nowhere else.
    if (this.#safety.outbreaks.size > 0) this.#mustArbitrate = true;
  }

  /** In place of a turn, for whoever does not lead: an outbreak that it has seen holds its own starts later. */
  review(changed: Iterable<Subject>, now: Instant): void {
    for (const subject of changed) if (kindOf(subject) === "node") this.#lookAgain(nameOf(subject), now);
    this.#safety.review({ picture: this.#picture, now });
  }

  ask(subjects: Iterable<Subject>): void {
    for (const subject of subjects) this.#asked.add(subject);
  }

  /** Nothing but room was missing for what stands: it need not be decided anew, but for reasons of its own. */
  offer(subjects: Iterable<Subject>): void {
    for (const subject of subjects) {
      // What the arbiter grants stands under no rule of its own.
      if (subject === "cluster") this.#asked.add(subject);
      else this.#offered.add(subject);
    }
  }

  /** A new term: what was decided in the last one does not stand. */
  askAll(now: Instant): void {
    this.#isInTerm = true;
    const picture = this.#picture;
    this.#repair.recountAll({ picture, now });
    // Whether something spreads just now is not known yet, nor whose nodes those are that were seen before their claims.
    for (const after of picture.nodes()) this.#noteSpread({ after }, now);
    for (const kind of kinds) this.ask(this.#picture.subjects(kind));
    // Those that stand for subjects which are gone are asked too, and so end.
    for (const { subject } of this.standing.all()) this.#asked.add(subject);
  }

  /** By a clock that was behind a sickness is seen to begin too early: set right, it would be due at once. */
  setForward(byMs: Millis, now: Instant): void {
    this.#repair.setForward(byMs);
    if (this.#isInTerm) this.askAll(now);
  }

  /** The term is over: nothing stands, and nobody is to be asked. What was seen is remembered. */
  end(): void {
    this.#isInTerm = false;
    this.#mustArbitrate = false;
    this.#asked.clear();
    this.#offered.clear();
    this.#nextByCheck.clear();
    this.#storms.clear();
    this.standing.clear();
  }

  /** What stands anew, or is still to be sent. If a rule throws, nothing of it may be sent, and all of it is asked again the next time. */
  decide(context: Context): readonly Standing[] {
    // A clock that was set back: what stands was judged at instants that are still to come.
    if (context.now < this.#decidedAt - secondMs) {
      this.#safety.setBack(context.now);
      this.#repair.setBack(context.now);
      this.#nextByCheck.clear();
      this.askAll(context.now);
    }
    this.#decidedAt = context.now;
    this.ask(this.#picture.takeDirty());
    for (const { rule, subject } of this.standing.due(context.now)) {
      if (withArbiter.has(rule)) this.#mustArbitrate = true;
      else this.#asked.add(subject);
    }
    if (this.#asked.has("cluster")) this.#mustArbitrate = true;
    this.#recount(context);
    const { outbreaks } = this.#safety;
    const remembering = this.#remembering(context);
    if (this.#safety.outbreaks !== outbreaks) this.#mustArbitrate = true;
    this.#askWhatHasNotBegun(remembering);
    const isPostponed = (subject: Subject) => (this.#nextByCheck.get(subject) ?? context.now) > context.now;
    const postponed: Subject[] = [];
    const judged: Standing[] = [];
    for (const subject of this.#asked) {
      if (isPostponed(subject)) postponed.push(subject);
      else this.#judge(subject, { context: remembering, judged });
    }
    if (this.#mustArbitrate) judged.push(...this.#arbitrated(remembering));
    judged.push(...this.#stillToBeSent());
    this.#asked.clear();
    this.#offered.clear();
    this.ask(postponed);
    this.#mustArbitrate = false;
    return judged;
  }

  #stillToBeSent(): Standing[] {
    const subjects = [...this.#offered].filter(subject => !this.#asked.has(subject));
    return subjects.flatMap(subject =>
      this.#rulesFor(subject).flatMap(({ name }) => this.standing.of(name, subject) ?? []),
    );
  }

  /** What the shell itself has to say: under its own name, until it is said otherwise. */
  say(rule: string, refusals: readonly Refusal[]): void {
    this.#replace({ rule, subject: "cluster" }, { ...nothing, refusals });
  }

  /**
   * Where what stands differs from what the rules say of the same picture from scratch. What is to be asked again anyhow
   * is left out: it does not claim to stand.
   */
  verify(context: Context): string[] {
    this.ask(this.#picture.takeDirty());
    for (const { subject, decision } of this.standing.all()) if (isDue(decision, context.now)) this.#asked.add(subject);
    this.#recount(context);
    this.#askWhatHasNotBegun(this.#remembering(context));
    const picture = ClusterPicture.rebuilt(this.#picture);
    const fresh = this.#remembering({ ...context, picture }, this.#repair.rebuilt({ picture, now: context.now }));
    const subjects = new Set(kinds.flatMap(kind => fresh.picture.subjects(kind)));
    for (const { rule, subject } of this.standing.all()) if (this.#hasRule(rule)) subjects.add(subject);
    this.#handlers.compared(subjects.size);
    const differences = [...subjects].flatMap(subject => {
      if (this.#asked.has(subject)) return [];
      return this.#rulesFor(subject).flatMap(rule => this.#difference(rule, subject, fresh));
    });
    return [...differences, ...this.#arbiterDifferences(fresh)];
  }

  /**
   * What is granted and refused, and what the SafetyPolicy tells, over the proposals that stand. What was remembered of
   * outbreaks is taken as it is: it is no function of the picture.
   */
  #arbiterDifferences(context: Context): string[] {
    if (this.#mustArbitrate || this.#asked.has("cluster")) return [];
    const proposals = [...this.standing.proposals()];
    const fresh = this.#arbitration(proposals, this.#budgets(proposals, context), context);
    const stands = this.standing.get(arbiter.rule, "cluster") ?? nothing;
    const told = this.standing.get(safety.rule, "cluster") ?? nothing;
    const untold = safetyStatus({ outbreaks: this.#safety.outbreaks, statusAt: undefined }, context);
    return [
      ...(isEqual(grantsOf(stands), grantsOf(fresh)) ? [] : [differs("arbiter", stands, fresh)]),
      // Not told yet: its next time to write is in wakeAt.
      ...(told.commands.length > 0 || told.wakeAt !== undefined || untold.commands.length === 0
        ? []
        : [differs("safety", told, untold)]),
    ];
  }

  /** Who is asked may count otherwise now: then its pool speaks otherwise, and starts may be free or held. */
  #recount(context: Context): void {
    // A pool that is added on the way is counted too.
    for (const subject of this.#asked) {
      if (kindOf(subject) === "node") this.#lookAgain(nameOf(subject), context.now);
      if (kindOf(subject) === "check") this.#storms.look(nameOf(subject), context);
      for (const pool of this.#repair.recount(subject, context)) {
        this.#mustArbitrate = true;
        if (pool !== undefined) this.#asked.add(`pool/${pool}`);
      }
    }
  }

  /**
   * What is written down and has not begun is held by what holds back starts, which may be any of what has changed: it is
   * asked where that says otherwise now. Remediations are begun by their node's rule.
   */
  #askWhatHasNotBegun(context: Context): void {
    if (this.#asked.size === 0 && !this.#mustArbitrate) return;
    const { outbreaks, spreadCount } = this.#safety;
    const shared = new StartReads(context, { outbreaks, spreadCount, brake: brakeVeto(this.#repair.health) });
    const waits = new Map<string, Waits>();
    for (const action of this.#picture.openActions()) {
      const { name, spec, status, isProvisional } = action;
      // What is not stored yet could not begin, and is asked about once it is.
      if (status.startedAt !== undefined || isProvisional) continue;
      const before = this.#waitsByAction.get(name);
      const subjects = before?.subjects ?? ([`action/${name}`, `node/${spec.node.name}`] as const);
      // Something of its own has changed: its entry, node, claim or remediation.
      const isConcerned = this.#asked.has(subjects[0]) || this.#asked.has(subjects[1]);
      // What is held may be free by time alone; what is free is free as long as nothing is otherwise.
      const wasFree = before?.held.trim() === "";
      if (wasFree && !isConcerned && isSameReads(before.shared, shared.shared(action, before.group, before.shared))) {
        waits.set(name, before);
        continue;
      }
      const reads = shared.of(action);
      const held = wasFree && isSameReads(before.reads, reads) ? before.held : waitOf(action, context);
      const group = shared.groupOf(action);
      waits.set(name, { subjects, held, reads, shared: reads && shared.shared(action, group), group });
      if (held === before?.held) continue;
      const [entry, node] = subjects;
      this.#asked.add(spec.method === "Remediate" ? node : entry);
    }
    this.#waitsByAction = waits;
  }

  /** With all that rules are told beyond the picture, made once for the turn. */
  #remembering<C extends Context>(context: C, remembered: Remembered = this.#repair): C {
    // Whatever begins with a spread is of a shape of its own for V8, and every rule reads this one (json-value.ts).
    const known = { remembered, storms: this.#storms, ...context };
    const told = { vetoes: this.#vetoes(known, remembered.health), ...known };
    return { waiting: seenTogether(told), ...told };
  }

  /** For whoever judges once more between two turns. */
  remembering(context: Context): Context {
    return this.#remembering(context);
  }

  #vetoes(context: Context, health: Health): readonly Veto[] {
    return [
      ...this.#safety.vetoes(context),
      brakeVeto(health),
      successorsVeto(context.picture),
      remediationVeto(context),
    ];
  }

  /** What is sick is the word of claim and pool, which may have come or changed since the node was seen. */
  #lookAgain(name: string, now: Instant): void {
    const node = this.#picture.node(name);
    if (node !== undefined) this.#noteSpread({ before: node, after: node }, now);
  }

  #noteSpread(seen: NodeSeen, now: Instant): void {
    const picture = this.#picture;
    const node = seen.after ?? seen.before;
    const isSickInPool = sickIn(picture);
    const over = node === undefined ? [] : picture.checks.concerning(node.name);
    const checks = over.map(spreadOf);
    this.#safety.observe(seen, {
      picture,
      now,
      isSick: (one, condition) =>
        isSickInPool(one, condition) || isSickByCheck(one, condition, { checks: over, picture }),
      checks,
    });
    const isOverdue = seen.after !== undefined && isOverdueIn(picture, seen.after, now);
    if (isOverdue) this.#safety.noteOverdue(seen.after, { picture, now, checks });
  }

  #judge(subject: Subject, { context, judged }: { context: Context; judged: Standing[] }): void {
    this.#handlers.asked();
    const name = nameOf(subject);
    if (kindOf(subject) === "check") this.#space(subject, context);
    for (const rule of this.#rulesFor(subject)) {
      const decision = rule.decide(name, context);
      // Most rules have nothing to say of most subjects, however often they are asked.
      if (this.standing.isSilent(rule.name, subject, decision)) continue;
      judged.push(this.#replace({ rule: rule.name, subject }, decision));
    }
  }

  #space(subject: Subject, { picture: { checks }, now }: Context): void {
    const check = checks.check(nameOf(subject));
    const count = check === undefined ? 0 : checks.notHealthyCount(check);
    if (count < manyNodes) this.#nextByCheck.delete(subject);
    else this.#nextByCheck.set(subject, now + Math.min(apartMaxMs, count));
  }

  #replace(judged: Judged, decision: Decision): Standing {
    const { refused, lifted, proposalsChanged } = this.standing.replace(judged, decision);
    for (const refusal of refused) this.#handlers.refused(refusal);
    for (const refusal of lifted) this.#handlers.lifted(refusal);
    if (proposalsChanged) this.#mustArbitrate = true;
    return { rule: judged.rule, subject: judged.subject, decision };
  }

  /** The arbiter over all that is proposed, and what the SafetyPolicy and the pools then say of themselves. */
  #arbitrated(context: Context): Standing[] {
    const proposals: readonly Candidate[] = [...this.standing.proposals()];
    const asked = proposals.map(({ proposal }) => proposal);
    const budgets = this.#budgets(proposals, context);
    const held = [decideBlocked(asked, this.#repair.health, context), decideSpent(asked, budgets, context)];
    return [
      this.#replace(arbiter, this.#arbitration(proposals, budgets, context)),
      this.#replace(safety, safetyStatus(this.#safety, context)),
      this.#replace(blocked, together(held)),
    ];
  }

  #budgets(proposals: readonly Candidate[], context: Context): readonly BudgetLimit[] {
    const { picture, now } = context;
    return budgetLimits(poolsOf(proposals, context), { picture, now, health: this.#repair.health });
  }

  #arbitration(proposals: readonly Candidate[], budgets: readonly BudgetLimit[], context: Context): Decision {
    const asked = proposals.map(({ proposal }) => proposal);
    const limits = [...budgets, ...controlPlaneLimits(asked, context)];
    return arbitrate({ proposals, context, gates: { limits, vetoes: [...(context.vetoes ?? []), surplusVeto()] } });
  }

  #rulesFor(subject: Subject): readonly Rule[] {
    return this.#rulesByKind.get(kindOf(subject)) ?? [];
  }

  #hasRule(name: string): boolean {
    return [...this.#rulesByKind.values()].some(rules => rules.some(rule => rule.name === name));
  }

  #difference(rule: Rule, subject: Subject, context: Context): string[] {
    const stands = this.standing.get(rule.name, subject) ?? nothing;
    if (isDue(stands, context.now)) return [];
    const fresh = rule.decide(nameOf(subject), context);
    return isEqual(stands, fresh) ? [] : [differs(`${rule.name} of ${subject}`, stands, fresh)];
  }
}

function differs(what: string, ...decisions: readonly [Decision, Decision]): string {
  const [stands, fresh] = decisions.map(decision => JSON.stringify(decision));
  return `${what}: ${stands} stands, but from scratch it is ${fresh}`;
}

/** A grant says when it was made, and so reads otherwise at each instant. */
function grantsOf({ commands, refusals, wakeAt }: Decision) {
  return { grants: commands.map(command => `${command.kind} ${laneOf(command)}`), refusals, wakeAt };
}

function isDue({ wakeAt }: Decision, now: Instant): boolean {
  return wakeAt !== undefined && wakeAt <= now;
}

/** Whose nodes are asked for: only their budgets can hold something. */
function poolsOf(proposals: readonly Candidate[], { picture }: Context): Iterable<PoolView> {
  const names = proposals.flatMap(({ proposal: { claim } }) => (claim && picture.claim(claim.name)?.pool) ?? []);
  return [...new Set(names)].flatMap(name => picture.pool(name) ?? []);
}

function kindOf(subject: Subject): SubjectKind {
  return subject === "cluster" ? "cluster" : (subject.slice(0, subject.indexOf("/")) as SubjectKind);
}

function nameOf(subject: Subject): string {
  return subject.slice(subject.indexOf("/") + 1);
}
