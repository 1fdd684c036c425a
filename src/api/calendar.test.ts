import * as fc from "fast-check";
import { expect, test } from "vitest";
import { civilDate, dayNumber, daysInMonth, weekday } from "./calendar.ts";

const anyDay = fc.integer({ min: -1_000_000, max: 3_000_000 });

test("days and dates name each other, as the engine's own calendar does", () => {
  fc.assert(
    fc.property(anyDay, day => {
      const date = civilDate(day);
      const engine = new Date(day * 86_400_000);
      expect(date).toEqual({
        year: engine.getUTCFullYear(),
        month: engine.getUTCMonth() + 1,
        day: engine.getUTCDate(),
      });
      expect(dayNumber(date)).toBe(day);
      expect(weekday(day)).toBe(engine.getUTCDay());
    }),
  );
});

test("the day after a month's last is the first of the next", () => {
  fc.assert(
    fc.property(anyDay, day => {
      const { year, month, day: date } = civilDate(day);
      expect(civilDate(day + 1).day).toBe(date === daysInMonth(year, month) ? 1 : date + 1);
    }),
  );
});

test.each([
  [1900, 28],
  [2000, 29],
  [2023, 28],
  [2024, 29],
  [2100, 28],
])("February %d has %d days", (year, days) => {
  expect(daysInMonth(year, 2)).toBe(days);
});
