// Runs a scenario: the cluster in the box with everything alive in it, the machines, and the controller itself on
// virtual time. The same seed, scenario and code give the same journal, byte for byte.

import { ApiError } from "../../api/status.ts";
import { type Controller, type ControllerOptions, startController } from "../../control/controller.ts";
import type { Clock, Feed, InstanceProvider, KubeApi } from "../../control/ports.ts";
import { controllers, type JournalEntry } from "../../decide/decision.ts";
import { rules } from "../../decide/rules.ts";
import type { ApiServer } from "../api-server.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { InProcessApi } from "../in-process.ts";
import { machines } from "../machines.ts";
import { type Random, seededRandom } from "../random.ts";
import { withBeats } from "../world/beats.ts";
import { type World, world } from "../world/world.ts";
import { schedule } from "./acts.ts";
import { ActiveFaults } from "./active-faults.ts";
import { Deaths } from "./deaths.ts";
import { disappointment } from "./expectations.ts";
import { Invariants, type VerifyEvery } from "./invariants.ts";
import { type Entry, elapsed, Journal, type WorldEntry } from "./journal.ts";
import { ClusterObjects } from "./objects.ts";
import { observedServer } from "./observed-server.ts";
import type { Process } from "./process.ts";
import { type ApiFault, ProcessApi } from "./process-api.ts";
import { type Leadership, Processes } from "./processes.ts";
import { type ProviderFault, withProviderFaults } from "./provider-faults.ts";
import { durationMs, type Expectation, type Scenario } from "./scenario.ts";
import { type DateReader, dateOf, playRenewals } from "./renewals.ts";
import { joinUnmanaged } from "./unmanaged-nodes.ts";
import { type WatchErrors, WatchLines } from "./watch-lines.ts";

export type SimulateOptions = {
  /** How a process keeps itself up to date (kube/reflector.ts) and where machines come from (provider/). */
  feed: (parts: { api: KubeApi; clock: Clock; random: () => number }) => Feed;
  provider: (parts: { api: KubeApi; clock: Clock; feed: Feed }) => InstanceProvider;
  /** What a process makes of the Date of answers. Default: it does not notice that its clock is wrong. */
  dates?: (clock: Clock) => DateReader;
  /** How the client tells how a watch ended (kube/errors.ts). Default: errors that say nothing of where they are from. */
  watchErrors?: WatchErrors;
  /** Default: the scenario's. */
  seed?: number;
  /** In milliseconds. Default: the scenario's. */
  until?: number;
  /** How often all decisions are made once more from scratch (invariants.ts). Default 1: after every turn. */
  verifyEvery?: VerifyEvery;
  /** In the controller's place: one with something wrong in it. */
  start?: (options: ControllerOptions) => Controller;
};

export type Simulation = {
  readonly journal: readonly string[];
  readonly entries: readonly Entry[];
  readonly verdict: { readonly ok: boolean; readonly problems: readonly string[] };
  /** Of the last process. */
  readonly counts: Controller["counts"];
};

const startedAt = Date.parse("2026-01-01T00:00:00Z");
const clusterName = "simulated";
const defaultCheckMark = { name: "fettle-default-health-check", namespace: "kube-system" };
const watchDelayMaxMs = 2_000;
const latencyMaxMs = 20;
const lookEveryMs = 10 * 60_000;
/** After so many the run has shown what it can. */
const problemsMax = 5;

export async function simulate(scenario: Scenario, options: SimulateOptions): Promise<Simulation> {
  const run = new Run(scenario, options);
  await run.play();
  return run.result();
}

class Run {
  readonly #scenario: Scenario;
  readonly #options: SimulateOptions;
  readonly #seed: number;
  readonly #clock = new VirtualClock(startedAt);
  readonly #server: ApiServer;
  readonly #objects: ClusterObjects;
  readonly #journal = new Journal(startedAt);
  readonly #deaths = new Deaths();
  readonly #problems: string[] = [];
  readonly #watches: WatchLines;
  readonly #apiFaults: ActiveFaults<ApiFault>;
  readonly #providerFaults: ActiveFaults<ProviderFault>;
  readonly #invariants: Invariants;
  readonly #world: World;
  readonly #processes: Processes<Controller>;

