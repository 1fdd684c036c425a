import { describe, expect, test } from "vitest";
import { ApiError, type Status } from "../api/status.ts";
import { ConnectionError, DecodeError, SilenceError } from "./errors.ts";
import { afterWatch, type WatchEnd } from "./watch-end.ts";

function refused(code: number, more: Partial<Status> = {}): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, ...more });
}

function ended(end: Partial<WatchEnd>): ReturnType<typeof afterWatch> {
  return afterWatch({
    error: undefined,
    inBand: false,
    duringList: false,
    isStreaming: true,
    livedMs: 300_000,
    incompleteCount: 0,
    healthy: true,
    ...end,
  });
}

describe("a watch goes on from where it was", () => {
  test.each([
    ["at once after the server's time-out", {}, "none"],
    ["a moment later if it lived for under a second", { livedMs: 999 }, "backoff"],
    ["after a broken connection", { error: new ConnectionError("reset", { sent: true }) }, "backoff"],
    ["after silence", { error: new SilenceError("silent", { sent: true }) }, "backoff"],
    ["after a line that could not be read", { error: new DecodeError("cut") }, "backoff"],
    ["after 500", { error: refused(500) }, "backoff"],
    ["after 404: the kind may not be installed yet", { error: refused(404) }, "backoff"],
    ["after 403", { error: refused(403) }, "backoff"],
    [
      "after 429, when the server says",
      { error: refused(429, { details: { retryAfterSeconds: 7 } }) },
      { atLeastMs: 7000 },
    ],
    ["after 429 inside the stream", { error: refused(429), inBand: true }, "backoff"],
  ] satisfies [string, Partial<WatchEnd>, unknown][])("%s", (_, end, delay) => {
    expect(ended(end)).toEqual({ relist: false, giveUpStreaming: false, delay });
  });
});

describe("a watch has lost its place and lists again", () => {
  test.each([
    ["at once after 410", { error: refused(410) }, "none"],
    [
      "at once after an expired version inside the stream",
      { error: refused(410, { reason: "Expired" }), inBand: true },
      "none",
    ],
    ["a moment later if 410 comes again and again", { error: refused(410), healthy: false }, "backoff"],
    ["after any other error inside the stream", { error: refused(500), inBand: true }, "backoff"],
    ["after a version that the server does not understand", { error: refused(400) }, "backoff"],
    ["after an exception of our own", { error: new TypeError("bug") }, "backoff"],
    [
      "when the list itself was interrupted",
      { duringList: true, error: new ConnectionError("x", { sent: true }) },
      "backoff",
    ],
  ] satisfies [string, Partial<WatchEnd>, unknown][])("%s", (_, end, delay) => {
    expect(ended(end)).toEqual({ relist: true, giveUpStreaming: false, delay });
  });
});

test.each([400, 403, 422])("a list in pages that is refused with %i is asked for after a while, not at once", code => {
  expect(ended({ error: refused(code), duringList: true, isStreaming: false }).delay).toBe("backoff");
});

describe("lists are fetched in pages from now on", () => {
  test.each([400, 403, 422])("when the server answers %i to a streamed list", code => {
    expect(ended({ error: refused(code), duringList: true })).toEqual({
      relist: true,
      giveUpStreaming: true,
      delay: "none",
    });
  });

  test("when a streamed list twice came to no end", () => {
    expect(ended({ duringList: true, incompleteCount: 1 }).giveUpStreaming).toBe(false);
    expect(ended({ duringList: true, incompleteCount: 2 }).giveUpStreaming).toBe(true);
  });

  test("not for 429 or 500, which pass", () => {
    expect(ended({ error: refused(429), duringList: true }).giveUpStreaming).toBe(false);
    expect(ended({ error: refused(500), duringList: true }).giveUpStreaming).toBe(false);
  });
});
