import { describe, expect, test } from "vitest";
import { anAction, at, aWorld, t0 } from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import { hadItsReboots } from "./reboot-attempts.ts";

type Reboot = { readonly phase?: "Done" | "Failed"; readonly over: Instant; readonly isAsked?: boolean };

function reboot(attempt: number, { phase = "Done", over, isAsked = true }: Reboot): ActionView {
  const time = formatTime(over);
  const steps = isAsked ? [{ name: "reboot", startedAt: time, finishedAt: time }] : [];
  return anAction(attempt === 1 ? "repair-a-uid" : `repair-a-uid-${attempt}`, {
    phase,
    createdAt: over,
    spec: { action: "Repair", method: "Reboot" },
    status: { startedAt: time, finishedAt: time, steps },
  });
}

/** Of a node that fell sick after all of them, by a policy that lets so many fail. */
function had(actions: readonly ActionView[], { attempts = 1, wellUntil = at("30h"), dueAt = at("30h30m") } = {}) {
  return hadItsReboots("a-uid", { dueAt, wellUntil, attempts }, aWorld({ actions }));
}

describe("a node that each reboot heals for a while", () => {
  test("has had its reboots after two within a day", () => {
    expect(had([reboot(1, { over: at("20h") })])).toBeUndefined();
    expect(had([reboot(1, { over: at("20h") }), reboot(2, { over: at("28h") })])).toBe(
      "It was rebooted 2 times within a day, and is sick again.",
    );
  });

  test.each([
    ["a second more", at("6h29m59s"), false],
    ["a day", at("6h30m"), false],
    ["a second less", at("6h30m1s"), true],
  ])("before it was due, and not now: %s", (_, over, isEnough) => {
    const found = had([reboot(1, { over }), reboot(2, { over: at("28h") })]);
    expect(found !== undefined).toBe(isEnough);
  });

  test("may have more where its pool lets more fail", () => {
    const thrice = [20, 22, 24].map((hour, index) => reboot(index + 1, { over: t0 + hour * 3_600_000 }));
    expect(had(thrice.slice(0, 2), { attempts: 3 })).toBeUndefined();
    expect(had(thrice, { attempts: 3 })).toMatch(/^It was rebooted 3 times/);
  });

  test("is not counted one that the provider never took", () => {
    expect(had([reboot(1, { over: at("20h") }), reboot(2, { over: at("28h"), isAsked: false })])).toBeUndefined();
  });
});

test("what was done is known though older entries were deleted", () => {
  const later = [reboot(3, { over: at("29h"), phase: "Failed" }), reboot(12, { over: at("29h30m"), phase: "Failed" })];
  expect(had(later, { attempts: 2, wellUntil: at("28h") })).toBe("2 of 2 reboots did not heal it.");
});