  constructor(scenario: Scenario, options: SimulateOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#seed = options.seed ?? scenario.seed ?? 1;
    const clock = this.#clock;
    // Objects are read as values all the time here: none is worth keeping as bytes.
    this.#server = clusterInTheBox({
      clock,
      random: this.#chance(1),
      store: { parsedObjectCountMax: Number.POSITIVE_INFINITY },
    });
    this.#objects = new ClusterObjects(this.#server);
    const { watchErrors: errors } = options;
    this.#watches = new WatchLines(clock, this.#chance(2), { delayMaxMs: watchDelayMaxMs, ...(errors && { errors }) });
    this.#apiFaults = new ActiveFaults(clock, this.#chance(3));
    this.#providerFaults = new ActiveFaults(clock, this.#chance(4));
    const violated = (message: string) => this.#problem("violated", message);
    const around = { watches: this.#watches, objects: this.#objects, apiFaults: this.#apiFaults };
    this.#invariants = new Invariants({ clock, ...around, violated });
    this.#server.store.onChange(({ name }, change) => {
      this.#invariants.changed(name, change);
      this.#deaths.changed(change);
    });
    const api = new InProcessApi(this.#server, clock);
    // Nobody is there to read Events.
    this.#world = world({ api, clock, random: this.#chance(5), options: { recordsEvents: false } });
    machines({ api, clock, kubelets: this.#world.kubelets, seed: this.#seed });
    const start = (process: Process, leadership: Leadership) => this.#start(process, leadership);
    this.#processes = new Processes({ clock, start, tell: (event, message) => this.#tell(event, message) });
    this.#invariants.watch(this.#processes);
  }

  async play(): Promise<void> {
    const { cluster = {}, workloads = [], timeline = [], expect = [], until } = this.#scenario;
    const endAt = startedAt + (this.#options.until ?? durationMs(until));
    const { verifyEvery = 1 } = this.#options;
    try {
      for (const node of cluster.nodes ?? []) joinUnmanaged(this.#world, node);
      for (const manifest of [...(cluster.manifests ?? []), ...workloads]) this.#objects.apply(manifest);
      for (const entry of timeline) schedule(this.#stage(), entry);
      for (const expectation of expect.filter(({ at }) => at !== undefined)) this.#expectLater(expectation);
      this.#lookAgain();
      await this.#clock.runUntil(endAt, () => {
        this.#invariants.stepped(verifyEvery);
        return this.#problems.length >= problemsMax ? "stop" : undefined;
      });
      if (verifyEvery === "in proportion") this.#invariants.verify();
      for (const expectation of expect.filter(({ at }) => at === undefined)) this.#expect(expectation);
      for (const { at } of expect) if (at !== undefined && startedAt + durationMs(at) > endAt) this.#unjudged(at);
    } catch (error) {
      const said = error instanceof Error ? error.stack : String(error);
      const isRefused = error instanceof ApiError;
      const problem = isRefused
        ? `an object of the scenario is refused: ${error.message}`
        : `the program broke: ${said}`;
      this.#problem("violated", problem);
    }
  }

  result(): Simulation {
    const problems = this.#problems;
    const { counts } = this.#processes.program;
    const verdict = { ok: problems.length === 0, problems };
    return { journal: this.#journal.lines(), entries: this.#journal.entries, verdict, counts };
  }

  #start(process: Process, leadership: Leadership): Controller {
    const { feed, provider, start = startController } = this.#options;
    const clock = this.#clock;
    const random = this.#chance(100 + process.epoch);
    const fraction = () => random() / 2 ** 32;
    const server = new InProcessApi(observedServer(this.#server, process, this.#invariants), clock);
    const faults = this.#apiFaults;
    const reader = this.#options.dates?.(process);
    const dated = reader && ((writtenAt: number, sentAt: number) => reader.answered(dateOf(writtenAt), sentAt));
    const heard = dated ? { dated } : {};
    const parts = { clock, process, random, faults, watches: this.#watches, latencyMaxMs, ...heard };
    const api = new ProcessApi({ api: withBeats(server, () => clock.now()), ...parts });
    const ownFeed = feed({ api, clock: process, random: fraction });
    // Clouds know the time, whatever a process takes it to be.
    const cloud = { now: () => clock.now(), monotonic: () => clock.monotonic(), after: process.after.bind(process) };
    const {
      dryRun = false,
      disruption = true,
      defaultHealthCheck = false,
      foreignClaims = "ignore",
      repairUnset = "on",
    } = this.#scenario.controller ?? {};
    const controller = start({
      api,
      clock: reader === undefined ? process : readBy(reader, process),
      feed: ownFeed,
      provider: withProviderFaults(provider({ api, clock: cloud, feed: ownFeed }), this.#providerFaults),
      rules,
      settings: {
        cluster: clusterName,
        dryRun,
        foreignClaims,
        ...(defaultHealthCheck ? { defaultCheck: { isWanted: true, mark: defaultCheckMark } } : {}),
      },
      repairUnset,
      controllers: new Set(controllers.filter(name => disruption || name !== "disruption")),
      leadership,
      // At the world's time, which its clock may have wrong.
      journal: (entry: JournalEntry) => this.#journal.add({ ...entry, at: clock.now() }),
      random: fraction,
    });
    if (reader) playRenewals(reader, { server: clock, process }, aheadMs => controller.setClockAhead(aheadMs));
    return controller;
  }

  #stage(): Parameters<typeof schedule>[0] {
    return {
      clock: this.#clock,
      startedAt,
      objects: this.#objects,
      processes: this.#processes,
      apiFaults: this.#apiFaults,
      watches: this.#watches,
      providerFaults: this.#providerFaults,
      tell: (event, message) => this.#tell(event, message),
      failed: message => this.#problem("expected", message),
    };
  }

  #expectLater(expectation: Expectation): void {
    this.#clock.after(durationMs(expectation.at ?? "0s"), () => this.#expect(expectation));
  }

  /** The run was made shorter than its scenario: nobody may take that for having held. */
  #unjudged(at: string): void {
    this.#problem("expected", `what must hold at ${at} was not judged: the run ends before`);
  }

  #expect(expectation: Expectation): void {
    const missed = this.#disappointment(expectation);
    if (missed !== undefined) this.#problem("expected", missed);
  }

  /** What nobody can look for is a mistake of the scenario, as an act on it is (acts.ts). */
  #disappointment(expectation: Expectation): string | undefined {
    try {
      return disappointment(expectation, {
        objects: this.#objects,
        refusals: () => this.#processes.program.refusals(),
        lines: () => this.#journal.lines(),
        harmed: kind => this.#deaths.of(kind),
      });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #lookAgain(): void {
    this.#clock.after(lookEveryMs, () => {
      this.#invariants.look();
      this.#watches.mark(String(this.#server.store.revision));
      this.#lookAgain();
    });
  }

  #problem(event: "violated" | "expected", message: string): void {
    this.#tell(event, message);
    this.#problems.push(`${elapsed(this.#clock.now() - startedAt)} ${message}`);
  }

  #tell(event: WorldEntry["event"], message: string): void {
    this.#journal.add({ at: this.#clock.now(), event, message });
  }

  /** Chance for one purpose: what one part draws does not move what another one draws. */
  #chance(purpose: number): Random {
    return seededRandom(Math.imul(this.#seed, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca6b));
  }
}

function readBy(reader: DateReader, process: Process): Clock {
  return { now: () => reader.now(), monotonic: () => process.monotonic(), after: process.after.bind(process) };
}
