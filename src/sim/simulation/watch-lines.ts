// The watches of the controller's processes: how late each kind is and what goes wrong on the way. Every kind is late by
// an amount of its own, so the picture is no atomic cut; within a kind the order stays.

import type { KubeObject } from "../../api/meta.ts";
import { isOlder } from "../../api/resource-version.ts";
import type { Clock, WatchHandlers, WatchOptions } from "../../control/ports.ts";
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

/** How a client tells of a connection that broke, and of bytes that make no sense: its reader goes on otherwise. */
export type WatchErrors = { cut(message: string): Error; garbled(message: string): Error };

type WatchLinesOptions = { readonly delayMaxMs: number; readonly errors?: WatchErrors };

const plainErrors: WatchErrors = { cut: message => new Error(message), garbled: message => new Error(message) };

/** So that much is decided while the past is told. */
const pastPaceMs = 200;
/** Marks are every few minutes: more than the longest past that anybody asks for. */
const marksMax = 100;

export class WatchLines {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #delayMaxMs: number;
  readonly #errors: WatchErrors;
  /** Which version the server had when. */
  #marks: { readonly at: number; readonly version: string }[] = [];
  readonly #delayByKind = new Map<string, number>();
  readonly #lines = new Set<WatchLine>();
  #faults: WatchFault[] = [];

  constructor(clock: Clock, random: Random, { delayMaxMs, errors = plainErrors }: WatchLinesOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#delayMaxMs = delayMaxMs;
    this.#errors = errors;
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
      paceMs: () => (this.#inForce("Past", plural) === undefined ? 0 : pastPaceMs),
      stalledUntil: () => this.#inForce("Stall", plural)?.until,
      isRepeated: () => this.#inForce("Repeat", plural) !== undefined,
      isDisordered: () => this.#inForce("Disorder", plural) !== undefined,
      closed: () => this.#lines.delete(line),
    });
    this.#lines.add(line);
    line.begin();
    return line;
  }

  strike(fault: WatchFault): void {
    if (lasting.has(fault.fault)) this.#faults.push(fault);
    for (const line of [...this.#lines].filter(({ plural }) => concerns(fault, plural))) this.#end(line, fault);
  }

  #end(line: WatchLine, { fault }: WatchFault): void {
    if (fault === "Gone") line.expire();
    else if (fault === "Garbled") line.end(this.#errors.garbled("A line of the watch is cut off."));
    else if (fault === "Drop" || fault === "Past") line.end(this.#errors.cut("The connection of the watch was reset."));
  }

  /** The server's version now. */
  mark(version: string): void {
    this.#marks = [...this.#marks.slice(1 - marksMax), { at: this.#clock.monotonic(), version }];
  }

  /** How the server takes a watch that goes on where it was: there, or further back. */
  begun(plural: string, options: WatchOptions): WatchOptions {
    const past = this.#inForce("Past", plural);
    const { resourceVersion } = options;
    if (past === undefined || resourceVersion === undefined) return options;
    const version = this.#marks.findLast(({ at }) => at <= this.#clock.monotonic() - past.delayMs)?.version;
    return version !== undefined && isOlder(version, resourceVersion)
      ? { ...options, resourceVersion: version }
      : options;
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

const lasting: ReadonlySet<WatchFault["fault"]> = new Set(["Delay", "Stall", "Repeat", "Disorder", "Past"]);

function concerns({ resources }: WatchFault, plural: string): boolean {
  return resources === undefined || resources.includes(plural);
}
