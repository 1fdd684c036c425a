import { describe, expect, test } from "vitest";
import { chance, durationMs, faultsStriking, isDrawn, type SimulatedFault, spreadMs } from "./simulated-chance.ts";

const many = Array.from({ length: 10_000 }, (_, index) => `i-${index}`);
const target = { type: "s-4x-amd64-linux", zone: "a", capacityType: "spot" };

describe("chance", () => {
  test("is the same for the same words and another for others", () => {
    expect(chance(1, "a", "boot")).toBe(chance(1, "a", "boot"));
    expect(new Set([chance(1, "a"), chance(2, "a"), chance(1, "b"), chance("1a")]).size).toBe(4);
  });

  test("is spread evenly between 0 and 1, also over names that differ in a digit", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const name of many) {
      const drawn = chance(name);
      expect(drawn > 0 && drawn < 1).toBe(true);
      const tenth = Math.floor(drawn * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe("how long something takes", () => {
  test("is the median each time, where no spread is given", () => {
    expect(spreadMs({ median: "30s" }, "a")).toBe(30_000);
    expect(spreadMs({ median: "30s", p99: "30s" }, "b")).toBe(30_000);
    expect(spreadMs({ median: "0s", p99: "1m" }, "c")).toBe(0);
  });

  test("has its median in the middle, and one of a hundred beyond its p99", () => {
    const drawn = many.map(name => spreadMs({ median: "30s", p99: "2m" }, name)).sort((a, b) => a - b);
    expect(Math.abs((drawn[5000] ?? 0) - 30_000)).toBeLessThan(1_000);
    const beyond = drawn.filter(ms => ms > 120_000).length;
    expect(beyond).toBeGreaterThan(60);
    expect(beyond).toBeLessThan(140);
    expect(drawn.every(ms => Number.isInteger(ms) && ms > 0)).toBe(true);
  });

  test("that cannot be counted any more is for ever", () => {
    expect(durationMs("90s")).toBe(90_000);
    expect(durationMs("99999999999h")).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("faults", () => {
  const struck = (fault: Partial<SimulatedFault>) =>
    faultsStriking({ faults: [{ kind: "NeverJoins", ...fault }] }, target, "i-1").length === 1;

  test.each<[string, Partial<SimulatedFault>, boolean]>([
    ["that say nothing", {}, true],
    ["of its zone", { zones: ["a", "b"] }, true],
    ["of another zone", { zones: ["b"] }, false],
    ["of its type", { instanceTypes: ["s-4x-amd64-linux"] }, true],
    ["of another type", { instanceTypes: ["c-1x-amd64-linux"] }, false],
    ["of its capacity type", { capacityTypes: ["spot"] }, true],
    ["of another capacity type", { capacityTypes: ["on-demand"] }, false],
    ["of all machines", { share: "100%" }, true],
    ["of none", { share: "0%" }, false],
  ])("%s: %s", (_, fault, expected) => {
    expect(struck(fault)).toBe(expected);
  });

  test("strike their share of the machines, each fault for itself", () => {
    const faults: SimulatedFault[] = [
      { kind: "Flaps", share: "30%" },
      { kind: "Flaps", share: "30%" },
    ];
    const counts = many.map(name => faultsStriking({ faults }, target, 7, name).length);
    const share = (wanted: number) => counts.filter(count => count === wanted).length / counts.length;
    expect(share(2)).toBeCloseTo(0.09, 1);
    expect(share(0)).toBeCloseTo(0.49, 1);
  });

  test("and shares draw the same each time", () => {
    expect(many.map(name => isDrawn("50%", name))).toEqual(many.map(name => isDrawn("50%", name)));
    expect(isDrawn(undefined, "a")).toBe(true);
  });
});
