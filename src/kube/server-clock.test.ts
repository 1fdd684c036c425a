import { describe, expect, test } from "vitest";
import { minuteMs, secondMs } from "../api/time.ts";
import { ServerClock } from "./server-clock.ts";

const date = "Thu, 01 Jan 2026 00:00:00 GMT";
const written = Date.parse(date);

/** Answers that say `date` to requests of other times of ours: it is the server's clock that differs. What is told of them. */
function scene() {
  const told: (number | undefined)[] = [];
  let base = written;
  let monotonic = 0;
  let now = base;
  const clock = { now: () => now, monotonic: () => monotonic };
  const serverClock = new ServerClock(clock);
  serverClock.onChange(aheadMs => told.push(aheadMs));
  told.splice(0);
  const pass = (ms: number) => {
    monotonic += ms;
    base += ms;
    now += ms;
  };
  const answered = (sentAt: number, receivedAt = sentAt, text?: string) => {
    const aheadMs = sentAt - written;
    const ownSentAt = Math.ceil(base / secondMs) * secondMs + (((aheadMs % secondMs) + secondMs) % secondMs);
    now = ownSentAt;
    pass(receivedAt - sentAt);
    serverClock.answered(text ?? new Date(ownSentAt - aheadMs).toUTCString(), ownSentAt);
    return told.splice(0);
  };
  const leap = (ms: number) => {
    base += ms;
    now += ms;
  };
  const jump = (ms: number) => {
    leap(ms);
    return { now: serverClock.now(), told: told.splice(0) };
  };
  return { serverClock, answered, pass, leap, jump, told };
}

describe("a clock that jumps", () => {
  const hour = 60 * minuteMs;

  test.each([
    ["ahead", hour],
    ["back", -hour],
  ])("%s is not believed from the first look on", (_, ms) => {
    const { serverClock, jump } = scene();
    const before = serverClock.now();
    expect(jump(ms)).toEqual({ now: before + ms, told: [ms] });
    expect(jump(0).told).toEqual([]);
  });

  test("is believed when the next answer bears it out: it had slept", () => {
    const { answered, jump } = scene();
    jump(hour);
    expect(answered(written)).toEqual([undefined]);
  });

  test("is not when that does not, until it is mended for a minute", () => {
    const { answered, jump, pass } = scene();
    jump(hour);
    expect(answered(written + hour)).toEqual([]);
    expect(jump(-hour).told).toEqual([]);
    expect(answered(written)).toEqual([]);
    pass(minuteMs);
    expect(answered(written)).toEqual([undefined]);
  });

  test.each([
    ["ahead", hour],
    ["back", -hour],
  ])("%s: what was asked before it tells nothing", (_, ms) => {
    const { serverClock, jump } = scene();
    const sentAt = serverClock.now();
    const date = new Date(sentAt).toUTCString();
    const { told } = jump(ms);
    serverClock.answered(date, sentAt);
    expect(told).toEqual([ms]);
    expect(jump(0).told).toEqual([]);
  });

  test.each([minuteMs, -minuteMs])("by no more than a minute (%i ms) is none", ms => {
    expect(scene().jump(ms).told).toEqual([]);
  });

  test("is noticed too by an answer that was on its way", () => {
    const { serverClock, leap, told } = scene();
    const sentAt = serverClock.now();
    leap(hour);
    serverClock.answered(date, sentAt);
    expect(told).toEqual([hour]);
  });
});

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
