// What becomes of decided commands: shown only, held back, or sent; and what the picture and the journal learn of their
// end. In a dry run nothing is written but its records, and on actions that it holds them; on a stale picture nothing
// destructive is begun.

import type { Instant } from "../api/time.ts";
import {
  type Command,
  type Context,
  type Decision,
  destructiveKinds,
  type JournalEntry,
  type Notice,
  type Outcome,
  type Settings,
} from "../decide/decision.ts";
import { laneOf } from "../decide/lane.ts";
import { dryRunOfAll, saysDryRun } from "../decide/dry-run.ts";
import { isDryRun } from "../decide/ledger.ts";
import { startHold } from "../decide/start-hold.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Subject } from "../snapshot/picture.ts";
import { type Counts, increment } from "./counts.ts";
import { execute } from "./execute.ts";
import { guardedApi, guardedProvider } from "./guard.ts";
import { type Ended, type Errand, laidOver, Lanes, urgencyOf } from "./lanes.ts";
import { LeaseLooks } from "./lease-looks.ts";
import type { Leadership } from "./leader.ts";
import type { Clock, InstanceProvider, KubeApi } from "./ports.ts";
import { RecentReads } from "./recent-reads.ts";
import { Searches } from "./searches.ts";
import type { Standing } from "./standing.ts";
import { aheadMax, StartLooks } from "./start-looks.ts";

type DispatchOptions = {
  readonly api: KubeApi;
  readonly provider: InstanceProvider;
  readonly clock: Clock;
  readonly picture: ClusterPicture;
  readonly settings: Settings;
  readonly leadership: Leadership;
  readonly counts: Counts;
  readonly journal: (entry: JournalEntry) => void;
  readonly random: () => number;
  /** As the turns judge: with what they remember, and what holds starts. */
  readonly remembering: (context: Context) => Context;
  /** The picture shows more than before: a turn is due. */
  readonly changed: () => void;
};

type Term = { readonly epoch: number; readonly now: Instant };

/** Why a command is decided and not sent. */
type Hold = "dry-run" | "stale";

