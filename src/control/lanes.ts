// Commands on their way: one at a time on each object, a bounded number in all, each with its time-out. A command that
// cannot start now is not kept: whoever wanted it is named again when it could. Only one whose result is unknown and whose
// effect the picture already carries is sent again as it was, until the answer is definite; and entries of the ledger,
// leases on nodes and starts wait in line for room: those are counted and take nothing away, these are judged again when
// they begin.

import type { Instant, Millis } from "../api/time.ts";
import type { Command, CommandKind, Outcome } from "../decide/decision.ts";
import { laneOf } from "../decide/lane.ts";
import type { Subject } from "../snapshot/picture.ts";
import { LaneHold } from "./lane-hold.ts";
import { afterEnd, type LastEnd, startsAt } from "./lane-wait.ts";
import { outcomeOf } from "./outcome.ts";
import type { Clock } from "./ports.ts";
import { Wakes } from "./wakes.ts";

/** A command, who wants it, and in which term. */
export type Errand = {
  readonly command: Command;
  readonly rule: string;
  readonly subject: Subject;
  readonly epoch: number;
};

export type Ended = {
  readonly errand: Errand;
  readonly outcome: Outcome;
  readonly failureCount: number;
  readonly retryAt: Instant;
  /** It will be sent again as it is. */
  readonly isUnresolved: boolean;
};

type LanesOptions = {
  readonly clock: Clock;
  /** Taken on: it runs now, or as soon as there is room. */
  readonly taken: (errand: Errand) => void;
  /** Whether one that has waited in line may still be begun. */
  readonly mayBegin: (errand: Errand) => boolean;
  readonly run: (errand: Errand, signal: AbortSignal) => Promise<Outcome>;
  /** Whether one with an unknown result may be sent again as it is. */
  readonly mayResend: (errand: Errand) => boolean;
  readonly ended: (ended: Ended) => void;
  readonly random: () => number;
};

type Lane = {
  running?: Errand;
  /** Its result is unknown; until it is known the lane is its own. */
  unresolved?: Errand;
  last?: LastEnd;
  readonly waiting: Set<Subject>;
};

/** More than a server has in hand at a time: some of each command's time is our own. */
export const runningMax = 48;
/** While so many stand in line that they will be busy for as long. */
const longLineMs: Millis = 400;
/** While there is no room. */
const noRoomMs: Millis = 50;
const apiTimeoutMs: Millis = 20_000;
const timeoutMsByKind: Partial<Record<CommandKind, Millis>> = {
  "launch-instance": 90_000,
  "delete-instance": 60_000,
  "reboot-instance": 60_000,
  "list-instances": 60_000,
  search: 60_000,
};
const postponeMs: Millis = 1_000;
/** Long enough for any wait of a lane to be over. */
const forgetAfterMs: Millis = 600_000;

/**
 * Their effect is laid over the picture when they are sent, so no rule asks for them twice. Not so the start of an
 * action: its node is counted already, and until it is judged again live nothing may be built on it.
 */
export const laidOver: ReadonlySet<CommandKind> = new Set<CommandKind>(["open-action", "create-claim", "delete-claim"]);

/**
 * They wait in line instead of being decided anew: of hundreds that are granted in one turn all are counted at once, and
 * the arbiter need not weigh them again whenever there is room for a few.
 */
const inLine: ReadonlySet<CommandKind> = new Set<CommandKind>([
  "open-action",
  "take-node-lease",
  // Both are judged again when they begin, over what is read live then.
  "start-action",
  "create-remediation",
]);

/** From here on a node is on its way out: pods wait, since they would come to nodes that go next, and have to move again. */
const begins: ReadonlySet<CommandKind> = new Set<CommandKind>(["open-action", "start-action"]);
const podsWaitMaxMs: Millis = 5_000;
/** What is told of the first starts waits for the last ones: on its own it would take the server's time from them. */
const tellingWaitsMaxMs: Millis = 1_000;

type InLine = { readonly name: string; readonly lane: Lane; readonly errand: Errand };

