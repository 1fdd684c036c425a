// Whether a failed attempt may be made again, and after how long. Never repeats a write that may have been carried out.

import { ConnectionError, FencedError } from "./errors.ts";
import type { HttpResponse } from "./exchange.ts";

const ATTEMPTS_MAX = 5;
const FIRST_DELAY_MS = 100;

export type Attempt = {
  /** 1 for the first. */
  number: number;
  /** Reading twice is the same as reading once. */
  read: boolean;
  /** A 429 that is the object's own answer, not the server's load: an eviction held by a disruption budget. */
  refusesByLoad: boolean;
  random: () => number;
};

/** Milliseconds to wait before trying again; undefined: this answer stands. */
export function retryAfterResponse(response: HttpResponse, attempt: Attempt): number | undefined {
  if (attempt.number >= ATTEMPTS_MAX) return undefined;
  const askedMs = retryAfterMs(response);
  // The server answers 429 before it does anything; any 5xx may come after it has.
  const notCarriedOut = response.code === 429 && askedMs !== undefined && attempt.refusesByLoad;
  const repeatable = attempt.read && (response.code === 500 || (response.code >= 502 && response.code <= 504));
  if (!notCarriedOut && !repeatable) return undefined;
  return askedMs === undefined ? jittered(attempt) : askedMs * (1 + attempt.random() / 4);
}

export function retryAfterError(error: unknown, attempt: Attempt): number | undefined {
  if (attempt.number >= ATTEMPTS_MAX || error instanceof FencedError) return undefined;
  if (!(error instanceof ConnectionError)) return undefined;
  return attempt.read || !error.sent ? jittered(attempt) : undefined;
}

/** Seconds only: API servers send no dates here. */
export function retryAfterMs(response: HttpResponse): number | undefined {
  const header = response.headers["retry-after"];
  return typeof header === "string" && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}

function jittered({ number, random }: Attempt): number {
  return FIRST_DELAY_MS * 2 ** (number - 1) * (0.5 + random());
}
