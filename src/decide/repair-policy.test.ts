import { describe, expect, test } from "vitest";
import { aClaim, aPool, aProvider } from "../../test/builders.ts";
import type { Repair } from "../api/repair.ts";
import { minuteMs } from "../api/time.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { policiesWithoutEffect, rulesFor, rulesOf, rulesWithoutPool, rulingOn } from "./repair-policy.ts";

const provider = {
  name: "test",
  repairStatements: [
    { conditionType: "Ready", conditionStatus: "False", toleration: 30 * minuteMs },
    { conditionType: "Ready", conditionStatus: "Unknown", toleration: 30 * minuteMs },
    { conditionType: "NetworkUnavailable", conditionStatus: "True", toleration: 20 * minuteMs },
  ],
};

const rules = (repair: Repair) => rulesOf(aPool("web", { spec: { repair } }), provider);

function ruling(repair: Repair, type: string, status: string, reason = "") {
  const found = rulingOn({ type, status, reason }, rules(repair));
  return found && { path: found.place.path ?? found.place.kind, minutes: minutesOf(found.toleration) };
}

function minutesOf(parsed: { ok: true; value: number } | { ok: false }): number | undefined {
  return parsed.ok ? parsed.value / minuteMs : undefined;
}

const seed: Repair = {
  defaultTolerationDuration: "25m",
  policies: [
    { conditionType: "Ready", toleration: "45m" },
    { conditionType: "DiskPressure", conditionStatus: "True", toleration: "0s" },
  ],
};

describe("whose toleration holds", () => {
  test.each([
    [
      "the policy of the type, for every status that the provider states",
      seed,
      "Ready",
      "False",
      "spec.repair.policies[0]",
      45,
    ],
    ["the same for Unknown", seed, "Ready", "Unknown", "spec.repair.policies[0]", 45],
    [
      "the pool's default where no policy speaks",
      seed,
      "NetworkUnavailable",
      "True",
      "spec.repair.defaultTolerationDuration",
      25,
    ],
    ["the provider's where the pool says nothing", {}, "NetworkUnavailable", "True", "Provider", 20],
    ["a policy's own status, without any statement", seed, "DiskPressure", "True", "spec.repair.policies[1]", 0],
  ] as const)("%s", (_what, repair, type, status, path, minutes) => {
    expect(ruling(repair, type, status)).toEqual({ path, minutes });
  });

  test.each([
    ["a status that is stated for another type", "Ready", "True"],
    ["a type of which nobody speaks", "KernelDeadlock", "True"],
    ["another status than the policy's own", "DiskPressure", "False"],
  ])("none for %s", (_what, type, status) => {
    expect(ruling(seed, type, status)).toBeUndefined();
  });

  test("a policy without status for a type without statement does nothing, and is named", () => {
    const repair: Repair = { policies: [{ conditionType: "KernelDeadlock", toleration: "5m" }] };
    expect(ruling(repair, "KernelDeadlock", "True")).toBeUndefined();
    expect(policiesWithoutEffect(rules(repair)).map(({ path }) => path)).toEqual(["spec.repair.policies[0]"]);
    expect(policiesWithoutEffect(rules(seed))).toEqual([]);
  });

  test("claims of no pool have the provider's word, and repair is on", () => {
    const found = rulingOn({ type: "Ready", status: "False", reason: "" }, rulesWithoutPool(provider));
    expect(found?.place).toEqual({ kind: "Provider", name: "test" });
    expect(found?.treatment).toMatchObject({ mode: "Enabled", termination: "Forceful", action: "Replace" });
  });
});

test("with --repair-unset=off nothing holds for claims of no pool, as for pools that say nothing", () => {
  expect(rulesWithoutPool(provider, "off").repair.mode).toBe("Disabled");
  const picture = new ClusterPicture(aProvider(), { repairUnset: "off" });
  expect(rulesFor(aClaim("a"), picture)?.repair.mode).toBe("Disabled");
  expect(rulesFor(aClaim("a"), ClusterPicture.rebuilt(picture))?.repair.mode).toBe("Disabled");
  expect(rulesFor(aClaim("a"), new ClusterPicture(aProvider()))?.repair.mode).toBe("Enabled");
});

describe("policies that narrow by reason", () => {
  const repair: Repair = {
    policies: [
      { conditionType: "Ready", conditionReasons: ["Nvidia*Error", "Exact"], toleration: "1m", priority: 50 },
      { conditionType: "Ready", conditionReasons: ["*"], toleration: "2m" },
      { conditionType: "NetworkUnavailable", conditionReasons: ["a*b*c"], toleration: "3m" },
    ],
  };

  test.each([
    ["NvidiaXID79Error", 1],
    ["NvidiaError", 1],
    ["NvidiaErrors", 2],
    ["Exact", 1],
    ["exact", 2],
    ["", 2],
  ])("reason %j is borne for %i minutes: the first that matches", (reason, minutes) => {
    expect(ruling(repair, "Ready", "False", reason)?.minutes).toBe(minutes);
  });

  test.each([
    ["abc", 3],
    ["a-b-b-c", 3],
    ["a-c", 20],
    ["ab", 20],
    ["xabc", 20],
  ])("reason %j falls back to the statement unless it matches: %i minutes", (reason, minutes) => {
    expect(ruling(repair, "NetworkUnavailable", "True", reason)?.minutes).toBe(minutes);
  });

  test("stars never match one character twice", () => {
    expect(
      ruling(
        { policies: [{ conditionType: "Ready", conditionReasons: ["ab*ba"], toleration: "1m" }] },
        "Ready",
        "False",
        "aba",
      )?.minutes,
    ).toBe(30);
  });
});

describe("a policy's treatment", () => {
  test("is its own, then the pool's", () => {
    const repair: Repair = {
      mode: "DryRun",
      termination: "Graceful",
      action: "Reboot",
      escalateAfter: "7m",
      attempts: 3,
      policies: [{ conditionType: "Ready", toleration: "1m", mode: "Enabled", attempts: 1, priority: 9 }],
    };
    const own = {
      mode: "Enabled",
      termination: "Graceful",
      action: "Reboot",
      escalateAfter: "7m",
      attempts: 1,
      priority: 9,
    };
    expect(rulingOn({ type: "Ready", status: "False", reason: "" }, rules(repair))?.treatment).toEqual(own);
    const pools = { ...own, mode: "DryRun", attempts: 3, priority: 0 };
    expect(rulingOn({ type: "NetworkUnavailable", status: "True", reason: "" }, rules(repair))?.treatment).toEqual(
      pools,
    );
  });

  test("flapping is added up over twice the toleration, or as the pool says", () => {
    const state = { type: "Ready", status: "False", reason: "" };
    expect(rulingOn(state, rules({}))?.flappingWindow).toEqual({ ok: true, value: 60 * minuteMs });
    expect(rulingOn(state, rules({ flappingWindow: "0s" }))?.flappingWindow).toEqual({ ok: true, value: 0 });
    expect(rulingOn(state, rules({ flappingWindow: "2h" }))?.flappingWindow).toEqual({
      ok: true,
      value: 120 * minuteMs,
    });
  });
});
