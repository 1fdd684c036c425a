import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "./meta.ts";
import {
  instanceNameOf,
  moments,
  nodeLabelsOf,
  nodeNameOf,
  parseProviderId,
  parseSimulatedInstance,
  providerIdOf,
  type SimulatedInstance,
  simulatedInstanceManifest,
} from "./simulated-instance.ts";

const instance: SimulatedInstance = {
  name: "i-1",
  cluster: "blue",
  claimUid: "1",
  type: "s-4x-amd64-linux",
  zone: "test-zone-a",
  capacityType: "spot",
  nodeClass: "default",
  nodeName: "web-1-abcd",
  labels: { "kubernetes.io/os": "linux" },
  capacity: { cpu: "4" },
  allocatable: { cpu: "3900m" },
  launchedAt: Date.parse("2026-01-01T00:00:00.123Z"),
};
const kept = (more: Partial<SimulatedInstance> = {}) =>
  simulatedInstanceManifest({ ...instance, ...more }) as KubeObject & { data: Record<string, unknown> };

test("an instance reads as it was written, to the millisecond", () => {
  const whole = { ...instance, terminatingSince: 5, rebootingSince: 6, rebootToken: "t", rebootCount: 8, healedAt: 7 };
  for (const each of [instance, whole]) {
    expect(parseSimulatedInstance(kept(each))).toEqual({ ok: true, value: each });
  }
});

test("one without tags is still one: somebody else's", () => {
  const { metadata, ...rest } = kept();
  const parsed = parseSimulatedInstance({ ...rest, metadata: { ...metadata, labels: {} } });
  expect(parsed).toMatchObject({ ok: true });
  expect(parsed.ok && "cluster" in parsed.value).toBe(false);
});

describe("what somebody spoilt is refused, with the name and what is wrong", () => {
  test.each<[string, unknown, RegExp]>([
    ["type", undefined, /data.type is missing/],
    ["zone", "", /data.zone is missing/],
    ["capacityType", 4, /data.capacityType is missing/],
    ["labels", "{", /data.labels must be a JSON object/],
    ["labels", "[]", /data.labels must be a JSON object/],
    ["capacity", '{"cpu":4}', /data.capacity must be a JSON object of texts/],
    ["launchedAt", undefined, /data.launchedAt is missing/],
    ["launchedAt", "yesterday", /data.launchedAt: "yesterday" is not a time/],
    ["rebootToken", "", /data.rebootToken is missing/],
    ["rebootCount", "-1", /data.rebootCount must be a whole number/],
    ["rebootCount", "often", /data.rebootCount must be a whole number/],
    ["terminatingSince", "soon", /data.terminatingSince: "soon" is not a time/],
  ])("%s: %j", (key, value, message) => {
    const object = kept();
    const parsed = parseSimulatedInstance({ ...object, data: { ...object.data, [key]: value } });
    expect(parsed).toMatchObject({ ok: false, error: expect.stringMatching(message) });
    expect(!parsed.ok && parsed.error).toContain("fettle-simulated/i-1");
  });

  test("whatever it is, it is never thrown", () => {
    fc.assert(
      fc.property(fc.anything(), data => {
        expect(parseSimulatedInstance({ ...kept(), data }).ok).toBe(false);
      }),
    );
  });
});

describe("names", () => {
  test("the same claim has the same instance, and each providerID is read back", () => {
    expect(instanceNameOf("0f3a")).toBe("i-0f3a");
    const providerID = providerIdOf({ zone: "test-zone-a", name: "i-0f3a" });
    expect(providerID).toBe("simulated:///test-zone-a/i-0f3a");
    expect(parseProviderId(providerID)).toEqual({ ok: true, value: { zone: "test-zone-a", name: "i-0f3a" } });
  });

  test.each(["", "aws:///test-zone-a/i-1", "simulated:///i-1", "simulated:///a/b/c", "simulated:////i-1"])(
    "%j is no simulated instance's",
    text => {
      expect(parseProviderId(text)).toMatchObject({ ok: false, error: expect.stringContaining("simulated:///ZONE/") });
    },
  );

  test("a node is called after its claim, in a name that a host can have, and differs from its predecessor's", () => {
    const first = nodeNameOf({ name: "web-1", uid: "a" });
    expect(first).toMatch(/^web-1-[0-9a-z]{4}$/);
    expect(nodeNameOf({ name: "web-1", uid: "b" })).not.toBe(first);
    const long = nodeNameOf({ name: `${"x".repeat(57)}.tail`, uid: "a" });
    expect(long).toMatch(/^x{57}-[0-9a-z]{4}$/);
  });
});

test("the node is labelled with type, zone and capacity type, whatever else the instance says of them", () => {
  expect(nodeLabelsOf({ ...instance, labels: { "topology.kubernetes.io/zone": "elsewhere" } })).toEqual({
    "node.kubernetes.io/instance-type": "s-4x-amd64-linux",
    "topology.kubernetes.io/zone": "test-zone-a",
    "karpenter.sh/capacity-type": "spot",
  });
});

test("moments are set, taken away or left alone", () => {
  expect(moments({ terminatingSince: 0, rebootingSince: null, healedAt: undefined })).toEqual({
    terminatingSince: "1970-01-01T00:00:00.000000Z",
    rebootingSince: null,
  });
});
