import { describe, expect, test } from "vitest";
import { aPod, aPool, at, t0 } from "../../test/builders.ts";
import { heldUntil, longestHold } from "./do-not-disrupt.ts";

const forever = Number.POSITIVE_INFINITY;
const never = Number.NEGATIVE_INFINITY;

describe("how long a pod holds its node", () => {
  test.each([
    { written: undefined, until: never },
    { written: "false", until: never },
    { written: "true", until: forever },
    { written: "30m", until: at("30m") },
    { written: "1h30m", until: at("1h30m") },
    { written: "1ns", until: t0 + 1 },
    { written: "2562047h", until: at("2562047h") },
    { written: "2562048h", until: forever },
    { written: "1h99999999999999999999m", until: forever },
  ])("$written, from its start", ({ written, until }) => {
    const pod = aPod("p", written === undefined ? {} : { doNotDisrupt: written });
    expect(heldUntil(pod, forever)).toEqual({ ok: true, value: until });
  });

  test.each(["0s", "-5m", "soon", "", "30", "TRUE", "-99999999h", "99999999", "99999999d"])(
    "%o holds nothing, and says what to write",
    written => {
      const result = heldUntil(aPod("p", { doNotDisrupt: written }), forever);
      expect(result).toMatchObject({ ok: false, error: expect.stringContaining('write "true" or a duration') });
    },
  );

  test.each(["true", "2h", "99999999h"])("%s is borne no longer than the pool bears it", written => {
    expect(heldUntil(aPod("p", { doNotDisrupt: written }), 3_600_000)).toEqual({ ok: true, value: at("1h") });
  });

  test("a shorter wish than the pool's bound stands", () => {
    expect(heldUntil(aPod("p", { doNotDisrupt: "10m" }), 3_600_000)).toEqual({ ok: true, value: at("10m") });
  });

  test("the time of a pod that has not started has not begun", () => {
    const { startedAt: _, ...pod } = aPod("p", { doNotDisrupt: "10m" });
    expect(heldUntil(pod, 60_000)).toEqual({ ok: true, value: forever });
  });
});

test("a pool bounds it, if it says so and can be read", () => {
  expect(longestHold(undefined)).toBe(forever);
  expect(longestHold(aPool("p"))).toBe(forever);
  expect(longestHold(aPool("p", { spec: { disruption: { maxDoNotDisrupt: "4h" } } }))).toBe(4 * 3_600_000);
  expect(longestHold(aPool("p", { spec: { disruption: { maxDoNotDisrupt: "a while" } } }))).toBe(forever);
});
