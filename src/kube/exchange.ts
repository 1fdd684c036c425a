// One HTTP request and its answer, on undici's dispatcher directly: `onRequestStart` is called in the same tick in which
// the bytes are written to the socket, so `admit` is the last word on whether they are.

import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Clock } from "../control/ports.ts";
import type { Dispatch } from "./connections.ts";
import { ConnectionError, TimeoutError } from "./errors.ts";

export type HttpRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  body?: string;
};

export type HttpResponse = { code: number; headers: IncomingHttpHeaders; body: Buffer };

export type Terms = {
  clock: Clock;
  /** From now, queueing for a connection included. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Throws if the request may not go to the socket any more. */
  admit?: (() => void) | undefined;
};

export function exchange(dispatch: Dispatch, request: HttpRequest, terms: Terms): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    terms.signal?.throwIfAborted();
    const call = new Exchange(request, terms, resolve, reject);
    dispatch({ ...request, body: request.body ?? null }, call);
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #terms: Terms;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #cancelTimer: () => void;
  readonly #onAbort = (): void => this.#giveUp(asError(this.#terms.signal?.reason));
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #sent = false;
  #code = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];

  constructor(
    request: HttpRequest,
    terms: Terms,
    resolve: (response: HttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#terms = terms;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = terms.clock.after(terms.timeoutMs, () => this.#giveUp(this.#timeout()));
    terms.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection: it must not be sent any more.
    if (this.#settled) {
      controller.abort(new Error("given up"));
      return;
    }
    try {
      this.#terms.admit?.();
    } catch (refusal) {
      this.#giveUp(asError(refusal));
      return;
    }
    this.#sent = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, code: number, headers: IncomingHttpHeaders): void {
    this.#code = code;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settle()) {
      this.#resolve({ code: this.#code, headers: this.#headers, body: Buffer.concat(this.#chunks) });
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#settle()) this.#reject(connectionError(this.#request, error, this.#sent));
  }

  #giveUp(error: Error): void {
    if (this.#settle()) this.#reject(error);
    this.#controller?.abort(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#cancelTimer();
    this.#terms.signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }

  #timeout(): TimeoutError {
    const what = this.#sent ? "no answer" : "not sent";
    return new TimeoutError(`${described(this.#request)}: ${what} within ${Math.round(this.#terms.timeoutMs)} ms.`, {
      sent: this.#sent,
    });
  }
}

export function connectionError(request: HttpRequest, error: Error, sent: boolean): ConnectionError {
  // A parser's error carries the bytes that it could not read, which may repeat our credentials.
  const cause = "data" in error ? new Error(error.message) : error;
  const timedOut =
    "code" in cause && (cause.code === "UND_ERR_HEADERS_TIMEOUT" || cause.code === "UND_ERR_BODY_TIMEOUT");
  const message = `${described(request)}: ${sent ? "the connection failed before the answer was complete" : "no connection"} (${reasonOf(cause)}).`;
  return timedOut ? new TimeoutError(message, { sent, cause }) : new ConnectionError(message, { sent, cause });
}

// The query may hold a continue token of several hundred characters and says nothing to a reader.
function described(request: HttpRequest): string {
  const query = request.path.indexOf("?");
  return `${request.method} ${query < 0 ? request.path : request.path.slice(0, query)}`;
}

// Node gives a failed connect to several addresses an empty message and the addresses' own errors.
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors.length > 0) return asError(error.errors[0]).message;
  return error.message;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
