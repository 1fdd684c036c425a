import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aPool, aWorld, at, t0 } from "../../test/builders.ts";
import type { Instance, ProviderError } from "../snapshot/instance.ts";
import type { ClaimView } from "../snapshot/views.ts";
import { afterLaunch, stuckLaunch } from "./launch.ts";

const claim = aClaim("a", { stage: "new", conditions: [aCondition("Launched", "Unknown", { since: at("5s") })] });
const instance: Instance = {
  providerID: "test:///i-1",
  createdAt: t0,
  cluster: "test",
  claimUid: claim.uid,
  labels: { "topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "spot" },
  capacity: { cpu: "4" },
  allocatable: { cpu: "3900m" },
  imageID: "image-7",
  state: "running",
};

describe("the provider's instance", () => {
  test("becomes the claim's providerID, image, capacity and labels, and the claim is launched", () => {
    const { metadata, status } = afterLaunch(claim, instance);
    expect(metadata).toEqual({ labels: instance.labels });
    expect(status).toMatchObject({
      providerID: "test:///i-1",
      imageID: "image-7",
      capacity: { cpu: "4" },
      allocatable: { cpu: "3900m" },
    });
    expect(status.conditions?.[0]).toEqual({ type: "Launched", status: "True", reason: "Launched", message: "" });
    expect(status.conditions?.map(({ type }) => type)).toEqual(["Launched", "Registered", "Initialized", "Ready"]);
  });

  test("without an image says nothing of one", () => {
    const { imageID: _, ...bare } = instance;
    expect(afterLaunch(claim, bare).status).not.toHaveProperty("imageID");
  });

  test("is labelled by what somebody wrote, then by what the requirements leave, then by the provider's word", () => {
    const requirements = [
      { key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["on-demand"] },
      { key: "team", operator: "In" as const, values: ["a", "b"] },
      { key: "team", operator: "NotIn" as const, values: ["b"] },
      { key: "size", operator: "In" as const, values: ["s", "m"] },
      { key: "gpu", operator: "DoesNotExist" as const },
      { key: "generation", operator: "Gt" as const, values: ["3"] },
    ];
    const labels = { "topology.kubernetes.io/zone": "zone-b" };
    const { metadata } = afterLaunch(aClaim("a", { stage: "new", labels, spec: { requirements } }), instance);
    expect(metadata).toEqual({ labels: { "karpenter.sh/capacity-type": "on-demand", team: "a" } });
  });

  test("that adds no label changes no metadata", () => {
    expect(afterLaunch({ ...claim, labels: instance.labels }, instance)).not.toHaveProperty("metadata");
  });
});

describe("the provider's error", () => {
  test.each<[ProviderError["error"], string, string]>([
    ["InsufficientCapacity", "False", "InsufficientCapacity"],
    ["NodeClassNotReady", "False", "NodeClassNotReady"],
    ["QuotaExceeded", "False", "QuotaExceeded"],
    ["Throttled", "Unknown", "Throttled"],
    ["NotSupported", "Unknown", "NotSupported"],
    ["Invalid", "Unknown", "Invalid"],
    ["Unknown", "Unknown", "LaunchFailed"],
  ])("%s makes Launched %s, %s, in its own words", (error, status, reason) => {
    const { metadata, status: written } = afterLaunch(claim, { error, message: "because" });
    expect([metadata, Object.keys(written)]).toEqual([undefined, ["conditions"]]);
    expect(written.conditions?.[0]).toMatchObject({ type: "Launched", status, reason, message: "because" });
    expect(written.conditions?.at(-1)).toMatchObject({ type: "Ready", status });
  });

  test("is cut at 300 characters", () => {
    const { status } = afterLaunch(claim, { error: "Unknown", message: "x".repeat(301) });
    expect(status.conditions?.[0]?.message).toBe("x".repeat(300));
  });
});

describe("a pool's launch that needs a person", () => {
  const waiting = (name: string, reason: string, options: Parameters<typeof aClaim>[1] = {}) =>
    aClaim(name, {
      stage: "new",
      pool: "web",
      conditions: [aCondition("Launched", "Unknown", { reason })],
      ...options,
    });
  const stuckOf = (...claims: readonly ClaimView[]) => stuckLaunch(aPool("web"), aWorld({ claims }))?.name;

  test.each(["Invalid", "NotSupported"])("is one that ended with %s", reason => {
    expect(stuckOf(aClaim("a", { pool: "web" }), waiting("b", reason))).toBe("b");
  });

  test.each(["Throttled", "LaunchFailed", "LaunchBackoff", "AwaitingReconciliation"])("is not one with %s", reason => {
    expect(stuckOf(waiting("b", reason))).toBeUndefined();
  });

  test("is none that goes, and none of another pool", () => {
    const going = waiting("b", "Invalid", { deletingSince: t0 });
    expect(stuckOf(going, waiting("c", "Invalid", { pool: "db" }))).toBeUndefined();
  });
});
