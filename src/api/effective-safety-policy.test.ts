import { expect, test } from "vitest";
import { effectiveSafetyPolicy } from "./effective-safety-policy.ts";

const defaults = {
  dryRun: false,
  caps: {
    repair: { cluster: "10%", zone: "20%", perWindow: { nodes: "20%", duration: "1h" } },
    disruption: {},
    all: {},
  },
  correlatedFailure: {
    mode: "Enabled",
    within: "5m",
    cluster: { nodes: 5, share: "30%" },
    zone: { nodes: 3, share: "60%" },
    clearAfter: "5m",
  },
  settle: { quiet: "10s", max: "1m" },
};

test("without a SafetyPolicy its defaults hold", () => {
  expect(effectiveSafetyPolicy(undefined)).toEqual(defaults);
  expect(effectiveSafetyPolicy({})).toEqual(defaults);
});

test("a cap that is set leaves the others as they are", () => {
  const { caps } = effectiveSafetyPolicy({ caps: { repair: { cluster: 3 }, all: { perWindow: { nodes: "50%" } } } });
  expect(caps).toEqual({
    repair: { cluster: "3", zone: "20%", perWindow: { nodes: "20%", duration: "1h" } },
    disruption: {},
    all: { perWindow: { nodes: "50%", duration: "1h" } },
  });
});

test("a freeze holds everything unless it says otherwise", () => {
  expect(effectiveSafetyPolicy({ freeze: { reason: "migration" } }).freeze).toEqual({
    reason: "migration",
    scope: "Everything",
  });
});
