// One watch on its way to a process: events wait in line, come late, twice or not at all, and never overtake each other.

import type { KubeObject } from "../../api/meta.ts";
import type { WatchEvent, WatchHandlers } from "../../control/ports.ts";
import type { Process } from "./process.ts";

export type Open = (handlers: WatchHandlers<KubeObject>) => { close(): void };

export type WatchLineParts = {
  process: Process;
  plural: string;
  handlers: WatchHandlers<KubeObject>;
  open: Open;
  delayMs: () => number;
  /** Between two events. */
  paceMs: () => number;
  /** Nothing comes before this instant of the process's monotonic time; undefined: the line is free. */
  stalledUntil: () => number | undefined;
  isRepeated: () => boolean;
  isDisordered: () => boolean;
  closed: () => void;
};

type Item = { dueAt: number; event: WatchEvent<KubeObject> } | { dueAt: number; ended: Error | undefined };

export class WatchLine {
  readonly plural: string;
  readonly #parts: WatchLineParts;
  #queue: Item[] = [];
  /** How many of those in the queue have been delivered: it is cut when they are half of it. */
  #taken = 0;
  /** That came since the last bookmark. */
  #latest: WatchEvent<KubeObject> | undefined;
  #source: { close(): void } | undefined;
  #isTimed = false;
  #isClosed = false;

  constructor(parts: WatchLineParts) {
    this.#parts = parts;
    this.plural = parts.plural;
  }

  begin(): void {
    this.#source = this.#parts.open({
      event: event => this.#came(event),
      end: ended => this.#enqueue({ dueAt: 0, ended }),
    });
  }

  /** What a bookmark has closed is never told again behind it. */
  #came(event: WatchEvent<KubeObject>): void {
    this.#enqueue({ dueAt: 0, event });
    const isBookmark = event.type === "BOOKMARK";
    if (!isBookmark && this.#parts.isRepeated()) this.#enqueue({ dueAt: 0, event });
    const before = this.#latest;
    this.#latest = isBookmark ? undefined : event;
    if (!isBookmark && before !== undefined && this.#parts.isDisordered()) this.#enqueue({ dueAt: 0, event: before });
  }

  /** By the process that watches. */
  close(): void {
    this.end(undefined);
  }

  /** Whatever was on its way is lost. */
  end(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue = [];
    this.#taken = 0;
    this.#source?.close();
    this.#parts.closed();
    if (!this.#parts.process.isDead) this.#parts.handlers.end(error);
  }

  /** The server no longer knows our place in its stream. */
  expire(): void {
    const { handlers, process } = this.#parts;
    const message = "The resourceVersion for the provided watch is too old.";
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 410 } as const;
    process.after(0, () => {
      if (this.#isClosed) return;
      handlers.event({ type: "ERROR", object: { ...status, reason: "Expired", message } });
      this.end(undefined);
    });
  }

  #enqueue(item: Item): void {
    if (this.#isClosed) return;
    const { process } = this.#parts;
    if (process.isDead) return this.end(undefined);
    if (this.#isAtOnce(item)) return this.#parts.handlers.event(item.event);
    const last = this.#queue.at(-1)?.dueAt ?? 0;
    item.dueAt = Math.max(last + this.#parts.paceMs(), process.monotonic() + this.#parts.delayMs());
    this.#queue.push(item);
    this.#schedule();
  }

  /** A bookmark with nothing before it says no more now than later, and there are thousands a day. */
  #isAtOnce(item: Item): item is Extract<Item, { event: unknown }> {
    if (!("event" in item) || item.event.type !== "BOOKMARK" || this.#queue.length > this.#taken) return false;
    return this.#parts.process.isRunning && this.#parts.stalledUntil() === undefined;
  }

  #schedule(): void {
    const first = this.#queue[this.#taken];
    if (first === undefined || this.#isTimed) return;
    this.#isTimed = true;
    const { process } = this.#parts;
    process.after(first.dueAt - process.monotonic(), () => this.#deliver());
  }

  #deliver(): void {
    this.#isTimed = false;
    const { process, handlers, stalledUntil } = this.#parts;
    const stalled = stalledUntil();
    const now = process.monotonic();
    if (stalled !== undefined) {
      for (const item of this.#queue) item.dueAt = Math.max(item.dueAt, stalled);
      return this.#schedule();
    }
    try {
      for (let item = this.#queue[this.#taken]; item !== undefined; item = this.#queue[this.#taken]) {
        if (item.dueAt > now || this.#isClosed) break;
        this.#taken++;
        if ("ended" in item) return this.end(item.ended);
        handlers.event(item.event);
      }
    } catch (error) {
      // What a handler throws ends the watch, as the port says.
      return this.end(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#isClosed) return;
    if (this.#taken * 2 >= this.#queue.length) {
      this.#queue.splice(0, this.#taken);
      this.#taken = 0;
    }
    this.#schedule();
  }
}
