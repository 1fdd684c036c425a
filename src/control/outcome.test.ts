import { describe, expect, test } from "vitest";
import { ApiError, type Status } from "../api/status.ts";
import { CutShort, outcomeOf, outcomeOfProvider, Stale } from "./outcome.ts";

function refusal(code: number, reason: string, more: Partial<Status> = {}): ApiError {
  const status = "Failure";
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status, code, reason, message: "no", ...more });
}

describe("the end of a command", () => {
  test.each<[string, unknown, object]>([
    ["an object that is not there: nothing left to do", refusal(404, "NotFound"), { result: "already-so" }],
    ["another version than the one decided on", refusal(409, "Conflict"), { result: "stale" }],
    [
      "another uid, in a merge patch",
      refusal(422, "Invalid", { details: { causes: [{ field: "metadata.uid", message: "immutable" }] } }),
      { result: "stale" },
    ],
    ["a live read that shows another object", new Stale("another"), { result: "stale" }],
    [
      "too many requests: surely not done, and the server says when",
      refusal(429, "TooManyRequests", { details: { retryAfterSeconds: 7 } }),
      { result: "retry", reason: "TooManyRequests", message: "no", afterMs: 7000 },
    ],
    [
      "a server that failed may have written first",
      refusal(500, "InternalError"),
      { result: "retry", reason: "InternalError", message: "no", unknown: true },
    ],
    [
      "a gateway that gave up",
      refusal(504, "Timeout"),
      { result: "retry", reason: "Timeout", message: "no", unknown: true },
    ],
    ["a connection that was cut", new Error("reset"), { result: "retry", reason: "", message: "reset", unknown: true }],
    [
      "a command whose time was up",
      new CutShort("late"),
      { result: "retry", reason: "", message: "late", unknown: true },
    ],
    ["what is not allowed", refusal(403, "Forbidden"), { result: "refused", reason: "Forbidden", message: "no" }],
    ["what is not valid", refusal(422, "Invalid"), { result: "refused", reason: "Invalid", message: "no" }],
    [
      "an object of that name, to whoever did not expect one",
      refusal(409, "AlreadyExists"),
      { result: "refused", reason: "AlreadyExists", message: "no" },
    ],
  ])("%s", (_, error, outcome) => {
    expect(outcomeOf(error)).toEqual(outcome);
  });

  test.each([
    ["Unknown", { result: "retry", unknown: true }],
    ["Throttled", { result: "retry" }],
    ["QuotaExceeded", { result: "refused" }],
    ["InsufficientCapacity", { result: "refused" }],
    ["NodeClassNotReady", { result: "refused" }],
    ["NotSupported", { result: "refused" }],
    ["Invalid", { result: "refused" }],
  ] as const)("the provider's %s", (error, outcome) => {
    expect(outcomeOfProvider({ error, message: "m" })).toEqual({ ...outcome, reason: error, message: "m" });
  });

  test("the provider's own time to wait is kept", () => {
    const answer = { error: "Throttled", message: "m", retryAfterMs: 90_000 } as const;
    expect(outcomeOfProvider(answer)).toMatchObject({ afterMs: 90_000 });
  });
});
