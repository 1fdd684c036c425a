import { describe, expect, test } from "vitest";
import { minuteMs, secondMs } from "../api/time.ts";
import { ServerClock } from "./server-clock.ts";

const date = "Thu, 01 Jan 2026 00:00:00 GMT";
const written = Date.parse(date);

/** Answers that say `date`, at other times of our own clock; what is told of them. */
function scene() {
  const told: (number | undefined)[] = [];
  let now = 0;
  let monotonic = 0;
  const clock = { now: () => now, monotonic: () => monotonic };
  const serverClock = new ServerClock(clock);
  serverClock.onChange(aheadMs => told.push(aheadMs));
  told.splice(0);
  const answered = (sentAt: number, receivedAt = sentAt, text: string | undefined = date) => {
    now = receivedAt;
    serverClock.answered(text, sentAt);
    return told.splice(0);
  };
  return { serverClock, answered, pass: (ms: number) => (monotonic += ms) };
}

describe("our clock and the server's", () => {
  test("are apart by more than a minute, not by one, whatever the answer took", () => {
    const ahead = minuteMs + secondMs;
    expect(scene().answered(written + ahead)).toEqual([]);
    expect(scene().answered(written + ahead + 1)).toEqual([minuteMs + 1]);
    expect(scene().answered(written - minuteMs)).toEqual([]);
    expect(scene().answered(written - minuteMs - 1)).toEqual([-minuteMs - 1]);
    expect(scene().answered(written - 1, written + 10 * minuteMs)).toEqual([]);
  });

  test("are told once, and again when no answer has said so for a minute", () => {
    const { answered, pass } = scene();
    const hour = 60 * minuteMs;
    expect(answered(written + hour)).toEqual([hour - secondMs]);
    expect(answered(written + hour)).toEqual([]);
    pass(minuteMs - 1);
    expect(answered(written)).toEqual([]);
    pass(1);
    expect(answered(written)).toEqual([undefined]);
    expect(answered(written)).toEqual([]);
  });

  test("are apart as long as one of several servers says so", () => {
    const { answered, pass } = scene();
    expect(answered(written + 2 * minuteMs)).toHaveLength(1);
    for (let round = 0; round < 5; round++) {
      pass(30 * secondMs);
      expect(answered(written)).toEqual([]);
      expect(answered(written + 2 * minuteMs)).toEqual([]);
    }
  });

  test("are told to whoever asks later, too", () => {
    const { serverClock, answered } = scene();
    answered(written + 10 * minuteMs);
    const told: (number | undefined)[] = [];
    serverClock.onChange(aheadMs => told.push(aheadMs));
    expect(told).toEqual([10 * minuteMs - secondMs]);
  });

  test.each([undefined, "", "yesterday"])("nothing is known from an answer that says %o", text => {
    expect(scene().answered(written + 10 * minuteMs, undefined, text ?? "")).toEqual([]);
  });
});
