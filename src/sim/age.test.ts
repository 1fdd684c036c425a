import { expect, test } from "vitest";
import { age, humanDuration } from "./age.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [-2 * second, "<invalid>"],
  [-1999, "0s"],
  [0, "0s"],
  [999, "0s"],
  [119_999, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 5 * second, "2m5s"],
  [10 * minute - 1, "9m59s"],
  [10 * minute, "10m"],
  [3 * hour - 1, "179m"],
  [3 * hour, "3h"],
  [3 * hour + minute, "3h1m"],
  [8 * hour - 1, "7h59m"],
  [8 * hour, "8h"],
  [48 * hour - 1, "47h"],
  [48 * hour, "2d"],
  [49 * hour, "2d1h"],
  [8 * day - 1, "7d23h"],
  [8 * day, "8d"],
  [730 * day - 1, "729d"],
  [730 * day, "2y"],
  [731 * day, "2y1d"],
  [8 * 365 * day - 1, "7y364d"],
  [8 * 365 * day, "8y"],
])("%d ms is written %s", (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test("an age needs a timestamp that is one", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  expect(age("2026-11-15T11:58:00Z", now)).toBe("2m");
  expect(age(undefined, now)).toBe("<unknown>");
  expect(age("yesterday", now)).toBe("<invalid>");
});
