// Sends one request until it has an answer that stands: identity, fence, retries and the overall time-out.

import type { Instant } from "../api/time.ts";
import type { Clock, Fence } from "../control/ports.ts";
import { bodyOf, warningsOf } from "./answer.ts";
import type { Connections } from "./connections.ts";
import { TimeoutError } from "./errors.ts";
import { exchange, type HttpRequest, type HttpResponse } from "./exchange.ts";
import { assertFits, writeTimeoutMs } from "./fence.ts";
import type { Identity, IdentitySource } from "./identity.ts";
import { type Query, withQuery } from "./path.ts";
import { type Attempt, retryAfterError, retryAfterResponse } from "./retry.ts";

// The server's own limit for anything but a watch.
const DEFAULT_TIMEOUT_MS = 60_000;

export type Call = {
  method: HttpRequest["method"];
  path: string;
  query?: Query;
  body?: unknown;
  contentType?: string;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** An eviction's 429 is the disruption budget's answer and goes to whoever asked. */
  answers429?: boolean;
};

export type CallerParts = {
  connections: Connections;
  identities: IdentitySource;
  clock: Clock;
  fence: Fence | undefined;
  random: () => number;
  /** The server's path prefix, without a slash at its end. */
  basePath: string;
  headers: Readonly<Record<string, string>>;
  onWarning: (text: string, path: string) => void;
  onDate: (date: string | undefined, sentAt: Instant) => void;
};

export type Caller = (call: Call) => Promise<unknown>;

export function caller(parts: CallerParts): Caller {
  return async call => {
    const { clock } = parts;
    const endsAt = clock.monotonic() + (call.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const epoch = parts.fence?.epoch;
    let reidentified = false;
    for (let number = 1; ; number++) {
      const attempt: Attempt = {
        number,
        read: call.method === "GET",
        refusesByLoad: call.answers429 !== true,
        random: parts.random,
      };
      const identity = await parts.identities.current();
      const leftMs = endsAt - clock.monotonic();
      const sentAt = clock.now();
      const outcome = await settled(send(parts, call, { identity, leftMs, epoch }));
      if ("response" in outcome) parts.onDate(outcome.response.headers.date, sentAt);
      if ("response" in outcome && outcome.response.code === 401 && !reidentified) {
        // 401 comes before anything is done, so even a write may be sent again.
        reidentified = true;
        if (parts.identities.refused(identity)) continue;
      }
      const delayMs =
        "response" in outcome ? retryAfterResponse(outcome.response, attempt) : retryAfterError(outcome.error, attempt);
      if (delayMs === undefined || clock.monotonic() + delayMs >= endsAt) return finish(parts, call, outcome, identity);
      await sleep(clock, delayMs, call.signal);
    }
  };
}

type Outcome = { response: HttpResponse } | { error: unknown };

async function settled(sending: Promise<HttpResponse>): Promise<Outcome> {
  try {
    return { response: await sending };
  } catch (error) {
    return { error };
  }
}

function finish({ onWarning }: CallerParts, call: Call, outcome: Outcome, identity: Identity): Promise<unknown> {
  if ("error" in outcome) return Promise.reject(outcome.error);
  for (const text of warningsOf(outcome.response.headers)) onWarning(text, call.path);
  return bodyOf(outcome.response, identity.secrets);
}

async function send(
  parts: CallerParts,
  call: Call,
  { identity, leftMs, epoch }: { identity: Identity; leftMs: number; epoch: number | undefined },
): Promise<HttpResponse> {
  const { clock, connections } = parts;
  if (leftMs <= 0) throw new TimeoutError(`${call.method} ${call.path}: not sent in time.`, { sent: false });
  const fence = call.method === "GET" ? undefined : parts.fence;
  const terms = { clock, signal: call.signal };
  const dispatch = connections.calls(identity.tls);
  if (fence === undefined) {
    return exchange(dispatch, httpRequest(parts, call, identity), { ...terms, timeoutMs: leftMs });
  }

  // The server is told the same limit: should our abort not reach it, it gives up on its own.
  const timeoutMs = writeTimeoutMs(fence.remainingMs(), leftMs);
  const request = httpRequest(parts, call, identity, { timeout: `${timeoutMs}ms` });
  let answered = (): void => {};
  const admit = (): void => {
    assertFits(fence, { epoch, timeoutMs });
    answered = fence.enter();
  };
  const response = await exchange(dispatch, request, { ...terms, timeoutMs, admit });
  // After a 5xx it may still be under way in the server.
  if (response.code < 500) answered();
  return response;
}

export function httpRequest(
  parts: Pick<CallerParts, "basePath" | "headers">,
  call: Call,
  identity: Identity,
  limits: Query = {},
): HttpRequest {
  const hasBody = call.body !== undefined;
  return {
    method: call.method,
    path: parts.basePath + withQuery(call.path, { ...call.query, ...limits }),
    headers: {
      ...parts.headers,
      ...identity.headers,
      ...(hasBody ? { "content-type": call.contentType ?? "application/json" } : {}),
    },
    ...(hasBody ? { body: JSON.stringify(call.body) } : {}),
  };
}

function sleep(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
