// The shell put together: feeds keep the picture, turns decide on it while we lead, commands carry it out. The same on a
// real cluster and on virtual time: all that comes from outside comes through the ports.

import { type Instant, type Millis, minuteMs, secondMs } from "../api/time.ts";
import type {
  Context,
  ControllerName,
  Decision,
  JournalEntry,
  Notice,
  Refusal,
  Rule,
  Settings,
} from "../decide/decision.ts";
import type { Health } from "../decide/remembered.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Picture, Rival, Staleness, Subject } from "../snapshot/picture.ts";
import { type Counts, countTurn, increment, zeroCounts } from "./counts.ts";
import { Dispatch } from "./dispatch.ts";
import { Events } from "./events.ts";
import { startFeeds, type WatchedKind } from "./feeds.ts";
import { type Leadership, readDefaultMark, readLedger, termNumber } from "./leader.ts";
import { Loop } from "./loop.ts";
import type { Clock, Feed, InstanceProvider, KubeApi } from "./ports.ts";
import { RemediationFeeds } from "./remediation-feeds.ts";
import { RefusalTimes } from "./refusal-times.ts";
import { StalenessWatch } from "./staleness.ts";
import { Turns } from "./turn.ts";

export type ControllerOptions = {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly provider: InstanceProvider;
  readonly rules: readonly Rule[];
  readonly settings: Settings;
  /** What a pool without `repair` means (decision 5). Default: the provider's defaults. */
  readonly repairUnset?: "on" | "off";
  /** Rules of others are not asked. */
  readonly controllers: ReadonlySet<ControllerName>;
  readonly leadership: Leadership;
  readonly journal: (entry: JournalEntry) => void;
  /** Between 0 and 1. Absent: nothing is left to chance. */
  readonly random?: () => number;
  /** Told how long each turn took, for measuring. */
  readonly turned?: (durationMs: number) => void;
};

export type Controller = {
  readonly picture: Picture;
  readonly counts: Readonly<Counts>;
  /** Commands that run now, and subjects that wait because so many do. */
  readonly runningCount: number;
  readonly waitingCount: number;
  /** The term whose turns are made; undefined: we do not lead, or have not yet read the ledger. */
  readonly epoch: number | undefined;
  /** How many nodes each pool has and how many of them are sick, as the leader counts them. */
  readonly health: Health;
  /** Of what stands now, about a subject or all. */
  refusals(subject?: Subject): readonly Refusal[];
  /** Since when it stands; undefined: it does not. */
  refusedSince(refusal: Refusal): Instant | undefined;
  decisionOf(rule: string, subject: Subject): Decision | undefined;
  /** Whoever looks for another controller of our kinds says what it finds; undefined: there is none, or none any more. */
  setRival(rival: Rival | undefined): void;
  /** Whoever sees the API server's clock says how far ours is ahead of it, negative: behind; undefined: they agree. */
  setClockAhead(aheadMs: Millis | undefined): void;
  /** Compares what stands with a look from scratch; each difference is a sentence. */
  verify(): string[];
  /** Nothing runs, and nothing happens before something changes or an instant comes. */
  whenIdle(): Promise<void>;
  /** Begins nothing more; resolves when what is in hand has ended. Whoever comes next goes on from the objects. */
  stop(): Promise<void>;
};

export function startController(options: ControllerOptions): Controller {
  return new Shell(options);
}

const afterFailureMs = 10 * secondMs;
const electionRetryMs = 2 * secondMs;
const ledgerTimeoutMs = minuteMs;
const forgetEveryMs = minuteMs;

class Shell implements Controller {
  readonly picture: ClusterPicture;
  readonly counts = zeroCounts();
  readonly #options: ControllerOptions;
  readonly #turns: Turns;
  readonly #dispatch: Dispatch;
  readonly #events: Events;
  readonly #loop: Loop;
  readonly #kinds: readonly WatchedKind[];
  /** Where health checks are on. */
  readonly #remediations: RemediationFeeds | undefined;
  readonly #staleness: StalenessWatch;
  readonly #refusalTimes = new RefusalTimes();
  #epoch: number | undefined;
  /** Under which number it acts: that of the lease, or a higher one (leader.ts `termNumber`). */
  #term = 0;
  /** The term that is about to begin, or has begun. */
  #elected: number | undefined;
  #isBeginning = false;
  /** Outside a term: all nodes were looked at since everything was listed. */
  #isUpToDate = false;
  #isStopped = false;
  #forgetAt = Number.NEGATIVE_INFINITY;
  #whenIdle: (() => void)[] = [];
  /** Of the clock that never jumps. */
  #wallAheadMs: Millis;

