import { describe, expect, test } from "vitest";
import { certain } from "./parsed.ts";
import { timeZone, utc } from "./time-zone.ts";

const at = (text: string) => Date.parse(text);

test.each([[""], ["UTC"], ["utc"], ["Etc/UTC"]])("%j is UTC", name => {
  expect(certain(timeZone(name))).toBe(utc);
});

test.each([["Mars/Olympus"], ["+01:00"], ["-05"], ["Local"], ["Europe"], ["Europe/Berlin "], ["../etc/passwd"]])(
  "%j is no time zone, and the refusal says what to write",
  name => {
    const zone = timeZone(name);
    expect(zone.ok ? "" : zone.error).toMatch(/is not a time zone: write an IANA name such as Europe\/Berlin or UTC/);
  },
);

describe("a stretch of constant offset", () => {
  test.each([
    ["Europe/Berlin", "2024-03-31T01:00:00Z", 60, 120],
    ["Europe/Berlin", "2024-10-27T01:00:00Z", 120, 60],
    ["America/New_York", "2024-03-10T07:00:00Z", -300, -240],
    ["Australia/Lord_Howe", "2024-10-05T15:30:00Z", 630, 660],
    ["America/Sao_Paulo", "2018-11-04T03:00:00Z", -180, -120],
    ["Antarctica/Troll", "2024-03-31T01:00:00Z", 0, 120],
    ["America/Noronha", "2000-10-15T01:00:00Z", -60, -120], // a summer of one week
  ])("in %s ends at %s", (name, change, minutesBefore, minutesAfter) => {
    const zone = certain(timeZone(name));
    const before = zone.stretchAt(at(change) - 1);
    const after = zone.stretchAt(at(change));
    expect([before.until, before.offsetMs / 60_000]).toEqual([at(change), minutesBefore]);
    expect([after.from, after.offsetMs / 60_000]).toEqual([at(change), minutesAfter]);
  });

  test.each([["Europe/Berlin"], ["Asia/Kolkata"], ["Africa/Casablanca"]])(
    "in %s follows the one before without a hole",
    name => {
      const zone = certain(timeZone(name));
      let stretch = zone.stretchAt(at("2015-01-01T00:00:00Z"));
      while (stretch.until < at("2030-01-01T00:00:00Z")) {
        const next = zone.stretchAt(stretch.until);
        expect(next.from).toBe(stretch.until);
        expect(zone.stretchAt(next.from - 1)).toBe(stretch);
        stretch = next;
      }
    },
  );

  test.each([
    ["America/Noronha"],
    ["America/Maceio"],
    ["America/Argentina/Tucuman"],
    ["Africa/Cairo"],
    ["Asia/Hebron"],
  ])("in %s is not missed, however short", name => {
    const zone = certain(timeZone(name));
    const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: name, dateStyle: "short", timeStyle: "medium" });
    const days = Array.from({ length: 365 * 13 }, (_, day) => at("2000-01-01T12:00:00Z") + day * 86_400_000);
    const wrong = days.filter(
      noon => noon + zone.stretchAt(noon).offsetMs !== at(`${clock.format(noon).replace(" ", "T")}Z`),
    );
    expect(wrong).toEqual([]);
  });

  test("in UTC never ends", () => {
    expect(utc.stretchAt(0)).toEqual({ from: -Infinity, until: Infinity, offsetMs: 0 });
  });
});
