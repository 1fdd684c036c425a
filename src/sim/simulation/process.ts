// One process of the controller, as the world outside sees it: it runs, stands still, or is dead, and its wall clock may
// be wrong. Whatever the program in it waits for comes through its clock, so a dead one never hears or says anything.

import type { Clock } from "../../control/ports.ts";

/** What becomes of a write at which the process dies. */
export type Cut = "before" | "after";

export class Process implements Clock {
  /** Its term as leader. */
  readonly epoch: number;
  /** By the world's clock. */
  readonly startedAt: number;
  readonly #clock: Clock;
  #state: "running" | "paused" | "dead" = "running";
  /** What came due while it stood still, in order. */
  readonly #held: (() => void)[] = [];
  #jumpMs: number;
  #isFenced = false;
  readonly #onFenced: (() => void)[] = [];
  readonly #onJump: (() => void)[] = [];
  #crash: { writesLeft: number; cut: Cut; died: () => void } | undefined;

  constructor(clock: Clock, epoch: number, jumpMs = 0) {
    this.#clock = clock;
    this.epoch = epoch;
    this.startedAt = clock.now();
    this.#jumpMs = jumpMs;
  }

  /** Another one leads by now; its client keeps its writes back, as the fence of a real one does (src/kube/fence.ts). */
  get isFenced(): boolean {
    return this.#isFenced;
  }

  fence(): void {
    this.#isFenced = true;
    for (const fenced of this.#onFenced) fenced();
  }

  onFenced(fenced: () => void): void {
    this.#onFenced.push(fenced);
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  /** By how much its wall clock is wrong: the machine's, so the next process has it too. */
  get jumpMs(): number {
    return this.#jumpMs;
  }

  now(): number {
    return this.#clock.now() + this.#jumpMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(delayMs: number, run: () => void): () => void {
    let isCancelled = false;
    const fire = () => {
      if (!isCancelled) run();
    };
    const cancel = this.#clock.after(delayMs, () => {
      if (this.#state === "running") fire();
      else if (this.#state === "paused") this.#held.push(fire);
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  jump(byMs: number): void {
    this.#jumpMs += byMs;
    for (const jumped of this.#onJump) jumped();
  }

  onJump(jumped: () => void): void {
    this.#onJump.push(jumped);
  }

  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    for (const run of this.#held.splice(0)) this.after(0, run);
  }

  kill(): void {
    this.#state = "dead";
    this.#held.length = 0;
  }

  /** It dies at its nth write from now on. */
  crashAt(writeCount: number, cut: Cut, died: () => void): void {
    this.#crash = { writesLeft: writeCount, cut, died };
  }

  /** A write goes out: whether the process dies of it, and on which side. */
  writes(): Cut | undefined {
    if (this.#crash === undefined || --this.#crash.writesLeft > 0) return undefined;
    return this.#crash.cut;
  }

  /** The death that `writes` announced. */
  die(): void {
    this.kill();
    this.#crash?.died();
  }
}
