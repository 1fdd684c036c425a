// The controller's processes, one after the other: at most one leads, each with a term of its own. Here they start, die,
// and lose the lead while they stand still.

import type { Instant } from "../../api/time.ts";
import type { Clock } from "../../control/ports.ts";
import type { WorldEntry } from "./journal.ts";
import { type Cut, Process } from "./process.ts";

export type Leadership = {
  readonly epoch: number | undefined;
  readonly ledUntil?: Instant | undefined;
  onChange(changed: () => void): void;
};

export type ProcessesParts<C> = {
  readonly clock: Clock;
  /** Starts the program in a process. */
  start: (process: Process, leadership: Leadership) => C;
  tell: (event: WorldEntry["event"], message: string) => void;
};

export type Crash = { readonly atWrite?: number; readonly cut: Cut; readonly downMs: number };

/** A program that is no longer told that it leads finds out when it next looks after its lease. */
const noticesAfterMs = 2_000;

export class Processes<C = unknown> {
  readonly #parts: ProcessesParts<C>;
  #current: { process: Process; program: C };
  /** A process that was to be taken over from has been already. */
  #isReplacing = false;

  constructor(parts: ProcessesParts<C>) {
    this.#parts = parts;
    this.#current = this.#start(1, 0);
  }

  get current(): Process {
    return this.#current.process;
  }

  /** Of the process that leads, or led last. */
  get program(): C {
    return this.#current.program;
  }

  crash({ atWrite, cut, downMs }: Crash): void {
    const { process } = this.#current;
    const died = () => {
      this.#parts.tell("process", `the controller dies${atWrite === undefined ? "" : ` ${cut} its write`}`);
      this.#replaceIn(downMs);
    };
    if (atWrite !== undefined) return process.crashAt(atWrite, cut, died);
    if (process.isDead) return;
    process.kill();
    died();
  }

  /** Long enough, and another leads when it wakes; shorter, and it goes on. */
  pause(forMs: number, takenOverAfterMs: number): void {
    const { clock, tell } = this.#parts;
    const { process } = this.#current;
    tell("process", "the controller stands still");
    process.pause();
    if (forMs > takenOverAfterMs) this.#replaceIn(takenOverAfterMs);
    clock.after(forMs, () => {
      if (process.isDead) return;
      tell("process", `the controller of epoch ${process.epoch} goes on`);
      process.resume();
    });
  }

  #replaceIn(downMs: number): void {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    const ledUntil = this.#current.process.now();
    this.#parts.clock.after(downMs, () => {
      this.#isReplacing = false;
      const { epoch, jumpMs } = this.#current.process;
      this.#current.process.fence();
      this.#current = this.#start(epoch + 1, jumpMs, ledUntil);
    });
  }

  #start(epoch: number, jumpMs: number, ledUntil?: Instant): { process: Process; program: C } {
    const { clock, start, tell } = this.#parts;
    const process = new Process(clock, epoch, jumpMs);
    tell("process", `a controller starts and leads with epoch ${epoch}`);
    const leadership: Leadership = {
      get epoch() {
        return process.isFenced ? undefined : epoch;
      },
      ledUntil,
      onChange: changed => process.onFenced(() => process.after(noticesAfterMs, changed)),
    };
    return { process, program: start(process, leadership) };
  }
}
