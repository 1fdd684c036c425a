import { describe, expect, test } from "vitest";
import { aNode, at, t0 } from "../../../test/builders.ts";
import { aCheck } from "../../../test/check-builders.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import type { Instant } from "../../api/time.ts";
import { HealthCounts } from "../brake-counts.ts";
import { ConditionMemory } from "../sickness-history.ts";
import { evidenceOf, firstMatch, healthOf, sentenceOf } from "./node-health.ts";

type Turn = readonly [when: string, ready: "True" | "False" | "Unknown"];

/** A node that was Ready from t0 on, as somebody remembers it who has watched all turns. */
function watched(turns: readonly Turn[]) {
  const memory = new ConditionMemory();
  let node = aNode("n0", { ready: "True", since: t0 });
  memory.observe({ after: node }, t0);
  for (const [when, ready] of turns) {
    const before = node;
    node = aNode("n0", { ready, since: at(when) });
    memory.observe({ before, after: node }, at(when));
  }
  return { node, remembered: { sight: memory, health: new HealthCounts() } };
}

function dueAt(turns: readonly Turn[], spec: NodeHealthCheckSpec = {}, triedAt?: Instant) {
  const { node, remembered } = watched(turns);
  return healthOf(node, aCheck("web", { spec }), { remembered, triedAt }).dueAt;
}

describe("a node that is never Ready, False and Unknown in turn", () => {
  const turns: readonly Turn[] = [
    ["10m", "False"],
    ["14m", "Unknown"],
    ["18m", "False"],
  ];

  test("is unhealthy since the first of them", () => {
    expect(dueAt(turns.slice(0, 1))).toBe(at("15m"));
    expect(dueAt(turns.slice(0, 2))).toBe(at("15m"));
    expect(dueAt(turns)).toBe(at("15m"));
  });

  test("begins anew once it was Ready in between", () => {
    expect(dueAt([...turns.slice(0, 2), ["14m30s", "True"], ["14m31s", "False"]])).toBe(at("19m31s"));
  });

  test("is borne for the longest of their times, or for that of the present one alone", () => {
    const unhealthyConditions = [
      { type: "Ready", status: "False", duration: "1h" },
      { type: "Ready", status: "Unknown", duration: "5m" },
    ];
    expect(dueAt(turns.slice(0, 2), { unhealthyConditions })).toBe(at("19m"));
    expect(dueAt(turns, { unhealthyConditions })).toBe(at("70m"));
  });

  test("is counted by the statuses that the check names alone", () => {
    const unhealthyConditions = [{ type: "Ready", status: "Unknown", duration: "5m" }];
    expect(dueAt(turns.slice(0, 2), { unhealthyConditions })).toBe(at("19m"));
  });

  test("has its time anew when it turns after a remediation was made, once", () => {
    expect(dueAt(turns.slice(0, 2), {}, at("13m"))).toBe(at("19m"));
    expect(dueAt(turns, {}, at("13m"))).toBe(at("19m"));
    expect(dueAt(turns, {}, at("18m"))).toBe(at("15m"));
  });

  test("is believed by whoever has not seen it", () => {
    const { node } = watched(turns);
    expect(healthOf(node, aCheck("web"), {}).dueAt).toBe(at("23m"));
  });

  test("is told with both times, the present one as evidence that can be looked at again", () => {
    const { node, remembered } = watched(turns);
    const health = healthOf(node, aCheck("web"), { remembered });
    expect(evidenceOf(health, { node, now: at("1h") })).toMatchObject([
      { conditionStatus: "False", since: "2026-01-01T00:18:00Z", dueAt: "2026-01-01T00:15:00Z", clock: "Reporter" },
    ]);
    const match = firstMatch(health);
    expect(match && sentenceOf(match)).toBe(
      "Ready=False (Ready) since 2026-01-01T00:18:00Z, and by another status since 2026-01-01T00:10:00Z; it is borne for 5m0s, until 2026-01-01T00:15:00Z",
    );
  });
});
