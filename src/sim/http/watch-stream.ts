// A watch on the wire: one JSON line an event, made once however many watch. A reader that falls too far behind is cut
// off rather than buffered for without bound: it will watch again from where it was.

import type { ServerResponse } from "node:http";
import type { Status } from "../../api/status.ts";
import type { ApiResponse, StoredEvent } from "../request.ts";

type Watch = Extract<ApiResponse, { kind: "watch" }>;

/** What has not been written yet when the watch begins does not count: a client may ask for all pods. */
const behindMax = 10_000;
const chunkBytes = 256 * 1024;

export type EncodeEvent = (event: StoredEvent) => Buffer;

/** The same line for every watcher of an object as it is. Remembers the latest, since all of them ask at once. */
export class EventLines {
  readonly #lines = new Map<StoredEvent["stored"], { type: string; line: Buffer }>();

  readonly encode: EncodeEvent = ({ type, stored }) => {
    const known = this.#lines.get(stored);
    if (known?.type === type) return known.line;
    const line = eventLine(type, stored.json);
    if (this.#lines.size >= 256) this.#lines.clear();
    this.#lines.set(stored, { type, line });
    return line;
  };
}

export function eventLine(type: string, json: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json, Buffer.from("}\n")]);
}

/** Sends the headers at once: that is how a client knows that its watch stands. */
export function streamWatch(response: ServerResponse, watch: Watch, encode: EncodeEvent): void {
  const stream = new WatchStream(response, encode);
  response.flushHeaders();
  const stop = watch.start(stream);
  response.once("close", stop);
  stream.started();
}

class WatchStream {
  readonly #response: ServerResponse;
  readonly #encode: EncodeEvent;
  #queue: StoredEvent[] = [];
  #next = 0;
  #allowance = Number.POSITIVE_INFINITY;
  #last: { status: Status | undefined } | undefined;
  #isScheduled = false;

  constructor(response: ServerResponse, encode: EncodeEvent) {
    this.#response = response;
    this.#encode = encode;
    response.on("drain", () => this.#write());
  }

  started(): void {
    this.#allowance = this.#queue.length + behindMax;
  }

  events(events: readonly StoredEvent[]): void {
    if (this.#response.destroyed) return;
    for (const event of events) this.#queue.push(event);
    if (this.#queue.length - this.#next > this.#allowance) this.#response.destroy();
    else this.#schedule();
  }

  end(status: Status | undefined): void {
    this.#last = { status };
    this.#schedule();
  }

  // What changes within one turn of the event loop goes out in one write.
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#write();
    });
  }

  #write(): void {
    while (this.#next < this.#queue.length && !this.#response.destroyed) {
      if (this.#response.writableNeedDrain) return;
      this.#response.write(this.#chunk());
    }
    this.#queue = [];
    this.#next = 0;
    this.#allowance = Math.min(this.#allowance, behindMax);
    if (this.#last !== undefined && !this.#response.writableEnded) this.#finish(this.#last.status);
  }

  #chunk(): Buffer {
    const lines: Buffer[] = [];
    for (let bytes = 0; bytes < chunkBytes && this.#next < this.#queue.length; this.#next++) {
      const line = this.#encode(this.#queue[this.#next]!); // next < length
      lines.push(line);
      bytes += line.length;
    }
    return lines.length === 1 ? lines[0]! : Buffer.concat(lines);
  }

  #finish(status: Status | undefined): void {
    if (status === undefined) this.#response.end();
    else this.#response.end(eventLine("ERROR", Buffer.from(JSON.stringify(status))));
  }
}