export class Dispatch {
  readonly lanes: Lanes;
  readonly #options: DispatchOptions;
  /** Whose commands are held back. */
  readonly #held = new Set<Subject>();
  /** What a dry run has shown already, by rule and subject. */
  readonly #shown = new Map<string, ReadonlySet<string>>();
  #holding: readonly Hold[] = [];
  /** Somebody waits for room. */
  #isCrowded = false;
  readonly #searches: Searches;
  readonly #leaseLooks = new LeaseLooks();
  readonly #recentReads: RecentReads;
  readonly #startLooks: StartLooks;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#searches = new Searches(options.picture);
    this.#recentReads = new RecentReads(options.clock);
    const { clock, random, leadership, picture } = options;
    this.#startLooks = new StartLooks({ clock, picture, next: () => this.lanes.next(aheadMax) });
    this.lanes = new Lanes({
      clock,
      random,
      taken: ({ command }) => this.#expect(command),
      mayBegin: errand => leadership.epoch === errand.epoch && this.#mayBegin(errand),
      run: (errand, signal) => this.#execute(errand, signal),
      // What an earlier term left open is told by the lists that begin the next.
      mayResend: ({ epoch }) => leadership.epoch === epoch,
      ended: ended => this.#ended(ended),
    });
  }

  /**
   * Sends again what must be, and says who is to be asked: those who were held back or whose lane was busy, and no longer
   * are. What stands for those who only waited for room is offered again.
   */
  ready(): { readonly asked: readonly Subject[]; readonly offered: readonly Subject[] } {
    const { subjects, unresolved } = this.lanes.ready();
    for (const errand of unresolved) {
      if (this.#hold(errand.command) === undefined) this.lanes.offer(errand);
      else this.lanes.postpone(errand);
    }
    this.#isCrowded = this.lanes.waitingForRoomCount > 0;
    return { asked: [...this.#released(), ...subjects], offered: this.lanes.takeForRoom() };
  }

  /** What stands anew. Where there is not room for all of it, the most urgent first. */
  send(standing: readonly Standing[], { epoch, now }: Term): void {
    const { counts, journal } = this.#options;
    const errands: Errand[] = [];
    for (const { rule, subject, decision } of standing) {
      // Nearly all of them, and nothing is to be taken back either.
      if (decision.commands.length === 0 && this.#shown.size === 0) continue;
      const shown: Command[] = [];
      for (const command of decision.commands) {
        const hold = this.#hold(command);
        if (hold !== undefined) this.#held.add(subject);
        if (hold === "dry-run") shown.push(command);
        if (hold === undefined) errands.push({ command, rule, subject, epoch });
      }
      this.#show({ rule, subject }, shown, now);
    }
    const isCrowded = this.#isCrowded || errands.length > this.lanes.room;
    for (const errand of isCrowded
      ? errands.toSorted((a, b) => urgencyOf(a.command) - urgencyOf(b.command))
      : errands) {
      const { command, rule, subject } = errand;
      if (this.lanes.offer(errand)) journal({ at: now, event: "decided", rule, subject, command });
      else counts.withheld++;
    }
  }

  /** What may be told now: not that a pod was asked to leave, or deleted, while that is only shown or held back. */
  tellable({ commands, notices }: Decision): readonly Notice[] {
    if (notices.length === 0) return notices;
    const held = new Set(commands.filter(command => this.#hold(command) !== undefined).map(laneOf));
    return notices.filter(({ about }) => about.kind !== "Pod" || !held.has(`pod/${about.namespace}/${about.name}`));
  }

  /** Nothing more is begun; resolves when what is in hand has ended. */
  stop(): Promise<void> {
    for (const { command } of this.lanes.leaveLine()) this.#options.picture.unexpect(command);
    return this.lanes.idle();
  }

  /** Nothing of an earlier term is pursued. */
  reset(): void {
    for (const { command } of this.lanes.reset()) this.#options.picture.unexpect(command);
    this.#held.clear();
    this.#shown.clear();
  }

  #hold(command: Command): Hold | undefined {
    const { picture, settings } = this.#options;
    if (dryRunOfAll({ picture, settings }) !== undefined && !this.#isOfDryRun(command)) return "dry-run";
    return picture.staleness !== undefined && destructiveKinds.has(command.kind) ? "stale" : undefined;
  }

  /** Whether what has waited in line may be begun: it was decided some time ago. */
  #mayBegin({ command, epoch }: Errand): boolean {
    const { picture, clock, settings, remembering } = this.#options;
    if (this.#hold(command) !== undefined) return false;
    if (command.kind !== "start-action") return true;
    const action = picture.action(command.action.name);
    const context = remembering({ picture, now: clock.now(), settings, epoch });
    return action?.uid === command.action.uid && startHold(action, context) === undefined;
  }

  /** Records of dry runs, questions to the provider, and searches: they change nothing that is real. */
  #isOfDryRun(command: Command): boolean {
    switch (command.kind) {
      case "open-action":
        return command.phase === "DryRun";
      case "update-action":
      case "delete-action": {
        const action = this.#options.picture.action(command.action.name);
        return saysDryRun(command) || (action !== undefined && isDryRun(action));
      }
      case "look-up-instance":
      case "list-instances":
      case "search":
        return true;
      default:
        return false;
    }
  }

  #released(): Subject[] {
    const { picture, settings } = this.#options;
    const isDry = dryRunOfAll({ picture, settings }) !== undefined;
    const holding: Hold[] = [...(isDry ? ["dry-run" as const] : []), ...(picture.staleness ? ["stale" as const] : [])];
    const isSame = holding.join() === this.#holding.join();
    this.#holding = holding;
    if (isSame) return [];
    const released = [...this.#held];
    this.#held.clear();
    return released;
  }

  /** Each once, as long as it is decided. */
  #show({ rule, subject }: Pick<Standing, "rule" | "subject">, commands: readonly Command[], at: Instant): void {
    const key = `${rule} ${subject}`;
    const before = this.#shown.get(key);
    if (commands.length === 0 && before === undefined) return;
    const texts = new Map(commands.map(command => [JSON.stringify(command), command]));
    for (const [text, command] of texts) {
      if (!before?.has(text)) this.#options.journal({ at, event: "decided", rule, subject, command, isShown: true });
    }
    if (texts.size === 0) this.#shown.delete(key);
    else this.#shown.set(key, new Set(texts.keys()));
  }

  #expect(command: Command): void {
    const { picture, clock, changed } = this.#options;
    if (!laidOver.has(command.kind)) return;
    picture.expect(command, clock.now());
    changed();
  }

  #execute({ command, epoch }: Errand, signal: AbortSignal): Promise<Outcome> {
    const { api, provider, picture, clock, settings, leadership, remembering } = this.#options;
    const guard = { signal, isInTerm: () => leadership.epoch === epoch };
    const parts = {
      picture,
      clock,
      settings,
      epoch,
      signal,
      searches: this.#searches,
      leaseLooks: this.#leaseLooks,
      recentReads: this.#recentReads,
      startLooks: this.#startLooks,
      remembering,
    };
    return execute(command, { api: guardedApi(api, guard), provider: guardedProvider(provider, guard), ...parts });
  }

  #ended({ errand, outcome, failureCount, retryAt, isUnresolved }: Ended): void {
    const { picture, clock, counts, journal, changed } = this.#options;
    const { command } = errand;
    const at = clock.now();
    increment(counts.commands, `${command.kind} ${outcome.result}`);
    journal({ at, event: "ended", command, outcome });
    // Either the answer is in the picture by now, or there is nothing to expect.
    if (laidOver.has(command.kind) && !isUnresolved) picture.unexpect(command);
    if (outcome.result === "retry" || outcome.result === "refused") {
      const { reason, message } = outcome;
      picture.setFailure(laneOf(command), { at, retryAt, count: failureCount, reason, message });
    } else if (outcome.result !== "stale") picture.setFailure(laneOf(command), undefined);
    changed();
  }
}
