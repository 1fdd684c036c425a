// One watch request: its bytes become events, decoded and handed over in stream order, in the tick in which they are
// read.

import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { KubeObject } from "../api/meta.ts";
import type { Millis } from "../api/time.ts";
import type { Clock, WatchEvent, WatchHandlers } from "../control/ports.ts";
import { refusal, withoutSecrets } from "./answer.ts";
import type { Dispatch } from "./connections.ts";
import { DecodeError } from "./errors.ts";
import { connectionError, type HttpRequest } from "./exchange.ts";
import { withoutFieldOwners } from "./field-owners.ts";
import { type LineSplitter, lineSplitter } from "./lines.ts";
import { Trickle } from "./trickle.ts";

// A burst of events is decoded in slices of this length, so that timers and other sockets have their turn.
const SLICE_MS = 10;

export type WatchStream = { close(): void };

type StreamParts<T> = {
  request: HttpRequest;
  secrets: readonly string[];
  clock: Clock;
  /** What comes in a trickle may wait for so long; 0: not at all. */
  gatherMs: Millis;
  /** 0: no limit. With bookmarks a healthy stream is never silent for long. */
  silenceMaxMs: number;
  handlers: WatchHandlers<T>;
};

export function openWatch<T>(dispatch: Dispatch, parts: StreamParts<T>): WatchStream {
  const stream = new Stream(parts);
  dispatch({ ...parts.request, body: null, bodyTimeout: parts.silenceMaxMs }, stream);
  return stream;
}

class Stream<T> implements Dispatcher.DispatchHandler {
  readonly #parts: StreamParts<T>;
  readonly #lines: LineSplitter;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #sent = false;
  #code = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #refusal: Buffer[] = [];
  #sliceSince = 0;
  #sliceBytes = 0;
  #isSliceCut = false;
  #mayPause = false;
  readonly #trickle: Trickle | undefined;
  #cancelRest = (): void => {};

  constructor(parts: StreamParts<T>) {
    this.#parts = parts;
    this.#trickle = parts.gatherMs > 0 ? new Trickle(parts.gatherMs) : undefined;
    this.#lines = lineSplitter(line => {
      // A handler may close the watch between two lines of one chunk.
      if (!this.#ended) parts.handlers.event(decode<T>(line, parts.secrets));
    });
  }

  close(): void {
    this.#finish(undefined);
    this.#controller?.abort(new Error("closed"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error("closed"));
    else this.#sent = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, code: number, headers: IncomingHttpHeaders): void {
    this.#code = code;
    this.#headers = headers;
    this.#mayPause = isKeptAlive(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    if (this.#code !== 200) {
      this.#refusal.push(chunk);
      return;
    }
    this.#guarded(() => this.#lines.push(chunk));
    this.#sliceBytes += chunk.length;
    this.#yieldAtTimes(controller);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    if (this.#code === 200) {
      this.#guarded(() => this.#lines.end());
      this.#finish(undefined);
      return;
    }
    const body = Buffer.concat(this.#refusal);
    const response = { code: this.#code, headers: this.#headers, body };
    this.#finish(refusal(response, body.toString("utf8"), this.#parts.secrets));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(connectionError(this.#parts.request, error, this.#sent));
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#finish(error instanceof Error ? error : new Error(String(error)));
      this.#controller?.abort(new Error("closed"));
    }
  }

  #finish(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelRest();
    this.#parts.handlers.end(error);
  }

  #yieldAtTimes(controller: Dispatcher.DispatchController): void {
    const now = performance.now();
    if (this.#sliceSince === 0) {
      this.#sliceSince = now;
      setImmediate(() => {
        this.#sliceSince = 0;
        this.#goOn(controller);
      });
    } else if (now - this.#sliceSince > SLICE_MS && this.#mayPause) {
      this.#isSliceCut = true;
      controller.pause();
    }
  }

  /**
   * At once, or in a moment: what comes until then is read together. undici stops with the next piece that it hands over,
   * and not before: that one still comes at once.
   */
  #goOn(controller: Dispatcher.DispatchController): void {
    const { clock } = this.#parts;
    const restMs = this.#trickle?.restMs(this.#sliceBytes, clock.monotonic()) ?? 0;
    const mayRest = this.#mayPause && !this.#isSliceCut && !this.#ended;
    this.#sliceBytes = 0;
    this.#isSliceCut = false;
    if (restMs === 0 || !mayRest) {
      controller.resume();
      return;
    }
    controller.pause();
    this.#cancelRest();
    // A timer drops fractions, and would come a moment before the window ends.
    this.#cancelRest = clock.after(Math.ceil(restMs), () => controller.resume());
  }
}

/** Where the end of the connection is the end of the answer, undici fails if it is reset while it is paused (7.30.2). */
function isKeptAlive({ connection = "", "transfer-encoding": encoding = "" }: IncomingHttpHeaders): boolean {
  return /\bchunked\b/i.test(encoding) && !/\bclose\b/i.test(connection);
}

function decode<T>(line: string, secrets: readonly string[]): WatchEvent<T> {
  const event = parse(withoutFieldOwners(line)) ?? parse(line);
  if (typeof event !== "object" || event === null || !("type" in event) || !("object" in event)) {
    throw new DecodeError(`A line of the watch (${line.length} characters) is not an event.`);
  }
  const { type, object } = event;
  const known =
    type === "ADDED" || type === "MODIFIED" || type === "DELETED" || type === "BOOKMARK" || type === "ERROR";
  if (!known || typeof object !== "object" || object === null) {
    throw new DecodeError("The watch sent an event of an unknown type or without an object.");
  }
  if (type === "ERROR") return parse(withoutSecrets(line, secrets)) as WatchEvent<T>;
  if (!hasMetadata(object)) throw new DecodeError(`The watch sent ${type} without metadata.`);
  return event as WatchEvent<T>;
}

function hasMetadata(object: object): object is Pick<KubeObject, "metadata"> {
  return "metadata" in object && typeof object.metadata === "object" && object.metadata !== null;
}

// JSON.parse quotes its input in its errors, and the input may be a Secret.
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
