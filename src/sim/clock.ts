// Virtual time: it stands still until told to run, and every timer sees its own instant. The same timers asked for in
// the same order always run in the same order.

import type { Clock } from "../control/ports.ts";

/** Virtual time shares its process: with signals, sockets and a test runner that waits for a sign of life. */
const stepsPerLoopTurn = 256;

/** `run` is undefined once it is cancelled. */
type Timer = { at: number; order: number; run: (() => void) | undefined };

export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  #stepCount = 0;
  /** A binary heap by (at, order): a cluster has a timer per lease and watch, so no re-sorting. */
  readonly #heap: Timer[] = [];
  /** What was asked for at the very instant at which it is due, as most is: in order anyway, and not worth a heap. */
  readonly #atOnce: Timer[] = [];
  #atOnceTaken = 0;
  readonly #startedAt: number;

  constructor(startAt: number) {
    this.#now = startAt;
    this.#startedAt = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  after(delayMs: number, run: () => void): () => void {
    // Whole milliseconds, as the wall clock of a real machine has them: a wait of less would let time stand still.
    const timer: Timer = { at: this.#now + Math.max(0, Math.ceil(delayMs)), order: this.#order++, run };
    if (timer.at === this.#now) this.#atOnce.push(timer);
    else push(this.#heap, timer);
    // A cancelled timer stays in the heap until its time: it costs less than finding it.
    return () => {
      timer.run = undefined;
    };
  }

  /**
   * Runs everything due up to and including `end`; what a timer starts by promises is settled before the next one.
   * `stepped` is called after each; "stop" ends the run there.
   */
  async runUntil(end: number, stepped?: () => "stop" | undefined): Promise<void> {
    await loopTurned();
    for (let timer = this.#take(end); timer !== undefined; timer = this.#take(end)) {
      const { at, run } = timer;
      // Nothing happens then, so nothing is to be settled: of a day's timers more than half are never wanted.
      if (run === undefined) continue;
      this.#now = Math.max(this.#now, at);
      run();
      await (++this.#stepCount % stepsPerLoopTurn === 0 ? loopTurned() : settled());
      if (stepped?.() === "stop") return;
    }
    this.#now = Math.max(this.#now, end);
  }

  /** The next one, unless it is due after `end`. Time does not go on before all that is due at once has run. */
  #take(end: number): Timer | undefined {
    const first = this.#heap[0];
    const atOnce = this.#atOnce[this.#atOnceTaken];
    if (atOnce !== undefined && (first === undefined || isBefore(atOnce, first))) {
      if (atOnce.at > end) return undefined;
      this.#atOnceTaken++;
      if (this.#atOnceTaken === this.#atOnce.length) this.#atOnceTaken = this.#atOnce.length = 0;
      return atOnce;
    }
    if (first === undefined || first.at > end) return undefined;
    pop(this.#heap);
    return first;
  }

  async runFor(durationMs: number): Promise<void> {
    await this.runUntil(this.#now + durationMs);
  }
}

/** All promise reactions that are ready have run: Node asks for its next ticks when no more of them are left. */
function settled(): Promise<void> {
  return new Promise(resolve => process.nextTick(resolve));
}

/** The same, and everybody else in this process had a turn. */
function loopTurned(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Timer; // parent < at, so it exists
    if (!isBefore(timer, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    // Both indices are below heap.length where they are read.
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++;
    if (!isBefore(heap[child] as Timer, last)) break;
    heap[at] = heap[child] as Timer;
    at = child;
  }
  heap[at] = last;
}