export class Lanes {
  readonly #options: LanesOptions;
  readonly #laneByName = new Map<string, Lane>();
  #line: InLine[] = [];
  /** By the monotonic clock: a wall clock that is set back makes nobody wait. */
  readonly #wakes = new Wakes<string>();
  /** With the urgency of what they want; among equals first come, first served when there is room again. */
  readonly #waitingForRoom = new Map<Subject, number>();
  readonly #pods = new LaneHold(begins, podsWaitMaxMs);
  readonly #telling = new LaneHold(inLine, tellingWaitsMaxMs);
  readonly #holds = [this.#pods, this.#telling];
  #runningCount = 0;
  #whenIdle: (() => void)[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  get waitingForRoomCount(): number {
    return this.#waitingForRoom.size;
  }

  get room(): number {
    return Math.max(0, runningMax - this.#runningCount);
  }

  /** How long a turn can be spared: what it decides could not be begun sooner. */
  get crowdedMs(): Millis {
    if (this.#line.length > runningMax) return longLineMs;
    return this.room === 0 ? noRoomMs : 0;
  }

  get hasRoomForWaiting(): boolean {
    if (this.room === 0) return false;
    for (const urgency of this.#waitingForRoom.values()) if (this.#isServed(urgency)) return true;
    return false;
  }

  /** When a lane that somebody waits for may be tried again. */
  get nextAt(): Instant | undefined {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const letGo = this.#holds.map(({ endsAt }) => endsAt).filter((at = now) => at > now);
    const next = [...letGo, this.#wakes.next].reduce<Millis>((least, at = least) => Math.min(least, at), Infinity);
    // Rounded up: a turn that came a fraction too early would find nobody ready, and be asked for again at once.
    return next === Infinity ? undefined : clock.now() + Math.ceil(next - now);
  }

  /** Starts the command, or remembers who wanted it. */
  offer(errand: Errand): boolean {
    const now = this.#options.clock.monotonic();
    const name = laneOf(errand.command);
    const lane = this.#laneByName.get(name) ?? { waiting: new Set<Subject>() };
    this.#laneByName.set(name, lane);
    const isTaken = lane.running !== undefined || (lane.unresolved !== undefined && lane.unresolved !== errand);
    const startAt = startsAt(lane.last, errand.command);
    if (isTaken || startAt > now) {
      lane.waiting.add(errand.subject);
      if (!isTaken) this.#wakes.set(name, startAt);
      return false;
    }
    const urgency = urgencyOf(errand.command);
    if (this.room === 0 && inLine.has(errand.command.kind)) {
      lane.running = errand;
      this.#taken(errand);
      this.#line.push({ name, lane, errand });
      return true;
    }
    if (this.room === 0 || !this.#isServed(urgency)) {
      const known = this.#waitingForRoom.get(errand.subject) ?? Number.POSITIVE_INFINITY;
      this.#waitingForRoom.set(errand.subject, Math.min(known, urgency));
      if (this.room > 0) this.#holdOf(urgency)?.waits(now);
      this.postpone(errand);
      return false;
    }
    this.#holdOf(urgency)?.served();
    this.#taken(errand);
    void this.#run(name, lane, errand);
    return true;
  }

  /** What must be sent again as it is, but not now. */
  postpone(errand: Errand): void {
    const name = laneOf(errand.command);
    const at = this.#options.clock.monotonic() + postponeMs;
    if (this.#laneByName.get(name)?.unresolved === errand) this.#wakes.set(name, at);
  }

  /** Those whose lane could be tried again now, and what must be sent again as it is. */
  ready(): { subjects: Subject[]; unresolved: Errand[] } {
    const subjects: Subject[] = [];
    const unresolved: Errand[] = [];
    for (const name of this.#wakes.take(this.#options.clock.monotonic())) {
      const lane = this.#laneByName.get(name);
      if (lane?.unresolved !== undefined && lane.running === undefined) unresolved.push(lane.unresolved);
      else if (lane !== undefined) subjects.push(...takeAll(lane.waiting));
    }
    return { subjects, unresolved };
  }

  /** As many of those who wait for room as there is room for. */
  takeForRoom(): Subject[] {
    const taken: Subject[] = [];
    for (const [subject, urgency] of [...this.#waitingForRoom].toSorted(([, a], [, b]) => a - b)) {
      if (taken.length >= this.room) break;
      if (!this.#isServed(urgency)) {
        // There is room: from now on it is for the others that they wait. Those behind them may wait for nobody.
        this.#holdOf(urgency)?.waits(this.#options.clock.monotonic());
        continue;
      }
      this.#waitingForRoom.delete(subject);
      taken.push(subject);
    }
    return taken;
  }

  /** What is first in line. */
  next(countMax: number): Command[] {
    return this.#line.slice(0, countMax).map(({ errand }) => errand.command);
  }

  /** Nothing that waits in line is begun any more. */
  leaveLine(): Errand[] {
    const line = this.#line;
    this.#line = [];
    for (const { lane, errand } of line) {
      delete lane.running;
      this.#leaves(errand);
    }
    return line.map(({ errand }) => errand);
  }

  /** A new term: nobody of the last one waits. What it left unresolved is told by the lists that begin the new one. */
  reset(): Errand[] {
    const unresolved = this.leaveLine();
    for (const lane of this.#laneByName.values()) {
      if (lane.unresolved !== undefined) unresolved.push(lane.unresolved);
      delete lane.unresolved;
      lane.waiting.clear();
    }
    this.#waitingForRoom.clear();
    this.#wakes.clear();
    for (const hold of this.#holds) hold.reset();
    return unresolved;
  }

  /** Forgets lanes on which nothing has happened for long; returns those whose last command had failed. */
  forget(): string[] {
    const now = this.#options.clock.monotonic();
    const failed: string[] = [];
    for (const [name, { running, unresolved, last, waiting }] of this.#laneByName) {
      if (running !== undefined || unresolved !== undefined || waiting.size > 0) continue;
      if (last !== undefined && Math.max(last.at, last.retryAt) + forgetAfterMs > now) continue;
      this.#laneByName.delete(name);
      if (last !== undefined && last.failureCount > 0) failed.push(name);
    }
    return failed;
  }

  /** Once nothing runs: each ends by its time-out at the latest. */
  idle(): Promise<void> {
    if (this.#runningCount === 0) return Promise.resolve();
    return new Promise(resolve => this.#whenIdle.push(resolve));
  }

  #taken(errand: Errand): void {
    for (const hold of this.#holds) hold.taken(errand, this.#options.clock.monotonic());
    this.#options.taken(errand);
  }

  #leaves(errand: Errand): void {
    for (const hold of this.#holds) hold.ended(errand);
  }

  #isServed(urgency: number): boolean {
    return this.#holdOf(urgency)?.holds(this.#options.clock.monotonic()) !== true;
  }

  #holdOf(urgency: number): LaneHold | undefined {
    if (urgency >= evicts) return this.#pods;
    return urgency === tells ? this.#telling : undefined;
  }

  async #run(name: string, lane: Lane, errand: Errand): Promise<void> {
    const startedAt = this.#options.clock.monotonic();
    lane.running = errand;
    this.#runningCount++;
    this.#wakes.set(name, undefined);
    const outcome = await this.#outcome(errand);
    delete lane.running;
    this.#runningCount--;
    this.#ended(name, lane, { errand, outcome, startedAt });
    this.#beginNext();
    if (this.#runningCount === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #beginNext(): void {
    while (this.room > 0) {
      const next = this.#line.shift();
      if (next === undefined) return;
      const { name, lane, errand } = next;
      if (this.#options.mayBegin(errand)) void this.#run(name, lane, errand);
      else {
        delete lane.running;
        this.#ended(name, lane, { errand, outcome: { result: "stale" }, startedAt: this.#options.clock.monotonic() });
      }
    }
  }

  #ended(name: string, lane: Lane, run: { errand: Errand; outcome: Outcome; startedAt: Millis }): void {
    const { clock, random, ended, mayResend } = this.#options;
    const { errand, outcome, startedAt } = run;
    this.#leaves(errand);
    const now = clock.monotonic();
    const jitter = 0.75 + random() / 2;
    const last = afterEnd(lane.last, { command: errand.command, outcome, startedAt, now, jitter });
    lane.last = last;
    const isUnknown = outcome.result === "retry" && outcome.unknown === true;
    const isUnresolved = isUnknown && laidOver.has(errand.command.kind) && mayResend(errand);
    if (isUnresolved) lane.unresolved = errand;
    else delete lane.unresolved;
    // Others may have waited for the lane with another command; the one who sent this is asked in any case.
    lane.waiting.add(errand.subject);
    this.#wakes.set(name, isUnresolved ? last.retryAt : now);
    const retryAt = clock.now() + last.retryAt - now;
    ended({ errand, outcome, failureCount: last.failureCount, retryAt, isUnresolved });
  }

  #outcome(errand: Errand): Promise<Outcome> {
    const { clock, run } = this.#options;
    const timeoutMs = timeoutMsByKind[errand.command.kind] ?? apiTimeoutMs;
    const abort = new AbortController();
    return new Promise(resolve => {
      // A call that does not even heed the signal holds nobody up: its lane goes on without it.
      const cancel = clock.after(timeoutMs, () => {
        const late = new Error(`No answer within ${timeoutMs / 1000} s.`);
        abort.abort(late);
        resolve(outcomeOf(late));
      });
      const settle = (outcome: Outcome) => {
        cancel();
        resolve(outcome);
      };
      run(errand, abort.signal).then(settle, error => settle(outcomeOf(error)));
    });
  }
}

/** What is not urgent, what only tells, and what lets pods go: the last two wait for starts, too. */
const others = 3;
const tells = 4;
const evicts = 5;

/**
 * Where there is not room for all: first what opens actions, then what starts them, then what lets pods run elsewhere, then
 * everything else, and behind it what is only told. In one queue the many steps of the first few actions would come before
 * the start of the others, and what is told of them before their pods. Last evictions, those first of whom they ask most of
 * a node: small pods find room in what large ones leave, not the other way round.
 */
const urgencyByKind: Partial<Record<CommandKind, number>> = {
  "open-action": 0,
  "start-action": 1,
  "take-node-lease": 1,
  "create-remediation": 1,
  // Its node waits for it, and others' nodes shall not.
  "nominate-pod": 2,
  // Not evictions: those that a budget refuses are asked for again and again.
  "delete-pod": 2,
  "update-node": 2,
  "create-claim": 2,
  "launch-instance": 2,
  // In line with what lets pods run: behind it, pods would wait as long as nodes come and go.
  search: 2,
  "update-check": tells,
  "update-pool": tells,
  "update-safety-policy": tells,
};

/** The lower the sooner. */
export function urgencyOf(command: Command): number {
  if (command.kind === "evict-pod") return evicts + 1 / (1 + (command.hardness ?? 0));
  // With a spec it is no account: an adoption, or a higher reason that joins.
  if (command.kind === "update-action" && command.spec === undefined) return tells;
  return urgencyByKind[command.kind] ?? others;
}

function takeAll(subjects: Set<Subject>): Subject[] {
  const taken = [...subjects];
  subjects.clear();
  return taken;
}
