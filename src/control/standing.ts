// What was last decided for each subject by each rule. It stands until it is replaced: so outstanding proposals,
// refusals and the instants to look again are at hand without asking anybody anew.

import type { Instant } from "../api/time.ts";
import { type Decision, isNothing, type Proposal, type Refusal } from "../decide/decision.ts";
import type { Subject } from "../snapshot/picture.ts";
import { Wakes } from "./wakes.ts";

export type Judged = { readonly rule: string; readonly subject: Subject };
export type Standing = Judged & { readonly decision: Decision };
export type ProposalOf = Judged & { readonly proposal: Proposal };

/** What a new decision changed. */
export type Replaced = {
  readonly refused: readonly Refusal[];
  readonly lifted: readonly Refusal[];
  readonly proposalsChanged: boolean;
};

const unchanged: Replaced = { refused: [], lifted: [], proposalsChanged: false };

export class StandingDecisions {
  /** By rule, then by subject: most look-ups find nothing, and make no key for it. */
  readonly #standingByRule = new Map<string, Map<Subject, Standing>>();
  readonly #proposing = new Map<string, Standing>();
  readonly #refusing = new Map<Subject, Map<string, readonly Refusal[]>>();
  readonly #wakes = new Wakes<string>();

  get nextAt(): Instant | undefined {
    return this.#wakes.next;
  }

  get(rule: string, subject: Subject): Decision | undefined {
    return this.of(rule, subject)?.decision;
  }

  of(rule: string, subject: Subject): Standing | undefined {
    return this.#standingByRule.get(rule)?.get(subject);
  }

  *all(): Iterable<Standing> {
    for (const bySubject of this.#standingByRule.values()) yield* bySubject.values();
  }

  /** Nothing stood, and nothing is to stand. */
  isSilent(rule: string, subject: Subject, decision: Decision): boolean {
    return isNothing(decision) && this.get(rule, subject) === undefined;
  }

  replace(judged: Judged, decision: Decision): Replaced {
    const { rule, subject } = judged;
    if (this.isSilent(rule, subject, decision)) return unchanged;
    const before = this.get(rule, subject);
    const isEmpty = isNothing(decision);
    const bySubject = this.#standingByRule.get(rule) ?? new Map<Subject, Standing>();
    this.#standingByRule.set(rule, bySubject);
    const key = keyOf(judged);
    const standing = { rule, subject, decision };
    if (isEmpty) bySubject.delete(subject);
    else bySubject.set(subject, standing);
    if (decision.proposals.length > 0) this.#proposing.set(key, standing);
    else this.#proposing.delete(key);
    this.#wakes.set(key, decision.wakeAt);
    return {
      ...this.#replaceRefusals(key, before?.refusals ?? [], decision.refusals),
      proposalsChanged: !isSameProposals(before?.proposals ?? [], decision.proposals),
    };
  }

  /** Whose instant to look again has come. */
  due(now: Instant): Judged[] {
    return this.#wakes.take(now).map(judgedOf);
  }

  *proposals(): Iterable<ProposalOf> {
    for (const { rule, subject, decision } of this.#proposing.values()) {
      for (const proposal of decision.proposals) yield { rule, subject, proposal };
    }
  }

  /** Without a subject: every one. */
  refusals(subject?: Subject): readonly Refusal[] {
    const found = subject === undefined ? [...this.#refusing.values()] : [this.#refusing.get(subject) ?? new Map()];
    return found.flatMap(byKey => [...byKey.values()].flat());
  }

  clear(): void {
    this.#standingByRule.clear();
    this.#proposing.clear();
    this.#refusing.clear();
    this.#wakes.clear();
  }

  #replaceRefusals(
    key: string,
    before: readonly Refusal[],
    after: readonly Refusal[],
  ): Pick<Replaced, "refused" | "lifted"> {
    if (before.length === 0 && after.length === 0) return { refused: [], lifted: [] };
    for (const { subject } of before) this.#forget(subject, key);
    for (const refusal of after) {
      const byKey = this.#refusing.get(refusal.subject) ?? new Map<string, readonly Refusal[]>();
      this.#refusing.set(refusal.subject, byKey);
      byKey.set(key, [...(byKey.get(key) ?? []), refusal]);
    }
    // The arbiter refuses thousands at once: each is looked up, not looked for.
    const told = new Set(before.map(refusal => `${sameAs(refusal)}\n${refusal.message}`));
    const stands = new Set(after.map(sameAs));
    return {
      refused: after.filter(refusal => !told.has(`${sameAs(refusal)}\n${refusal.message}`)),
      lifted: before.filter(refusal => !stands.has(sameAs(refusal))),
    };
  }

  #forget(subject: Subject, key: string): void {
    const byKey = this.#refusing.get(subject);
    byKey?.delete(key);
    if (byKey?.size === 0) this.#refusing.delete(subject);
  }
}

function keyOf({ rule, subject }: Judged): string {
  return `${rule} ${subject}`;
}

/** Names of rules are one word. */
function judgedOf(key: string): Judged {
  const end = key.indexOf(" ");
  return { rule: key.slice(0, end), subject: key.slice(end + 1) as Subject };
}

function isSameProposals(before: readonly Proposal[], after: readonly Proposal[]): boolean {
  // Most propose nothing, before and after.
  if (before.length === 0 && after.length === 0) return true;
  return before.length === after.length && JSON.stringify(before) === JSON.stringify(after);
}

/** By which it is the same "no", though its sentence may have changed, or what is counted. */
function sameAs({ subject, code }: Refusal): string {
  return `${subject}\n${code}`;
}
