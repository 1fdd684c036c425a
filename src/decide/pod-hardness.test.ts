import { describe, expect, test } from "vitest";
import type { PodSpec } from "../api/pod.ts";
import type { PodNeeds } from "../snapshot/pod-needs.ts";
import { podHardness } from "./pod-hardness.ts";

const asking = (requests: Record<string, string>, rules: Partial<PodSpec> = {}): PodNeeds => ({
  spec: { containers: [{ name: "main", resources: { requests } }], ...rules },
});
const of = (needs: PodNeeds | undefined) => podHardness({ name: "p", ...(needs ? { needs } : {}) });

test.each<[string, PodNeeds | undefined, number]>([
  ["that asks for nothing", undefined, 0],
  ["by its CPUs", asking({ cpu: "1500m" }), 1.5],
  ["by its memory, 4 GiB like a CPU", asking({ memory: "6Gi" }), 1.5015],
  ["by both", asking({ cpu: "2", memory: "4Gi" }), 3.001],
])("a pod %s", (_what, needs, hardness) => {
  expect(of(needs)).toBeCloseTo(hardness, 6);
  // The second time it is known.
  expect(of(needs)).toBeCloseTo(hardness, 6);
});

describe("a small pod is harder to place than the largest", () => {
  const large = asking({ cpu: "128", memory: "1Ti" });
  const spread = (whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway"): Partial<PodSpec> => ({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable, labelSelector: {} }],
  });
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: {} };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] };

  test.each<[string, boolean, Partial<PodSpec>]>([
    ["with a spread that must hold", true, spread("DoNotSchedule")],
    ["with a spread that need not", false, spread("ScheduleAnyway")],
    ["that must be apart from others", true, { affinity: { podAntiAffinity: required } }],
    ["that must be with others", true, { affinity: { podAffinity: required } }],
    ["that had better be apart from others", false, { affinity: { podAntiAffinity: preferred } }],
  ])("%s: %s", (_what, isHarder, rules) => {
    expect(of(asking({ cpu: "100m" }, rules)) > of(large)).toBe(isHarder);
  });

  test("and of two with rules the larger is", () => {
    const rules = spread("DoNotSchedule");
    expect(of(asking({ cpu: "2" }, rules))).toBeGreaterThan(of(asking({ cpu: "1" }, rules)));
  });
});
