import { describe, expect, test } from "vitest";
import { effectiveSimulatedNodeClass } from "../api/effective-simulated-node-class.ts";
import type { SimulatedInstance } from "../api/simulated-instance.ts";
import type { SimulatedNodeClassSpec } from "../api/simulated-node-class.ts";
import { minuteMs, secondMs } from "../api/time.ts";
import { ailmentsAt, lifeOf } from "./machines-life.ts";

const launchedAt = Date.parse("2026-01-01T00:00:00Z");
const never = Number.POSITIVE_INFINITY;
const machine = (more: Partial<SimulatedInstance> = {}): SimulatedInstance => ({
  name: "i-1",
  type: "t",
  zone: "a",
  capacityType: "spot",
  nodeClass: "default",
  nodeName: "n",
  labels: {},
  capacity: {},
  allocatable: {},
  launchedAt,
  ...more,
});
const lifeIn = (spec: SimulatedNodeClassSpec, more: Partial<SimulatedInstance> = {}, seed = 1) =>
  lifeOf(machine(more), effectiveSimulatedNodeClass(spec), seed);
/** Conditions as the node reports them, so long after the launch. */
function reportedAfter(spec: SimulatedNodeClassSpec, ms: number, more: Partial<SimulatedInstance> = {}) {
  const { illnesses } = lifeIn(spec, more);
  const { ailments, changesAt } = ailmentsAt(illnesses, machine(more), launchedAt + ms);
  return {
    said: ailments.map(({ type, status }) => `${type}=${status}`),
    changesAfter: changesAt - launchedAt,
    ailments,
  };
}

describe("a life without faults", () => {
  test("joins after the boot time, is ready after the join time, and never ends by itself", () => {
    expect(lifeIn({ boot: { median: "1m" }, join: { median: "5s" } })).toMatchObject({
      joinsAt: launchedAt + minuteMs,
      readyAt: launchedAt + minuteMs + 5 * secondMs,
      vanishesAt: never,
      endsAt: never,
      rebootedAt: never,
      illnesses: [],
    });
  });

  test("ends its stop time after somebody wants it to, and reboots in its time", () => {
    const at = launchedAt + minuteMs;
    expect(lifeIn({ stop: { median: "7s" } }, { terminatingSince: at }).endsAt).toBe(at + 7 * secondMs);
    expect(lifeIn({ reboot: { time: { median: "90s" } } }, { rebootingSince: at }).rebootedAt).toBe(at + 90 * secondMs);
  });

  test("is the same with the same seed and another with another", () => {
    const spread = { boot: { median: "30s", p99: "3m" }, join: { median: "10s", p99: "1m" } };
    expect(lifeIn(spread)).toEqual(lifeIn(spread));
    expect(lifeIn(spread, {}, 2).joinsAt).not.toBe(lifeIn(spread).joinsAt);
    expect(lifeIn(spread, { name: "i-2" }).joinsAt).not.toBe(lifeIn(spread).joinsAt);
  });
});

describe("a fault holds from its time on", () => {
  test.each<[string, string, boolean]>([
    ["before the machine would join", "29.999s", true],
    ["as it joins", "30s", true],
    ["after it has joined", "30.001s", false],
  ])("NeverJoins that begins %s", (_, after, strikes) => {
    const { joinsAt } = lifeIn({ faults: [{ kind: "NeverJoins", after }] });
    expect(joinsAt).toBe(strikes ? never : launchedAt + 30 * secondMs);
  });

  test.each<[string, string, boolean]>([
    ["as the machine would be ready", "40s", true],
    ["after it was", "40.001s", false],
  ])("NeverReady that begins %s", (_, after, strikes) => {
    expect(reportedAfter({ faults: [{ kind: "NeverReady", after }] }, 60 * minuteMs).said).toEqual(
      strikes ? ["Ready=False"] : [],
    );
  });

  test.each<[string, number, boolean]>([
    ["one that is ended before it", 59_999, false],
    ["one that is ended then", 60_000, true],
  ])("HangsOnDelete spares %s: %s", (_, ms, hangs) => {
    const faults = [{ kind: "HangsOnDelete" as const, after: "1m" }];
    expect(lifeIn({ faults }, { terminatingSince: launchedAt + ms }).endsAt).toBe(
      hangs ? never : launchedAt + ms + 5 * secondMs,
    );
  });

  test("Vanishes takes the earliest", () => {
    const faults = [
      { kind: "Vanishes" as const, after: "2h" },
      { kind: "Vanishes" as const, after: "1h" },
    ];
    expect(lifeIn({ faults }).vanishesAt).toBe(launchedAt + 60 * minuteMs);
  });
});