  constructor(options: ControllerOptions) {
    const {
      api,
      clock,
      feed,
      provider,
      rules,
      controllers,
      leadership,
      journal,
      repairUnset = "on",
      random = () => 0.5,
    } = options;
    const { counts } = this;
    this.#wallAheadMs = clock.now() - clock.monotonic();
    const findsPlaces = controllers.has("provisioning") && controllers.has("disruption");
    const isChecking = controllers.has("health-checks");
    const among = {
      repairs: controllers.has("repair"),
      checks: isChecking,
      remediates: controllers.has("remediators"),
    };
    const settings = { ...options.settings, findsPlaces, ...among };
    this.#options = { ...options, settings };
    const picture = new ClusterPicture(provider.view, { repairUnset, now: () => clock.now() });
    this.picture = picture;
    const wake = () => this.#loop.wake();
    this.#turns = new Turns(
      picture,
      rules.filter(({ controller }) => controllers.has(controller)),
      {
        refused: refusal => {
          increment(counts.refusals, refusal.code);
          this.#refusalTimes.refused(refusal, clock.now());
          journal({ at: clock.now(), event: "refused", refusal });
        },
        lifted: refusal => {
          this.#refusalTimes.lifted(refusal, this.refusals(refusal.subject));
          journal({ at: clock.now(), event: "lifted", refusal });
        },
        asked: () => counts.asked++,
        compared: subjectCount => (counts.compared += subjectCount),
      },
    );
    const common = { picture, api, provider, clock, settings, leadership, counts, journal, random };
    const remembering = (context: Context) => this.#turns.remembering(context);
    this.#dispatch = new Dispatch({ ...common, remembering, changed: wake });
    this.#events = new Events({ api, clock, counts: counts.events });
    this.#loop = new Loop(
      clock,
      () => this.#turn(),
      () => this.#dispatch.lanes.crowdedMs,
    );
    const changed = () => this.#fed();
    const kinds = startFeeds(feed, picture, {
      changed,
      nodeSeen: seen => {
        this.#followClock();
        this.#turns.observe(seen, clock.now());
      },
      isSearching: controllers.has("provisioning") || controllers.has("disruption"),
    });
    const isRemediating = isChecking || settings.remediates;
    this.#remediations = isRemediating
      ? new RemediationFeeds({ api, feed, clock, picture, isLeading: () => this.#epoch !== undefined, changed })
      : undefined;
    this.#kinds = [...kinds, ...(this.#remediations?.kinds ?? [])];
    this.#staleness = new StalenessWatch({ clock, kinds: this.#kinds, changed: found => this.#aged(found) });
    provider.onChange(() => {
      picture.providerChanged();
      wake();
    });
    leadership.onChange(() => this.#lead());
    this.#lead();
  }

  get epoch(): number | undefined {
    return this.#epoch;
  }

  get health(): Health {
    return this.#turns.health;
  }

  get runningCount(): number {
    return this.#dispatch.lanes.runningCount;
  }

  get waitingCount(): number {
    return this.#dispatch.lanes.waitingForRoomCount;
  }

  refusals(subject?: Subject): readonly Refusal[] {
    return this.#turns.standing.refusals(subject);
  }

  refusedSince(refusal: Refusal): Instant | undefined {
    return this.#refusalTimes.since(refusal);
  }

  decisionOf(rule: string, subject: Subject): Decision | undefined {
    return this.#turns.standing.get(rule, subject);
  }

  setRival(rival: Rival | undefined): void {
    this.picture.setRival(rival);
    this.#loop.wake();
  }

  setClockAhead(aheadMs: Millis | undefined): void {
    this.picture.setClockAhead(aheadMs);
    this.#loop.wake();
  }

  verify(): string[] {
    return this.#epoch === undefined ? [] : this.#turns.verify(this.#context());
  }

  whenIdle(): Promise<void> {
    return new Promise(resolve => {
      this.#whenIdle.push(resolve);
      this.#loop.wake();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#loop.stop();
    this.#staleness.stop();
    await this.#dispatch.stop();
    for (const { fed } of this.#kinds) fed.stop();
    this.#remediations?.stop();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #turn(): Instant | undefined {
    const { clock } = this.#options;
    this.#followClock();
    this.#staleness.look();
    if (this.#isStopped) return undefined;
    if (this.#epoch === undefined) {
      this.#follow();
      void this.#begin();
    } else {
      const startedAt = clock.monotonic();
      this.#decideAndSend(this.#epoch);
      const durationMs = clock.monotonic() - startedAt;
      countTurn(this.counts, durationMs);
      this.#options.turned?.(durationMs);
    }
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
    // Outside a term nobody is asked, whatever the end of an earlier one's commands asks for.
    if (this.#epoch === undefined) return undefined;
    return earliest(this.#turns.nextAt, this.#dispatch.lanes.nextAt);
  }

  /** Before anything is seen or judged by a clock that was set forward. That it was set back a turn sees by itself. */
  #followClock(): void {
    const { clock } = this.#options;
    const now = clock.now();
    const jumpMs = now - clock.monotonic() - this.#wallAheadMs;
    this.#wallAheadMs += jumpMs;
    if (jumpMs > secondMs) this.#turns.setForward(jumpMs, now);
  }

  /** A term begins with a look at everything: until then nobody is asked about what changed. */
  #follow(): void {
    const changed = this.picture.takeDirty();
    const isWhole = this.#isListed;
    // Of a part of the nodes a few are many, and without their claims nobody can tell which of them only boot.
    if (isWhole)
      this.#turns.review(this.#isUpToDate ? changed : this.picture.subjects("node"), this.#options.clock.now());
    this.#isUpToDate = isWhole;
  }

  #decideAndSend(epoch: number): void {
    const context = this.#context();
    const { now } = context;
    const { asked, offered } = this.#dispatch.ready();
    this.#turns.ask(asked);
    this.#turns.offer(offered);
    try {
      const standing = this.#turns.decide(context);
      this.#turns.say("rules", []);
      this.#dispatch.send(standing, { epoch, now });
      for (const { decision } of standing) {
        for (const notice of this.#dispatch.tellable(decision)) this.#note(notice, now);
      }
    } catch (error) {
      this.#failed(error);
    }
    if (this.#dispatch.lanes.hasRoomForWaiting) this.#loop.wake();
    this.#forget(now);
  }

  /** Most of what comes by the watches in a quiet hour is seen by no rule, or was known by an answer to us. */
  #fed(): void {
    const isBegun = this.#epoch !== undefined && this.picture.staleness === undefined;
    if (!isBegun || this.#turns.hasNews) this.#loop.wake();
  }

  #note(notice: Notice, at: Instant): void {
    if (this.#events.note(notice)) this.#options.journal({ at, event: "noticed", notice });
  }

  /** A broken rule: nothing is sent on what it may have left half decided. */
  #failed(error: unknown): void {
    this.counts.ruleFailures++;
    const message = `A rule failed, so nothing is begun: ${error instanceof Error ? error.message : String(error)}`;
    const liftedBy = "a change of what it could not judge, or a newer version; it is tried again every 10 s";
    this.#turns.say("rules", [{ subject: "cluster", code: "rule-failed", message, liftedBy }]);
    this.#loop.pause(afterFailureMs);
  }

  #aged(staleness: Staleness | undefined): void {
    this.picture.setStaleness(staleness);
    if (this.#epoch !== undefined) this.#sayStaleness();
    this.#loop.wake();
  }

  #sayStaleness(): void {
    const { staleness } = this.picture;
    const liftedBy = "the watch catching up with the API server";
    const refusals = staleness
      ? [{ subject: "cluster" as const, code: "picture-stale", message: staleness.message, liftedBy }]
      : [];
    this.#turns.say("picture", refusals);
  }

  /** Whoever leads, and in which term, has changed. */
  #lead(): void {
    const { leadership, clock, journal } = this.#options;
    if (leadership.epoch === this.#elected) return;
    if (this.#epoch !== undefined) {
      const message = "This term as leader is over: nothing more is begun in it.";
      journal({ at: clock.now(), event: "following", epoch: this.#epoch, message });
    }
    this.#elected = leadership.epoch;
    this.#epoch = undefined;
    this.#isUpToDate = false;
    this.#turns.end();
    this.#refusalTimes.clear();
    this.#dispatch.reset();
    this.#loop.wake();
  }

  /** A term begins once every kind is listed and the ledger has been read as it is now. */
  async #begin(): Promise<void> {
    const { api, clock, journal, settings, leadership } = this.#options;
    const epoch = this.#elected;
    if (epoch === undefined || this.#isBeginning || !this.#isListed) return;
    this.#isBeginning = true;
    const abort = new AbortController();
    const cancel = clock.after(ledgerTimeoutMs, () => abort.abort(new Error("The ledger could not be read in time.")));
    const mark = this.#remediations && settings.defaultCheck?.mark;
    const isRead = await Promise.all([
      readLedger(api, this.picture, abort.signal),
      mark && readDefaultMark({ api, picture: this.picture, signal: abort.signal }, mark),
    ]).then(
      () => true,
      () => false,
    );
    cancel();
    this.#isBeginning = false;
    if (!isRead) this.#loop.pause(electionRetryMs);
    else if (epoch === this.#elected && !this.#isStopped) {
      if (leadership.ledUntil !== undefined) this.picture.podEvents.followOn(leadership.ledUntil);
      this.#remediations?.look();
      this.#epoch = epoch;
      this.#term = termNumber(epoch, this.picture.actions());
      this.#turns.askAll(clock.now());
      this.#sayStaleness();
      const message = `Leads: actions, claims and nodes were read anew; ${[...this.picture.openActions()].length} actions are open.`;
      journal({ at: clock.now(), event: "leading", epoch, message });
    }
    this.#loop.wake();
  }

  get #isListed(): boolean {
    return this.#kinds.every(({ fed }) => fed.synced);
  }

  #isIdle(): boolean {
    const isSettled = this.#elected === this.#epoch;
    return isSettled && !this.#loop.isWoken && this.#dispatch.lanes.runningCount === 0;
  }

  #context(): Context {
    const { clock, settings } = this.#options;
    return { picture: this.picture, now: clock.now(), settings, epoch: this.#term };
  }

  #forget(now: Instant): void {
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + forgetEveryMs;
    for (const lane of this.#dispatch.lanes.forget()) this.picture.setFailure(lane, undefined);
  }
}

function earliest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined ? b : Math.min(a, b ?? a);
}
