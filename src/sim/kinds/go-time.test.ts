import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalTime } from "./go-time.ts";

describe("a time in seconds", () => {
  test.each([
    ["2021-03-04T05:06:07Z", "2021-03-04T05:06:07Z"],
    ["2021-03-04T05:06:07.999Z", "2021-03-04T05:06:07Z"],
    ["2021-03-04T05:06:07,5Z", "2021-03-04T05:06:07Z"],
    ["2021-03-04T00:06:07+02:00", "2021-03-03T22:06:07Z"],
    ["2020-02-29T00:00:00Z", "2020-02-29T00:00:00Z"],
  ])("%s is %s", (value, text) => {
    expect(canonicalTime(value, false)).toEqual({ text });
  });

  const layout = "2006-01-02T15:04:05Z07:00";
  test.each([
    ["abc", `parsing time "abc" as "${layout}": cannot parse "abc" as "2006"`],
    ["", `parsing time "" as "${layout}": cannot parse "" as "2006"`],
    ["2021-03-04", `parsing time "2021-03-04" as "${layout}": cannot parse "" as "T"`],
    ["2021-03-04T05:06:07", `parsing time "2021-03-04T05:06:07" as "${layout}": cannot parse "" as "Z07:00"`],
    ["2021-03-04T05:06:07Zx", 'parsing time "2021-03-04T05:06:07Zx": extra text: "x"'],
    ["2021-13-04T05:06:07Z", 'parsing time "2021-13-04T05:06:07Z": month out of range'],
    ["2021-02-29T05:06:07Z", 'parsing time "2021-02-29T05:06:07Z": day out of range'],
    ["2021-02-00T05:06:07Z", 'parsing time "2021-02-00T05:06:07Z": day out of range'],
    ["2021-02-01T24:06:07Z", 'parsing time "2021-02-01T24:06:07Z": hour out of range'],
    ["2021-02-01T23:60:07Z", 'parsing time "2021-02-01T23:60:07Z": minute out of range'],
    ["2021-02-01T23:06:60Z", 'parsing time "2021-02-01T23:06:60Z": second out of range'],
  ])("%j is refused", (value, error) => {
    expect(canonicalTime(value, false)).toEqual({ error });
  });
});

describe("a time in microseconds", () => {
  test.each([
    ["2021-03-04T05:06:07.123456Z", "2021-03-04T05:06:07.123456Z"],
    ["2021-03-04T05:06:07.123456-01:00", "2021-03-04T06:06:07.123456Z"],
    ["2020-02-29T05:06:07.000000Z", "2020-02-29T05:06:07.000000Z"],
  ])("%s is %s", (value, text) => {
    expect(canonicalTime(value, true)).toEqual({ text });
  });

  const layout = "2006-01-02T15:04:05.000000Z07:00";
  test.each([
    ["2021-03-04T05:06:07Z", 'cannot parse "Z" as ".000000"'],
    ["2021-03-04T05:06:07.123Z", 'cannot parse ".123Z" as ".000000"'],
    ["2021-03-04T05:06:07.1234567Z", 'cannot parse ".1234567Z" as ".000000"'],
  ])("%s has not exactly six digits", (value, why) => {
    expect(canonicalTime(value, true)).toEqual({ error: `parsing time "${value}" as "${layout}": ${why}` });
  });
});

test("every instant in any zone is the same instant in UTC", () => {
  const instants = fc.date({
    min: new Date("0001-01-02T00:00:00Z"),
    max: new Date("9998-12-31T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instants, fc.integer({ min: -14, max: 14 }), (instant, hours) => {
      const whole = Math.floor(instant.getTime() / 1000) * 1000;
      const local = new Date(whole + hours * 3_600_000).toISOString().slice(0, 19);
      const zone = `${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`;
      const expected = `${new Date(whole).toISOString().slice(0, 19)}Z`;
      expect(canonicalTime(`${local}${zone}`, false)).toEqual({ text: expected });
    }),
  );
});
