// The watches of the controller's processes: how late each kind is and what goes wrong on the way. Every kind is late by
// an amount of its own, so the picture is no atomic cut; within a kind the order stays.

import type { KubeObject } from "../../api/meta.ts";
import type { Clock, WatchHandlers } from "../../control/ports.ts";
import type { Random } from "../random.ts";
import type { Process } from "./process.ts";
import type { watchFaultKinds } from "./scenario.ts";
import { WatchLine } from "./watch-line.ts";

export type WatchFault = {
  readonly fault: (typeof watchFaultKinds)[number];
  /** Of monotonic time. */
  readonly since: number;
  readonly until: number;
  readonly resources?: readonly string[];
  readonly delayMs: number;
};

export class WatchLines {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #delayMaxMs: number;
  readonly #delayByKind = new Map<string, number>();
  readonly #lines = new Set<WatchLine>();
  #faults: WatchFault[] = [];

  constructor(clock: Clock, random: Random, delayMaxMs: number) {
    this.#clock = clock;
    this.#random = random;
    this.#delayMaxMs = delayMaxMs;
  }

  open<T extends KubeObject>(
    { process, plural, handlers }: { process: Process; plural: string; handlers: WatchHandlers<T> },
    open: (handlers: WatchHandlers<T>) => { close(): void },
  ): { close(): void } {
    const line = new WatchLine({
      process,
      plural,
      handlers,
      open,
      delayMs: () => this.#ownDelayMs(plural) + (this.#inForce("Delay", plural)?.delayMs ?? 0),
      stalledUntil: () => this.#inForce("Stall", plural)?.until,
      isRepeated: () => this.#inForce("Repeat", plural) !== undefined,
      closed: () => this.#lines.delete(line),
    });
    this.#lines.add(line);
    line.begin();
    return line;
  }

  strike(fault: WatchFault): void {
    if (fault.fault !== "Gone" && fault.fault !== "Drop") {
      this.#faults.push(fault);
      return;
    }
    for (const line of [...this.#lines].filter(({ plural }) => concerns(fault, plural))) {
      if (fault.fault === "Gone") line.expire();
      else line.end(new Error("The connection of the watch was reset."));
    }
  }

  /** Since when no event of the kind has come to anybody. */
  stalledSince(plural: string): number | undefined {
    return this.#inForce("Stall", plural)?.since;
  }

  #inForce(kind: WatchFault["fault"], plural: string): WatchFault | undefined {
    if (this.#faults.length === 0) return undefined;
    const now = this.#clock.monotonic();
    this.#faults = this.#faults.filter(({ until }) => until > now);
    return this.#faults.find(fault => fault.fault === kind && concerns(fault, plural));
  }

  #ownDelayMs(plural: string): number {
    let delayMs = this.#delayByKind.get(plural);
    if (delayMs === undefined) {
      delayMs = Math.floor((this.#random() / 2 ** 32) * this.#delayMaxMs);
      this.#delayByKind.set(plural, delayMs);
    }
    return delayMs;
  }
}

function concerns({ resources }: WatchFault, plural: string): boolean {
  return resources === undefined || resources.includes(plural);
}
