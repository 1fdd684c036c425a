import { describe, expect, test } from "vitest";
import { ConnectionError, FencedError, TimeoutError } from "./errors.ts";
import { type Attempt, retryAfterError, retryAfterResponse } from "./retry.ts";

const read: Attempt = { number: 1, read: true, refusesByLoad: true, random: () => 0.5 };
const write: Attempt = { ...read, read: false };
const eviction: Attempt = { ...write, refusesByLoad: false };

function response(code: number, retryAfter?: string) {
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { code, headers, body: Buffer.alloc(0) };
}

describe("an answer is asked for again", () => {
  test.each([
    ["429 to a read", response(429, "2"), read, 2250],
    ["429 to a write: the server did nothing yet", response(429, "2"), write, 2250],
    ["503 to a read, as the server says", response(503, "1"), read, 1125],
    ["503 to a read without a word", response(503), read, 100],
    ["500 to a read", response(500), read, 100],
    ["504 to a read, later each time", response(504), { ...read, number: 4 }, 800],
    ["a Retry-After that is a date", response(503, "Sun, 15 Nov 2026 12:00:00 GMT"), read, 100],
  ])("%s", (_, answer, attempt, delayMs) => expect(retryAfterResponse(answer, attempt)).toBe(delayMs));
});

describe("an answer stands", () => {
  test.each([
    ["success", response(200), read],
    ["501", response(501), read],
    ["404", response(404), read],
    ["409", response(409), write],
    ["500 to a write: it may have been carried out", response(500, "1"), write],
    ["503 to a write", response(503, "1"), write],
    ["429 without Retry-After", response(429), read],
    ["429 of an eviction: that is the disruption budget", response(429, "10"), eviction],
    ["the fifth time", response(429, "1"), { ...read, number: 5 }],
  ])("%s", (_, answer, attempt) => expect(retryAfterResponse(answer, attempt)).toBeUndefined());
});

describe("a failed connection", () => {
  const lost = new ConnectionError("lost", { sent: true });
  const refused = new ConnectionError("refused", { sent: false });
  test.each([
    ["a read is repeated", lost, read, 100],
    ["a read that timed out is repeated", new TimeoutError("late", { sent: true }), read, 100],
    ["a write that was sent is not", lost, write, undefined],
    ["a write that never reached a socket is", refused, write, 100],
    ["a fenced write is not", new FencedError("no"), write, undefined],
    ["an error of our own is not", new TypeError("bug"), read, undefined],
    ["not for ever", refused, { ...write, number: 5 }, undefined],
  ])("%s", (_, error, attempt, delayMs) => expect(retryAfterError(error, attempt)).toBe(delayMs));
});
