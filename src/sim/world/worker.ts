// The work of one controller: each key once, in the order in which it came, again later if it failed or asked for it.
// A key is never worked on twice at the same time.

import type { Clock } from "../../control/ports.ts";

export type Failed = (error: unknown, key: string) => void;

export type WorkerOptions = {
  clock: Clock;
  /** Nothing is worked on before: a controller that acts on half a picture makes everything twice. */
  after: Promise<void>;
  sync(key: string): Promise<void>;
  /** Told of every failure; the key is tried again in any case. */
  failed?: Failed;
  /** How many keys at the same time; on a real server one slow answer should not hold up the rest. */
  parallelMax?: number;
};

const retryMinMs = 1000;
const retryMaxMs = 60_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #timerByKey = new Map<string, { at: number; cancel: () => void }>();
  readonly #failuresByKey = new Map<string, number>();
  #isOpen = false;
  #isStopped = false;
  #isScheduled = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    void this.#open(options.after);
  }

  add(key: string): void {
    this.#waiting.add(key);
    this.#schedule();
  }

  /** At that instant of the wall clock. A key has one: the earliest counts, and whoever needs another asks again then. */
  addAt(key: string, at: number): void {
    const { clock } = this.#options;
    const before = this.#timerByKey.get(key);
    if (before !== undefined && before.at <= at) return;
    before?.cancel();
    const cancel = clock.after(at - clock.now(), () => {
      this.#timerByKey.delete(key);
      this.add(key);
    });
    this.#timerByKey.set(key, { at, cancel });
  }

  /** Whether the key will be looked at without being asked for again. */
  isDueLater(key: string): boolean {
    return this.#timerByKey.has(key) || this.#waiting.has(key);
  }

  /** Whether the key is being looked at. */
  isAt(key: string): boolean {
    return this.#running.has(key);
  }

  forget(key: string): void {
    this.#waiting.delete(key);
    this.#failuresByKey.delete(key);
    this.#timerByKey.get(key)?.cancel();
    this.#timerByKey.delete(key);
  }

  stop(): void {
    this.#isStopped = true;
    this.#isOpen = false;
    this.#waiting.clear();
    for (const { cancel } of this.#timerByKey.values()) cancel();
    this.#timerByKey.clear();
  }

  async #open(after: Promise<void>): Promise<void> {
    await after;
    this.#isOpen = !this.#isStopped;
    this.#schedule();
  }

  /** In a turn of its own, so that what comes at the same instant is seen together. */
  #schedule(): void {
    if (!this.#isOpen || this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    this.#options.clock.after(0, () => {
      this.#isScheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    const { parallelMax = 1 } = this.#options;
    // Keys may be taken out of a set while it is walked.
    for (const key of this.#waiting) {
      if (!this.#isOpen || this.#running.size >= parallelMax) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      void this.#work(key);
    }
  }

  async #work(key: string): Promise<void> {
    this.#running.add(key);
    try {
      await this.#options.sync(key);
      this.#failuresByKey.delete(key);
    } catch (error) {
      this.#retry(key, error);
    }
    this.#running.delete(key);
    if (this.#isOpen) this.#fill();
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failuresByKey.get(key) ?? 0) + 1;
    this.#failuresByKey.set(key, failures);
    this.#options.failed?.(error, key);
    if (this.#isOpen)
      this.addAt(key, this.#options.clock.now() + Math.min(retryMaxMs, retryMinMs * 2 ** (failures - 1)));
  }
}
