// A watch has ended: from where does the next one begin, in which way, and how soon? Pure.

import { ApiError } from "../api/status.ts";
import { ConnectionError, DecodeError } from "./errors.ts";

// A shorter stream without an error is a server or proxy in trouble, not a time-out that has come.
const HEALTHY_MIN_MS = 1000;
// A server that takes `sendInitialEvents` without knowing it never says that the list is complete.
const INCOMPLETE_MAX = 2;

export type WatchEnd = {
  error: Error | undefined;
  /** The error came as the stream's last event, not instead of the stream. */
  inBand: boolean;
  /** It ended while the objects of the initial list were still coming. */
  duringList: boolean;
  /** That list was asked for as a stream, not in pages. */
  isStreaming: boolean;
  livedMs: number;
  /** How often in a row a stream went quiet or ended in good order with its list incomplete, this one included. */
  incompleteCount: number;
  /** Something has come since the last failure. */
  healthy: boolean;
};

export type NextWatch = {
  /** The place in the stream is lost: everything has to be listed again. */
  relist: boolean;
  /** The server cannot stream lists, or not to us: use paged lists from now on. */
  giveUpStreaming: boolean;
  delay: "none" | "backoff" | { atLeastMs: number };
};

export function afterWatch(end: WatchEnd): NextWatch {
  const { error, inBand, duringList, isStreaming, livedMs } = end;
  const keepOn = { relist: duringList, giveUpStreaming: duringList && end.incompleteCount >= INCOMPLETE_MAX };
  if (error === undefined) return { ...keepOn, delay: !duringList && livedMs >= HEALTHY_MIN_MS ? "none" : "backoff" };
  if (error instanceof ConnectionError || error instanceof DecodeError) return { ...keepOn, delay: "backoff" };
  // Neither the server nor the network: a projection or a handler threw. Nobody trusts the picture until a whole list
  // has gone through.
  if (!(error instanceof ApiError)) return { ...keepOn, relist: true, delay: "backoff" };
  if (isGone(error)) return { ...keepOn, relist: true, delay: end.healthy ? "none" : "backoff" };
  // In pages it would be refused again and again.
  if (duringList && isStreaming && !inBand && (error.code === 400 || error.code === 403 || error.code === 422)) {
    return { relist: true, giveUpStreaming: true, delay: "none" };
  }
  const askedSeconds = error.status.details?.retryAfterSeconds;
  const delay = askedSeconds === undefined ? "backoff" : { atLeastMs: askedSeconds * 1000 };
  // An error inside the stream, or a version that the server does not understand: the place is not to be trusted.
  const lost = (inBand && error.code !== 429) || error.code === 400 || error.code === 422;
  return { ...keepOn, relist: duringList || lost, delay };
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 410 || error.reason === "Expired" || error.reason === "Gone");
}