describe("a condition that flaps", () => {
  const ready: SimulatedNodeClassSpec = { faults: [{ kind: "Flaps", after: "1m", period: "30s" }] };

  test.each<[number, string[], number]>([
    [59_999, [], 60_000],
    [60_000, ["Ready=False"], 90_000],
    [89_999, ["Ready=False"], 90_000],
    [90_000, [], 120_000],
    [120_000, ["Ready=False"], 150_000],
  ])("%d ms after the launch", (ms, said, changesAfter) => {
    expect(reportedAfter(ready, ms)).toMatchObject({ said, changesAfter });
  });

  test("that is none of the kubelet's is said to be well in between", () => {
    const faults = [
      { kind: "Flaps" as const, period: "30s", conditionType: "KernelDeadlock", conditionStatus: "True" },
      { kind: "Flaps" as const, period: "30s", conditionType: "StorageReady" },
      { kind: "Flaps" as const, period: "30s", conditionType: "Odd", conditionStatus: "Unknown" },
    ];
    expect(reportedAfter({ faults }, 0).said).toEqual(["KernelDeadlock=True", "StorageReady=False", "Odd=Unknown"]);
    expect(reportedAfter({ faults }, 30_000).said).toEqual(["KernelDeadlock=False", "StorageReady=True"]);
  });

  test("that would flap faster than a second does not", () => {
    const faults = [{ kind: "Flaps" as const, period: "0s" }];
    expect(reportedAfter({ faults }, 0).changesAfter).toBe(1_000);
  });
});

test("a lie goes back to before the machine was there, from the moment it is told", () => {
  const faults = [{ kind: "Lies" as const, after: "10m", conditionType: "Ready" }];
  expect(reportedAfter({ faults }, 10 * minuteMs - 1)).toMatchObject({ said: [], changesAfter: 10 * minuteMs });
  const { ailments } = reportedAfter({ faults }, 10 * minuteMs);
  expect(ailments).toMatchObject([{ type: "Ready", status: "False", since: launchedAt - 24 * 60 * minuteMs }]);
});

test("what a reboot has healed stays healed; what begins after it does not", () => {
  const faults = [
    { kind: "NeverReady" as const },
    { kind: "Flaps" as const, conditionType: "KernelDeadlock", conditionStatus: "True" },
    { kind: "Lies" as const, conditionType: "StorageReady", after: "2h" },
  ];
  const healed = { healedAt: launchedAt + 60 * minuteMs };
  expect(reportedAfter({ faults }, 90 * minuteMs, healed)).toMatchObject({
    said: ["KernelDeadlock=False"],
    changesAfter: 120 * minuteMs,
  });
  expect(reportedAfter({ faults }, 120 * minuteMs, healed).said).toEqual([
    "KernelDeadlock=False",
    "StorageReady=False",
  ]);
});

test("a reboot heals its share", () => {
  const count = (heals: string) =>
    Array.from({ length: 1000 }, (_, index) => lifeIn({ reboot: { heals } }, { name: `i-${index}`, rebootingSince: 1 }))
      .map(({ isHealed }) => isHealed)
      .filter(Boolean).length;
  expect(count("100%")).toBe(1000);
  expect(count("0%")).toBe(0);
  expect(Math.abs(count("30%") - 300)).toBeLessThan(60);
});
