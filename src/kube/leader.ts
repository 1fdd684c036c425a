// One leader among several processes, by a Lease. A lease is taken only after our own monotonic clock has seen it
// unchanged for its whole duration; our own term ends, for every write of ours (the fence), one duration after the start
// of the last renewal that was answered. So whoever leads next has started after our last write ended.

import { ApiError } from "../api/status.ts";
import type { Clock, Fence, KubeApi, ObjectKey } from "../control/ports.ts";
import {
  acquired,
  isFree,
  isSameTerm,
  type Lease,
  LEASES,
  type Observed,
  observe,
  released,
  renewed,
  renewedAtOf,
  withSpec,
} from "./lease.ts";

export type ElectionOptions = {
  /** Not fenced: a renewal must go out however little is left. */
  api: Pick<KubeApi, "get" | "create" | "update">;
  clock: Clock;
  lease: ObjectKey & { namespace: string };
  /** Of this process alone, also after a restart: a host name is not enough. */
  identity: string;
  /** Whole seconds. */
  durationMs?: number;
  /** A leader that could not renew for this long steps down, well before others may take over. */
  renewWithinMs?: number;
  retryMs?: number;
  /** The number of the term where there is no lease. Default 0: whoever remembers terms longer than the lease says more. */
  firstTerm?: () => number;
  handlers: {
    /** `epoch` grows with every term of anybody. */
    elected(epoch: number): void;
    lost(reason: string): void;
  };
  random?: () => number;
};

type Instant = { monotonic: number; wall: number };
type Term = { lease: Lease; renewedAt: Instant };
type Write = { settledBy: number };
type Outcome = { won?: Term; lost?: string; error?: Error };

export class LeaderElection {
  readonly fence: Fence;
  readonly #options: Required<Omit<ElectionOptions, "random">> & { random: () => number };
  readonly #unanswered = new Set<Write>();
  #observed: Observed | undefined;
  /** The first look at the lease has been, and what it said of whoever led before us. */
  #hasLooked = false;
  #ledUntil: number | undefined;
  #term: Term | undefined;
  #turn: Promise<void> = Promise.resolve();
  #stopped = false;
  #lastError: Error | undefined;
  #cancelTurn = (): void => {};
  #cancelStepDown = (): void => {};
  #writeSettled = (): void => {};

  constructor(options: ElectionOptions) {
    this.#options = {
      durationMs: 15_000,
      renewWithinMs: 10_000,
      retryMs: 2_000,
      firstTerm: () => 0,
      random: Math.random,
      ...options,
    };
    const { durationMs, renewWithinMs, retryMs } = this.#options;
    if (durationMs % 1000 !== 0 || !(durationMs > renewWithinMs && renewWithinMs > retryMs)) {
      throw new TypeError("A lease lasts whole seconds, longer than renewWithinMs, which is longer than retryMs.");
    }
    const epochNow = (): number | undefined => this.epoch;
    this.fence = {
      get epoch() {
        return epochNow();
      },
      remainingMs: () => this.#remainingMs(),
      enter: () => this.#enter(),
    };
    this.#next(0);
  }

  /** Of our term; undefined while another leads or may lead. */
  get epoch(): number | undefined {
    return this.#term?.lease.spec?.leaseTransitions;
  }

  /** When whoever led before we began to look last renewed, by the lease's own word. Undefined: it says nothing. */
  get ledUntil(): number | undefined {
    return this.#ledUntil;
  }

  /** Who leads as far as we have seen. */
  get holder(): string | undefined {
    return (this.#term?.lease ?? this.#observed?.lease)?.spec?.holderIdentity;
  }

  /** Why the last look at the lease, or the last renewal, failed. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Ends our term and gives the lease back, once every write that went out under it is answered or cannot land. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTurn();
    this.#cancelStepDown();
    await this.#turn;
    const term = this.#term;
    this.#term = undefined;
    if (term === undefined) return;
    await this.#writesSettled();
    const { api, clock, lease, retryMs } = this.#options;
    try {
      const spec = released(term.lease, clock.now());
      await api.update(LEASES, lease, withSpec(term.lease, spec), { timeoutMs: retryMs });
    } catch (error) {
      // The next leader then waits for the lease to run out.
      this.#lastError = asError(error);
    }
  }

  #next(delayMs: number): void {
    if (this.#stopped) return;
    this.#cancelTurn = this.#options.clock.after(delayMs, () => {
      this.#turn = this.#runTurn();
    });
  }

  async #runTurn(): Promise<void> {
    const { retryMs, random } = this.#options;
    const { won, lost, error } = await this.#attempt(this.#term);
    this.#lastError = error;
    // Won while stopping: only to be given back, so nobody is told.
    if (won !== undefined && this.#stopped) this.#term = won;
    else if (won !== undefined) this.#elected(won);
    else if (lost !== undefined && this.#term !== undefined) this.#lose(lost);
    // Candidates do not all look in the same instant.
    this.#next(this.#term === undefined ? retryMs * (1 + 1.2 * random()) : retryMs);
  }

  async #attempt(term: Term | undefined): Promise<Outcome> {
    try {
      return await (term === undefined ? this.#acquire() : this.#renew(term));
    } catch (error) {
      return { error: asError(error) };
    }
  }

  async #acquire(): Promise<Outcome> {
    const { api, clock, lease: key, identity, durationMs, retryMs, firstTerm } = this.#options;
    const current = await this.#read();
    const now = clock.monotonic();
    if (!this.#hasLooked) this.#ledUntil = renewedAtOf(current);
    this.#hasLooked = true;
    if (current !== undefined) this.#observed = observe(this.#observed, current, now);
    // That it was deleted under its holder's feet changes nothing: the holder writes until its term is over.
    if (this.#observed !== undefined && !isFree(this.#observed, now, durationMs)) return {};

    const renewedAt = this.#instant();
    const spec = acquired(this.#observed?.lease, { identity, durationMs, now: clock.now(), firstTerm: firstTerm() });
    const options = { timeoutMs: retryMs * 2 };
    const manifest = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...key }, spec };
    const lease =
      current === undefined
        ? await api.create<Lease>(LEASES, { namespace: key.namespace }, manifest, options)
        : await api.update<Lease>(LEASES, key, withSpec(current, spec), options);
    return { won: { lease, renewedAt } };
  }

  async #renew(term: Term): Promise<Outcome> {
    const { api, clock, lease: key, retryMs } = this.#options;
    const renewedAt = this.#instant();
    const spec = renewed(term.lease, clock.now());
    try {
      const lease = await api.update<Lease>(LEASES, key, withSpec(term.lease, spec), { timeoutMs: retryMs * 2 });
      // Stepped down meanwhile: the lease stays ours in name until it runs out.
      if (this.#term === term) this.#hold({ lease, renewedAt });
      return {};
    } catch (error) {
      if (!(error instanceof ApiError) || (error.code !== 409 && error.code !== 404)) throw error;
    }
    const lease = await this.#read();
    if (this.#term !== term) return {};
    if (lease !== undefined && isSameTerm(lease, term.lease)) {
      // An earlier renewal of ours landed though its answer did not come: go on from its version.
      this.#term = { ...term, lease };
      return this.#renew(this.#term);
    }
    if (lease !== undefined) this.#observed = observe(this.#observed, lease, clock.monotonic());
    const holder = lease?.spec?.holderIdentity;
    return { lost: holder === undefined ? "The lease was deleted or given away." : `${holder} holds the lease now.` };
  }

  async #read(): Promise<Lease | undefined> {
    const { api, lease, retryMs } = this.#options;
    try {
      return await api.get<Lease>(LEASES, lease, { timeoutMs: retryMs * 2 });
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }

  #elected(term: Term): void {
    this.#hold(term);
    this.#options.handlers.elected(term.lease.spec?.leaseTransitions ?? 0);
  }

  #hold(term: Term): void {
    const { clock, renewWithinMs } = this.#options;
    this.#term = term;
    this.#observed = { lease: term.lease, since: clock.monotonic() };
    this.#cancelStepDown();
    const leftMs = Math.max(0, term.renewedAt.monotonic + renewWithinMs - clock.monotonic());
    this.#cancelStepDown = clock.after(leftMs, () => this.#lose(`Not renewed for ${renewWithinMs} ms.`));
  }

  #lose(reason: string): void {
    this.#cancelStepDown();
    this.#term = undefined;
    this.#options.handlers.lost(reason);
  }

  #remainingMs(renewedAt = this.#term?.renewedAt): number {
    if (renewedAt === undefined || this.#stopped) return 0;
    const now = this.#instant();
    // The monotonic clock stands still while the machine is suspended, the wall clock does not; and a wall clock that is
    // set forward costs at most the time to the next renewal.
    const elapsedMs = Math.max(now.monotonic - renewedAt.monotonic, now.wall - renewedAt.wall);
    return this.#options.durationMs - elapsedMs;
  }

  #enter(): () => void {
    const now = this.#options.clock.monotonic();
    for (const old of this.#unanswered) if (old.settledBy <= now) this.#unanswered.delete(old);
    const write: Write = { settledBy: now + this.#remainingMs() };
    this.#unanswered.add(write);
    return () => {
      this.#unanswered.delete(write);
      this.#writeSettled();
    };
  }

  #writesSettled(): Promise<void> {
    const { clock } = this.#options;
    return new Promise(resolve => {
      let cancel = (): void => {};
      this.#writeSettled = () => {
        cancel();
        const now = clock.monotonic();
        const waitsUntil = Math.max(now, ...[...this.#unanswered].map(write => write.settledBy));
        if (waitsUntil <= now) resolve();
        else cancel = clock.after(waitsUntil - now, this.#writeSettled);
      };
      this.#writeSettled();
    });
  }

  #instant(): Instant {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
